"""The ledger: what every stage of a run cost, and what went wrong in it."""

from collections.abc import Iterable
from typing import Self

from pydantic import BaseModel, Field

from discorag.schema.errors import DiscoRagError, ModelError, Usage

STAGES = {
    "prepare": "question",
    "retrieve": "",
    "rerank": "",
    "assess": "",
    "parse": "trees",
    "relate": "graph",
    "plan": "plan",
    "generate": "answer",
    "verify": "",
}
"""The stages of an answer in the order in which views list them, each with the notes' name for what a language model
makes in it. The graph (`graphs.answer`) decides which of them run.
"""
WITHOUT_MODEL = "the answer without a language model"
"""What notes call the answer that is used if a language model fails."""


class Failure(BaseModel, frozen=True):
    """Something that went wrong; it is counted and shown. ``fallback`` is what was used instead; empty: nothing."""

    stage: str
    kind: str
    message: str
    fallback: str = ""

    @classmethod
    def of(cls, stage: str, error: DiscoRagError, *, fallback: str = "") -> Self:
        """The record of ``error`` in ``stage``."""
        return cls(stage=stage, kind=error.kind, message=str(error), fallback=fallback)


class StageRecord(BaseModel, frozen=True):
    """One line of the ledger.

    ``seconds`` is wall time. ``engine`` is ``local``, ``llm`` or ``off``; ``llm+local`` if the local engine made some
    parts; ``stored`` if all trees were made at ingest, by the parser that ``model`` names. ``counts`` are further
    counts by name, such as trees built. ``decisions`` say where the run went next, and why.
    """

    stage: str
    engine: str = "local"
    model: str = ""
    prompt_hash: str = ""
    seconds: float = Field(default=0.0, ge=0)
    usage: Usage = Usage()
    failures: tuple[Failure, ...] = ()
    counts: dict[str, int] = {}
    decisions: tuple[str, ...] = ()


class Ledger(BaseModel, frozen=True):
    """What a whole run cost, stage by stage, in the order in which the stages ended."""

    stages: tuple[StageRecord, ...] = ()

    @property
    def usage(self) -> Usage:
        """Sum over all stages."""
        return sum((s.usage for s in self.stages), Usage())

    @property
    def decisions(self) -> tuple[str, ...]:
        """Every decision of every stage."""
        return tuple(d for s in self.stages for d in s.decisions)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Every failure of every stage."""
        return tuple(f for s in self.stages for f in s.failures)

    @property
    def notes(self) -> tuple[str, ...]:
        """The failures in sentences, for the answer: which stage, why, and what was used instead."""
        return tuple(dict.fromkeys(_note(s, f) for s in self.stages for f in s.failures))

    @classmethod
    def merged(cls, records: Iterable[StageRecord]) -> Self:
        """Sum the records of each stage and engine into one line (an ingest has one per document)."""
        lines: dict[tuple[str, str], StageRecord] = {}
        for r in records:
            old = lines.get((r.stage, r.engine))
            lines[r.stage, r.engine] = r if old is None else _add(old, r)
        return cls(stages=tuple(lines.values()))


_OF_MODELS = {kind.__name__ for kind in (ModelError, *ModelError.__subclasses__())}
_WHY = 300  # characters of a reason


def _note(record: StageRecord, failure: Failure) -> str:
    product = STAGES.get(failure.stage)
    what = f"the {product}" if product else f"'{failure.stage}'"
    is_replaced = failure.fallback == WITHOUT_MODEL or not record.engine.startswith("llm")
    missed = product and is_replaced and failure.kind in _OF_MODELS
    lead = f"The language model did not make {what}" if missed else f"In {what}"
    why = failure.message if len(failure.message) <= _WHY else failure.message[:_WHY] + "…"
    return f"{lead}: {why} Used instead: {failure.fallback or 'nothing'}."


def _add(a: StageRecord, b: StageRecord) -> StageRecord:
    return a.model_copy(
        update={
            "seconds": a.seconds + b.seconds,
            "usage": a.usage + b.usage,
            "counts": {n: a.counts.get(n, 0) + b.counts.get(n, 0) for n in (a.counts | b.counts)},
            "failures": a.failures + b.failures,
            "decisions": a.decisions + b.decisions,
        }
    )
