"""Measures the check on sentences that a language model wrote, and on errors planted in them.

Usage: ``python -m bench.verify.replies [FILE] [--out FILE] [--list FILE]``. A line of FILE is a question with the
passages that were read, by their numbers from 1, and answers that cite them as ``[2]``, with the statements that were
written before them, if any. The list has every sentence that is to be checked and every planted error that is not, to
be read by hand.
"""

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import BaseModel
from rich.console import Console

from bench import report
from discorag.answering.statements import read_statements
from discorag.conflicts.values import MONTHS
from discorag.schema.answer import AnswerInputs, Support
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from discorag.text.citations import references, without_references
from discorag.text.sentences import sentence_spans
from discorag.text.terms import terms
from discorag.verification.checks import Check, Checker
from discorag.verification.draft import drafted_sentences
from discorag.verification.figures import find_figures, is_like
from discorag.verification.guards import drop_disclaimers
from discorag.verification.names import read_words
from eval.datasets.reading import read_lines

OUT = Path("bench/results/replies.json")
ANSWERS = Path("bench/verify/answers.jsonl")
EACH = 40
"""Most planted errors of a kind and an origin."""
Kind = Literal["value", "date", "name"]
Origin = Literal["another passage", "a cited passage too", "none"]
"""Where the wrong value stands: only in passages that the sentence does not cite, also in a cited one, or nowhere."""
_NAME = re.compile(r"(?<![\w.'’-])[A-Z][\w’]+(?: (?:of |de )?[A-Z][\w’]+)*")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Passage(BaseModel, frozen=True):
    """A passage and what it was labelled with."""

    text: str
    source: str
    title: str
    headings: tuple[str, ...] = ()
    columns: str = ""

    def chunk(self, number: int) -> Chunk:
        """The passage as a document of its own."""
        labels = self.model_dump(exclude={"source"})
        spans = sentence_spans(self.text)
        chunk = Chunk(
            id=f"c{number}",
            doc_id=f"d{number}",
            order=0,
            span=Span(start=0, end=len(self.text)),
            sentences=spans,
            **labels,
        )
        return chunk.model_copy(update={"source": self.source})


class WrittenAnswer(BaseModel, frozen=True):
    """An answer, and the statements written before it, in the form of a reply."""

    text: str
    statements: list[dict[str, Any]] | None = None


class Question(BaseModel, frozen=True):
    """One line of a file of answers."""

    id: str
    question: str
    passages: tuple[Passage, ...]
    answers: tuple[WrittenAnswer, ...]


@dataclass(frozen=True)
class WrittenSentence:
    """A sentence of a reply, without citations, with the passages that it cites and all that was read."""

    text: str
    cited: frozenset[int]
    inputs: AnswerInputs

    @property
    def others(self) -> list[str]:
        """The passages that it does not cite."""
        return [c.text for n, c in enumerate(self.inputs.chunks, start=1) if n not in self.cited]

    def check(self, text: str = "", cited: Collection[int] = ()) -> Check:
        """The check of the sentence, of a ``text`` in its place, or with other passages than it cites."""
        return Checker(self.inputs).check(text or self.text, cited or self.cited)


@dataclass(frozen=True)
class PlantedError:
    """A sentence in which ``new`` replaces ``old``."""

    sentence: WrittenSentence
    kind: Kind
    origin: Origin
    old: str
    new: str

    @property
    def text(self) -> str:
        """The wrong sentence."""
        return self.sentence.text.replace(self.old, self.new)


def load(path: Path) -> list[WrittenSentence]:
    """The sentences of all answers in a file.

    Raises as `read_lines`.
    """
    sentences: list[WrittenSentence] = []
    for _, question in read_lines(Question, path):
        chunks = tuple(passage.chunk(n) for n, passage in enumerate(question.passages, start=1))
        for answer in question.answers:
            written = json.dumps({"statements": answer.statements})
            graph = read_statements(written, chunks).graph if answer.statements else None
            inputs = AnswerInputs(query=question.question, chunks=chunks, statements=graph)
            for text in drafted_sentences(answer.text, len(chunks)):
                bare = without_references(text, chunks=len(chunks)).strip()
                sentences.append(WrittenSentence(bare, frozenset(r.chunk for r in references(text)), inputs))
    return sentences


def plant(sentences: Sequence[WrittenSentence], seed: int = 0) -> list[PlantedError]:
    """Errors in sentences that cite something, at most `EACH` of a kind and an origin."""
    draw, found = random.Random(seed), defaultdict[tuple[str, str], list[PlantedError]](list)
    for sentence in sentences:
        if sentence.cited:
            for planted in (*_wrong_figures(sentence, draw), *_wrong_names(sentence, sentences, draw)):
                if sentence.text.count(planted.old) == 1 and planted.new not in sentence.text:
                    found[planted.kind, planted.origin].append(planted)
    return [p for _, group in sorted(found.items()) for p in draw.sample(group, min(EACH, len(group)))]


def _wrong_figures(sentence: WrittenSentence, draw: random.Random) -> Iterator[PlantedError]:
    others = [f for text in sentence.others for f in find_figures(text)]
    for figure in find_figures(drop_disclaimers(sentence.text)):
        kind: Kind = "date" if figure.is_date or figure.value.year else "value"
        like = sorted({f.text for f in others if is_like(f, figure)})
        for origin in ("another passage", "a cited passage too"):
            if known := [text for text in like if _origin(sentence, text) == origin]:
                yield PlantedError(sentence, kind, origin, figure.text, draw.choice(known))
        if digits := [i for i, c in enumerate(figure.text) if c.isdigit()]:
            at = draw.choice(digits[-2:])
            digit = draw.choice([d for d in "123456789" if d != figure.text[at]])
            wrong = f"{figure.text[:at]}{digit}{figure.text[at + 1 :]}"
            if _origin(sentence, wrong) == "another passage":
                yield PlantedError(sentence, kind, "none", figure.text, wrong)


