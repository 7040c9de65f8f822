"""The discourse plan: one paragraph, and the steps derived from it (Disco-RAG section 3, fig. 12).

The paragraph is the plan: it is what a model writes, what a person edits in Studio, and what is stored. A sentence
cites chunks as ``[2]`` and, where it is as exact as that, units of a chunk as ``[2.3]`` or ``[2.3-5]`` (one-based).
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Reference(BaseModel):
    """A citation inside a plan: chunk number and, if given, an inclusive range of its units; all one-based."""

    model_config = ConfigDict(frozen=True)

    chunk: int = Field(ge=1)
    first: int | None = None
    last: int | None = None


class PlanStep(BaseModel):
    """One sentence of the plan and what it cites, in order."""

    model_config = ConfigDict(frozen=True)

    text: str
    references: tuple[Reference, ...] = ()


class Plan(BaseModel):
    """A plan as its paragraph; `discorag.text.citations.steps` reads its steps, so whoever edits it edits them."""

    model_config = ConfigDict(frozen=True)

    paragraph: str
