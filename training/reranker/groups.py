"""Groups of pairs of one question: a sentence that answers it among others of its document."""

import random
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from discorag.schema.values import Span
from training.reranker.questions import Question

AROUND = 24
"""How many words of the previous and of the next sentence are read."""
WRONG = 3
"""How many sentences of a group do not answer."""
MOST = 2_000
"""The most groups of CUAD, whose 41 questions are asked about every contract."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Group:
    """A question and the sentences that are ranked together for it.

    Args:
        source: Name of the set.
        question: The question.
        texts: Sentences in their passages.
        right: Whether each sentence answers; all false if the passage does not answer.
    """

    source: str
    question: str
    texts: tuple[str, ...]
    right: tuple[bool, ...]


def in_passage(title: str, passage: str, sentences: Sequence[Span], at: int) -> str:
    """A sentence as the reranker reads it: ``title > heading: previous [sentence] next``."""
    before = sentences[at - 1].of(passage).split()[-AROUND:] if at else []
    behind = sentences[at + 1].of(passage).split()[:AROUND] if at + 1 < len(sentences) else []
    above = [f"{title}:"] if title else []
    return " ".join([*above, *before, f"[{sentences[at].of(passage).strip()}]", *behind])


def group_of(question: Question) -> Group | None:
    """The first sentence that answers, and the hardest that do not: neighbours, then those with the question's words.

    Returns:
        None if nothing would be learned: no sentence holds the answer, or every sentence does.
    """
    answering = [i for i, right in enumerate(question.right) if right][:1]
    wrong = [i for i, right in enumerate(question.right) if not right]
    if bool(answering) != bool(question.answers) or not wrong:
        return None
    asked = words(question.text)

    def hardness(i: int) -> tuple[bool, int]:
        is_neighbour = any(abs(i - at) == 1 for at in answering)
        return is_neighbour, len(asked & words(question.sentences[i].of(question.passage)))

    chosen = [*answering, *sorted(wrong, key=hardness, reverse=True)[:WRONG]]
    texts = (in_passage(question.title, question.passage, question.sentences, i) for i in chosen)
    return Group(question.source, question.text, tuple(texts), tuple(question.right[i] for i in chosen))


def words(text: str) -> set[str]:
    """The words of a text in lower case."""
    return set(_WORD.findall(text.lower()))


def training_groups(questions: Iterable[Question], apart: Collection[str], seed: int) -> Iterator[Group]:
    """The groups that are trained on, in random order: the first of them are a fair sample of all.

    Args:
        questions: The questions of all sets; those that are held out are left out.
        apart: Titles of pages that are only measured on.
        seed: Seed for the order.
    """
    names = {name.casefold() for name in apart}
    free = [q for q in questions if not q.held_out and q.title.partition(" > ")[0].casefold() not in names]
    return _at_most(random.Random(seed).sample(free, len(free)))


def _at_most(questions: Iterable[Question]) -> Iterator[Group]:
    counts = Counter[str]()
    for question in questions:
        if (question.source != "cuad" or counts["cuad"] < MOST) and (group := group_of(question)):
            counts[group.source] += 1
            yield group
