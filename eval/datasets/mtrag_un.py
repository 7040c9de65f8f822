"""MTRAG-UN (IBM): the last turns of conversations, answerable and not, over the passages of one collection."""

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from discorag.schema.values import digest
from eval.datasets.asqa import Passages
from eval.datasets.reading import normal, read_lines
from eval.sample import Benchmark, Sample

REFERS = re.compile(
    r"\b(?:it|its|they|them|their|he|she|his|her|this|that|these|those|there|one|ones|same|other|others|also|else|"
    r"more|yes|no|ok|okay|what about|how about)\b",
    re.IGNORECASE,
)
"""Words by which a turn refers to what was said before."""
WORDS = 4
"""A question of its own has at least so many words: a keyword is read in the conversation's light."""


class _Context(BaseModel):
    text: str = Field(pattern=r"\S")


class _Turn(BaseModel):
    speaker: Literal["user", "agent"]
    text: str


class _Task(BaseModel):
    task_id: str = Field(min_length=1)
    contexts: tuple[_Context, ...]
    input: tuple[_Turn, ...] = Field(min_length=1)
    answerability: tuple[Literal["ANSWERABLE", "UNANSWERABLE", "PARTIAL", "UNDERSPECIFIED"]]
    collection: str = Field(alias="Collection")


def load_mtrag_un(path: Path) -> list[Benchmark]:
    """One benchmark a collection: its passages, and the last turn of each task. For evaluation only.

    ``strata["kind"]`` is ``partial`` or ``underspecified``; of the other tasks ``single`` if the last turn can be
    understood alone, else ``conversation``.

    Raises:
        MissingPathError: No such file.
        DataError: A line is cut off or lacks a field.
    """
    passages: dict[str, Passages] = {}
    samples: dict[str, list[Sample]] = {}
    for place, task in read_lines(_Task, path):
        corpus = passages.setdefault(task.collection, Passages())
        for context in task.contexts:
            # A passage's number stands for different cuts of one document in different tasks.
            corpus.add(digest(normal(context.text))[:16], "", context.text, place)
        [answerability] = task.answerability
        samples.setdefault(task.collection, []).append(
            Sample(
                id=task.task_id,
                query=normal(task.input[-1].text),
                answerable=answerability != "UNANSWERABLE",
                strata={"kind": _kind(task, answerability)},
            )
        )
    return [
        Benchmark(name=f"mtrag-un-{name}", documents=passages[name].documents, samples=tuple(found))
        for name, found in samples.items()
    ]


def _kind(task: _Task, answerability: str) -> str:
    if answerability in ("PARTIAL", "UNDERSPECIFIED"):
        return answerability.lower()
    return "single" if len(task.input) == 1 or is_self_contained(task.input[-1].text) else "conversation"


def is_self_contained(question: str) -> bool:
    """Whether a turn can be understood alone, by a rule: long enough, and no word that refers to what was said."""
    return len(question.split()) >= WORDS and not REFERS.search(question)
