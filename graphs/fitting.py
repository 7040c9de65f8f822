# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
"""``disco-rag fit``: when to say that the documents do not answer, learned from questions about them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
from pydantic import BaseModel, Field, ValidationError
from rich.console import Console
from rich.progress import track

from discorag.answer.answerable import Refusal, evidence_features, kind_of, passages_of
from discorag.answer.fit import fit
from discorag.answer.words import Floats
from discorag.types.errors import InputError, MissingPathError
from graphs.answer import graph
from graphs.facade import DiscoRAG
from nodes.case import case_of
from nodes.context import AnswerContext
from nodes.state import AnswerState

err = Console(stderr=True)


class Labelled(BaseModel):
    """A question, and whether the documents answer it; questions of one ``group`` are never on both sides of a fold.

    Example:
        >>> from graphs.fitting import Labelled
        >>> Labelled(question="Who pulls the sea?", answerable=True).filters
        {}
    """

    question: str = Field(min_length=1)
    answerable: bool
    group: str = ""
    filters: dict[str, list[str]] = {}


def fitted(questions: Sequence[Labelled], *, corpus: str | None, tenant: str | None) -> Refusal:
    """The refusal fitted to a corpus and its encoder. Raises `InputError` for too few questions."""
    with DiscoRAG() as rag:
        rows = rag.run(lambda: features(rag, questions, corpus=corpus, tenant=tenant))
        kind = kind_of(rag.resources.encoder)
    groups = [q.group or q.question for q in questions]
    return fit(rows, np.array([q.answerable for q in questions]), groups, kind)


def read(path: Path) -> list[Labelled]:
    """The questions. Raises `MissingPathError`, or `InputError` for a line that is none."""
    if not path.is_file():
        raise MissingPathError(f"There is no file {path}.", hint="Name a file of JSON lines.")
    found: list[Labelled] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        try:
            found.append(Labelled.model_validate_json(line))
        except ValidationError as error:
            raise InputError(
                f"{path}:{number}: {error.errors()[0]['msg']}.",
                hint='Write {"question": "...", "answerable": true} on each line.',
            ) from error
    return found


async def features(rag: DiscoRAG, questions: Sequence[Labelled], *, corpus: str | None, tenant: str | None) -> Floats:
    """What the refusal sees of the evidence for each question, shape (questions, features)."""
    context = AnswerContext(resources=rag.resources, corpus=corpus, tenant=tenant, abstain="never")
    return np.stack([await _features(rag, q, context) for q in track(questions, "Asking", console=err)])


async def _features(rag: DiscoRAG, question: Labelled, context: AnswerContext) -> Floats:
    asked = {"query": question.question, "filters": question.filters}
    keys = ["query", "hits", "evidence", "trees"]
    state = await graph.ainvoke(asked, context=context, output_keys=keys)
    case = await case_of(cast("AnswerState", state), context)
    passages = passages_of(case)
    assert passages is not None
    return evidence_features(case, passages, await rag.resources.encoder.encode_query(question.question))
