"""Answers as the lint reads them, and what can be wrong with a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict

from bench.answers.replies import Reply, Sentence

Fault: TypeAlias = Literal["fragments", "markup", "dangling", "connectives"]
FAULTS: tuple[Fault, ...] = get_args(Fault)
NEAR = 3
"""Characters between two stretches of text that follow each other: a space, the end of a paragraph."""


class Said(BaseModel):
    """A sentence of an answer.

    Args:
        text: As the reader sees it.
        follows: Whether its evidence begins where that of the sentence before it ends.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    follows: bool = False


class Answered(BaseModel):
    """A question and its answer."""

    model_config = ConfigDict(frozen=True)

    question: str
    sentences: tuple[Said, ...]


def answered(question: str, reply: Reply) -> Answered:
    """What a question was answered, as the lint reads it."""
    return Answered(question=question, sentences=tuple(_said(reply.sentences)))


def _said(sentences: tuple[Sentence, ...]) -> Iterator[Said]:
    before: Sentence | None = None
    for sentence in sentences:
        yield Said(text=sentence.text, follows=before is not None and _follows(before, sentence))
        before = sentence


def _follows(one: Sentence, other: Sentence) -> bool:
    return any(a.doc == b.doc and 0 <= b.span.start - a.span.end <= NEAR for a in one.evidence for b in other.evidence)
