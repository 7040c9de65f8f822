"""The ledger: what every stage of a run cost, and what went wrong in it."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, Field

from discorag.schema.errors import DiscoRagError, ModelError
from discorag.schema.usage import Usage


class Failure(BaseModel):
    """One thing that went wrong, counted and shown; never an empty success.

    ``fallback`` says what was used instead; empty means that nothing was.

    Example:
        >>> from discorag.schema.errors import RateLimitedError
        >>> from discorag.schema.ledger import Failure
        >>> Failure.of("plan", RateLimitedError("429", hint="Wait."), fallback="the rules' plan")
        Failure(stage='plan', kind='RateLimitedError', message='429 Wait.', fallback="the rules' plan")
    """

    model_config = ConfigDict(frozen=True)

    stage: str
    kind: str
    message: str
    fallback: str = ""

    @classmethod
    def of(cls, stage: str, error: DiscoRagError, *, fallback: str = "") -> Failure:
        """The record of ``error`` in ``stage``."""
        return cls(stage=stage, kind=error.kind, message=str(error), fallback=fallback)


class StageRecord(BaseModel):
    """One line of the ledger.

    ``seconds`` is wall time; ``engine`` is ``local``, ``llm`` or ``off``, or ``llm+local`` where the local engine stood
    in for some pieces; ``counts`` has what else was counted, by its name: trees that were built, say; ``decisions`` say
    where the run went from here and why.

    Example:
        >>> from discorag.schema.ledger import StageRecord
        >>> record = StageRecord(stage="parse", model="rules", seconds=0.2, counts={"trees": 3})
        >>> f"{record.stage} by {record.model}: {record.counts}"
        "parse by rules: {'trees': 3}"
    """

    model_config = ConfigDict(frozen=True)

    stage: str
    engine: str = "local"
    model: str = ""
    prompt_hash: str = ""
    seconds: float = Field(default=0.0, ge=0)
    usage: Usage = Usage()
    failures: tuple[Failure, ...] = ()
    counts: dict[str, int] = {}
    decisions: tuple[str, ...] = ()


class Ledger(BaseModel):
    """What a whole run cost, stage by stage, in the order in which the stages ended.

    Example:
        >>> from discorag.schema.ledger import Ledger, StageRecord
        >>> ledger = Ledger.merged([StageRecord(stage="parse", seconds=0.25), StageRecord(stage="parse", seconds=0.5)])
        >>> [(record.stage, record.seconds) for record in ledger.stages]
        [('parse', 0.75)]
    """

    model_config = ConfigDict(frozen=True)

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
        """What an answer says of its failures: which stage, why, and what was used instead."""
        return tuple(dict.fromkeys(_note(s, f) for s in self.stages for f in s.failures))

    @classmethod
    def merged(cls, records: Iterable[StageRecord]) -> Ledger:
        """Sum the records of each stage and engine into one line (an ingest has one per document)."""
        lines: dict[tuple[str, str], StageRecord] = {}
        for r in records:
            old = lines.get((r.stage, r.engine))
            lines[r.stage, r.engine] = r if old is None else _add(old, r)
        return cls(stages=tuple(lines.values()))


_MADE = {"parse": "trees", "relate": "graph", "plan": "plan", "generate": "answer", "prepare": "question"}
_OF_MODELS = {kind.__name__ for kind in (ModelError, *ModelError.__subclasses__())}
_WHY = 300  # characters of a reason


def _note(record: StageRecord, failure: Failure) -> str:
    made = _MADE.get(failure.stage)
    what = f"the {made}" if made else f"'{failure.stage}'"
    missed = made and not record.engine.startswith("llm") and failure.kind in _OF_MODELS
    lead = f"The language model did not make {what}" if missed else f"In {what}"
    why = failure.message if len(failure.message) <= _WHY else failure.message[:_WHY] + "…"
    return f"{lead}: {why} Used instead: {failure.fallback or 'nothing'}."


def _add(a: StageRecord, b: StageRecord) -> StageRecord:
    update: dict[str, object] = {"seconds": a.seconds + b.seconds, "usage": a.usage + b.usage}
    names = dict.fromkeys([*a.counts, *b.counts])
    update["counts"] = {name: a.counts.get(name, 0) + b.counts.get(name, 0) for name in names}
    update["failures"] = a.failures + b.failures
    update["decisions"] = a.decisions + b.decisions
    return a.model_copy(update=update)
