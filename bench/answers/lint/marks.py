"""Marks made by hand: which sentences of a hundred answers of the starting commit have which fault.

``marks.jsonl`` holds ids and numbers, no text. Questions of a set are named by their ids; those over documents of other
kinds (manual pages, changelogs, READMEs, pages of manuals) are our own, and stand there. Their documents lie in folders
``man``, ``logs`` and ``docs``; ``python -m bench.answers.lint.marks FOLDER`` asks them, in a checkout of that commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict, Field

from bench.answers.lint.said import Answered, Fault, answered
from bench.answers.replies import Reply, Sentence, open_product, package_version, read_replies
from bench.answers.sets import SETS
from discorag import DiscoRAG
from eval.options import data_folder
from eval.sample import DocSpan

MARKS = Path(__file__).with_name("marks.jsonl")
HOME = Path(".disco-rag/bench/answers")
START = "53b5527"
"""The version of the packages (`package_version`) whose answers were marked."""
OWN = "documents.jsonl"


class Mark(BaseModel):
    """The faults of one answer: zero-based places of the sentences that have them.

    Args:
        set: Of `bench.answers.sets.SETS`, or a folder of documents.
        question: The sample's id, or the question itself.
        document: What was asked, or what the answer begins with.
    """

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    set: str
    question: str
    document: str
    fragments: tuple[int, ...] = Field(default=())
    markup: tuple[int, ...] = ()
    dangling: tuple[int, ...] = ()
    connectives: tuple[int, ...] = ()

    def places(self, fault: Fault) -> frozenset[int]:
        """The sentences with this fault."""
        return frozenset(getattr(self, fault))


def marks() -> list[Mark]:
    """All marks."""
    return [Mark.model_validate_json(line) for line in MARKS.read_text("utf-8").split("\n") if line]


def marked(home: Path) -> list[tuple[Mark, Answered]]:
    """The marks with the answers that they are about, as far as these lie below ``home``."""
    folder = home / "answers" / START
    found: list[tuple[Mark, Answered]] = []
    for name in dict.fromkeys(mark.set for mark in marks()):
        replies = {r.id: r for r in read_replies(folder / (f"{name}-own.jsonl" if name in SETS else OWN))}
        asked = dict(_questions(name)) if name in SETS else {}
        ours = (mark for mark in marks() if mark.set == name and mark.question in replies)
        found += [(m, answered(asked.get(m.question, m.question), replies[m.question])) for m in ours]
    return found


def _questions(name: str) -> Iterator[tuple[str, str]]:
    for run in SETS[name](data_folder()):
        yield from ((sample.id, sample.query) for sample in run.benchmark.samples)


def ask(rag: DiscoRAG, mark: Mark) -> Reply:
    """Ask one of our own questions."""
    answer = rag.ask(mark.question, corpus=mark.set).answer
    sentences = tuple(
        Sentence(text=s.text, evidence=tuple(DocSpan(doc=e.doc_id, span=e.span) for e in s.evidence))
        for s in answer.sentences
    )
    return Reply(id=mark.question, sentences=sentences, refused=answer.abstained)


def main(
    folder: Annotated[Path, typer.Argument(help="Holds man, logs and docs.")],
    home: Annotated[Path, typer.Option(help="As of bench.answers.")] = HOME,
) -> None:
    """Ask our own questions over the documents in ``folder``."""
    ours = [mark for mark in marks() if mark.set not in SETS]
    path = home / "answers" / package_version() / OWN
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_product(home) as rag:
        for name in sorted({mark.set for mark in ours}):
            rag.ingest(folder / name, corpus=name)
        path.write_text("".join(ask(rag, mark).model_dump_json() + "\n" for mark in ours), "utf-8")


if __name__ == "__main__":
    typer.run(main)