def _numbers(text: str) -> set[float]:
    return {float(m.replace(",", "")) for m in _NUMBER.findall(text)}


def _origin(sentence: WrittenSentence, wrong: str) -> Origin:
    """Whether a cited passage has all the numbers, or any of the words, of a wrong value."""
    for n in sentence.cited:
        text = sentence.inputs.chunks[n - 1].text if n <= len(sentence.inputs.chunks) else ""
        if _numbers(wrong) and _numbers(wrong) <= _numbers(text):
            return "a cited passage too"
        if not _numbers(wrong) and any(word.casefold() in text.casefold() for word in wrong.split()):
            return "a cited passage too"
    return "another passage"


def _wrong_names(
    sentence: WrittenSentence, sentences: Sequence[WrittenSentence], draw: random.Random
) -> Iterator[PlantedError]:
    claim = drop_disclaimers(sentence.text)
    mine = [name for name in _names(claim, sentence) if not claim.startswith(name)]
    near = [name for text in sentence.others for name in _names(text, sentence)]
    far = draw.choice(sentences)
    away = [] if far.inputs.query == sentence.inputs.query else [n for t in far.others for n in _names(t, far)]
    for old in mine:
        for origin in ("another passage", "a cited passage too"):
            if known := [name for name in near if _fits(name, old) and _origin(sentence, name) == origin]:
                yield PlantedError(sentence, "name", origin, old, draw.choice(known))
        if unknown := [n for n in away if _fits(n, old) and not any(n in c.text for c in sentence.inputs.chunks)]:
            yield PlantedError(sentence, "name", "none", old, draw.choice(unknown))


def _fits(name: str, old: str) -> bool:
    return len(name.split()) == len(old.split()) and not {*name.casefold().split()} & {*old.casefold().split()}


def _names(text: str, sentence: WrittenSentence) -> list[str]:
    """The names in a text: capitalised words that none of its passages writes in lower case."""
    common = frozenset[str]().union(*(read_words(chunk.text).common for chunk in sentence.inputs.chunks))

    def is_name(word: str) -> bool:
        is_time = word.capitalize() in (*MONTHS, *_DAYS)
        return len(word) > 2 and bool(terms(word)) and not is_time and word.casefold() not in common

    found = (m[0] for m in _NAME.finditer(text) if "’" not in m[0])
    return [name for name in found if all(map(is_name, (w for w in name.split() if w not in ("of", "de"))))]


def measure(sentences: Sequence[WrittenSentence]) -> tuple[dict[str, Any], list[str]]:
    """The figures, and the lines to be read by hand."""
    checks = [(sentence, sentence.check()) for sentence in sentences]
    marked = [(sentence, check.reason) for sentence, check in checks if check.support is Support.CHECK]
    errors = [(p, p.sentence.check(p.text).support is Support.CHECK) for p in plant(sentences)]
    groups: dict[str, Any] = {}
    for planted, is_marked in errors:
        group = groups.setdefault(f"{planted.kind}, {planted.origin}", {"n": 0, "check": 0})
        group["n"] += 1
        group["check"] += is_marked
    outside = [is_marked for planted, is_marked in errors if planted.origin != "a cited passage too"]
    figures = {
        "sentences": {"n": len(sentences), "check": len(marked)},
        "planted": {"n": len(outside), "check": sum(outside), "share": round(sum(outside) / max(1, len(outside)), 3)},
        "planted by kind and origin": groups,
        "wrong passage numbers": _count_misplaced(sentences),
    }
    listed = [f"check\t{problem}\t{[*sorted(s.cited)]}\t{s.text}" for s, problem in marked]
    listed += [
        f"missed\t{p.kind}, {p.origin}\t{p.old} -> {p.new}\t{p.text}" for p, is_marked in errors if not is_marked
    ]
    return figures, listed


def _count_misplaced(sentences: Sequence[WrittenSentence], seed: int = 0) -> dict[str, int]:
    """What the check says of sentences with statements if each cites another passage in the place of its own.

    ``repaired``: it found one of the passages that the sentence cited.
    """
    draw, counts = random.Random(seed), Counter(n=0, repaired=0, check=0)
    for sentence in sentences:
        numbers = {chunk.id: n for n, chunk in enumerate(sentence.inputs.chunks, start=1)}
        others = [n for n in numbers.values() if n not in sentence.cited]
        if sentence.cited and others and sentence.inputs.statements:
            check = sentence.check(cited={draw.choice(others)})
            is_repaired = check.repair is not None and numbers[check.repair.chunk_id] in sentence.cited
            counts.update(n=1, repaired=is_repaired, check=check.support is Support.CHECK)
    return dict(counts)


def main(
    file: Annotated[Path, typer.Argument(help="JSON lines of questions with passages and answers.")] = ANSWERS,
    out: Annotated[Path, typer.Option(help="JSON file.")] = OUT,
    listing: Annotated[Path | None, typer.Option("--list", help="File of what is to be read by hand.")] = None,
) -> None:
    """Measure, write, show."""
    figures, listed = measure(load(file))
    if listing:
        listing.write_text("\n".join(listed) + "\n", "utf-8")
    Console().print(report.table(report.write(out, figures).figures))


if __name__ == "__main__":
    typer.run(main)
