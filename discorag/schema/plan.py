"""The discourse plan: one paragraph, and the steps derived from it (Disco-RAG section 3, fig. 12).

The paragraph is the plan: it is what a model writes, what a person edits in Studio, and what is stored. A sentence
cites chunks as ``[2]`` and, where it is as exact as that, units of a chunk as ``[2.3]`` or ``[2.3-5]`` (one-based).
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Reference(BaseModel):
    """A citation inside a plan: chunk number and, if given, an inclusive range of its units; all one-based.

    Example:
        >>> from discorag.schema.plan import Reference
        >>> Reference(chunk=2, first=1, last=3)
        Reference(chunk=2, first=1, last=3)
    """

    model_config = ConfigDict(frozen=True)

    chunk: int = Field(ge=1)
    first: int | None = None
    last: int | None = None


class PlanStep(BaseModel):
    """One sentence of the plan and what it cites, in order.

    Example:
        >>> from discorag.schema.plan import PlanStep, Reference
        >>> PlanStep(text="Set the trial against the review.", references=(Reference(chunk=1),)).references[0].chunk
        1
    """

    model_config = ConfigDict(frozen=True)

    text: str
    references: tuple[Reference, ...] = ()


class Plan(BaseModel):
    """A plan as its paragraph; `discorag.text.citations.steps` reads its steps, so whoever edits it edits them.

    Example:
        >>> from discorag.text.citations import steps
        >>> from discorag.schema.plan import Plan
        >>> [step.references for step in steps(Plan(paragraph="State the finding of [1]. Set [2] against it."))]
        [(Reference(chunk=1, first=None, last=None),), (Reference(chunk=2, first=None, last=None),)]
    """

    model_config = ConfigDict(frozen=True)

    paragraph: str
