"""Free questions over passages with the sentences that answer them, and those that no sentence answers."""

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from discorag.schema.values import Span
from discorag.text.sentences import sentence_spans

LICENCES = {
    "squad2": "CC BY-SA 4.0",
    "squad2b": "CC BY-SA 4.0",
    "squadshifts": "CC BY 4.0",
    "selqa": "Apache-2.0",
    "cuad": "CC BY 4.0",
    "doc2dial": "CC BY 3.0",
}
"""Sets in English whose questions and texts are both free, and whose labels their makers trust."""
DOMAINS = ("", "new_wiki", "dmv", "ssa", "va", "studentaid")
"""Reviews and comments of SQuADShifts belong to their writers."""


@dataclass(frozen=True)
class Question:
    """A question over a passage.

    Args:
        source: Name of the set.
        text: The question; before a follow-up stands the turn before it.
        title: Title of the document and the headings above the passage: ``title > heading``.
        passage: The text that answers, or that was searched for an answer.
        answers: Where the answers are in the passage; empty if it does not answer.
        held_out: Whether its document is only measured on.
    """

    source: str
    id: str
    text: str
    title: str
    passage: str
    answers: tuple[Span, ...]
    held_out: bool

    @cached_property
    def sentences(self) -> Sequence[Span]:
        """The sentences of the passage, in their order."""
        return [s for s in sentence_spans(self.passage) if s.of(self.passage).strip()]

    @cached_property
    def right(self) -> Sequence[bool]:
        """For each sentence, whether it holds half of an answer, or is itself half covered by one."""
        return [any(2 * _common(s, a) >= min(_length(s), _length(a)) for a in self.answers) for s in self.sentences]


def _common(one: Span, other: Span) -> int:
    return max(0, min(one.end, other.end) - max(one.start, other.start))


def _length(span: Span) -> int:
    return span.end - span.start


def read_questions(file: Path) -> Iterator[Question]:
    """The questions of a ``NAME.jsonl.gz`` whose texts are free."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row.get("domain", "") in DOMAINS:
                yield _question(file.name.partition(".")[0], row)


def _question(source: str, row: dict[str, Any]) -> Question:
    before = [turn.partition(":")[2] for turn in row.get("history", ())[:1]]
    return Question(
        source=source,
        id=row["id"],
        text=" ".join([*before, row["question"]]),
        title=row["title"].replace(" / ", " > "),
        passage=row["context"],
        answers=tuple(Span(start=a["start"], end=a["start"] + len(a["text"])) for a in row["answers"]),
        held_out=row["part"] == "test",
    )
