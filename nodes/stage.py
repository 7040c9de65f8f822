"""What every node of the answer graph does around its one core call: time it, stream it, record it."""

from __future__ import annotations

import time
from typing import Any

from langgraph.config import get_stream_writer

from discorag.types.case import Outcome
from discorag.types.errors import DiscoRagError
from discorag.types.ledger import Failure, StageRecord
from discorag.types.usage import Usage
from nodes.state import Json

PREVIEW = 200  # characters of a stage's text preview


class Stage:
    """One run of one stage; ``done`` makes its ledger record and streams the stage event."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.failures: list[Failure] = []
        self.usage = Usage()
        self.prompt_hash = ""
        self.counts: dict[str, int] = {}
        self._started = time.perf_counter()
        self.emit({"stage": name, "event": "start"})

    def emit(self, event: Json) -> None:
        """Send an event to the caller's ``custom`` stream."""
        get_stream_writer()(event)

    def failed(self, error: DiscoRagError, *, fallback: str) -> None:
        """Count an error, with what is used instead; tokens that were paid are kept."""
        self.failures.append(Failure.of(self.name, error, fallback=fallback))
        usage = getattr(error, "usage", None)
        if isinstance(usage, Usage):
            self.usage = self.usage + usage
        self.emit({"stage": self.name, "event": "failure", **self.failures[-1].model_dump()})

    def done(
        self, *, engine: str, model: str = "", outcome: Outcome[Any] | None = None, preview: str = ""
    ) -> list[Json]:
        """The ledger update of this stage."""
        self.failures += outcome.failures if outcome else ()
        record = self.record(engine=engine, model=model, outcome=outcome)
        self.emit({"stage": self.name, "event": "end", "preview": preview[:PREVIEW], "seconds": record.seconds})
        return [record.model_dump(mode="json")]

    def record(self, *, engine: str, model: str = "", outcome: Outcome[Any] | None = None) -> StageRecord:
        """The stage's line of the ledger as it is now."""
        return StageRecord(
            stage=self.name,
            engine=engine,
            model=model,
            prompt_hash=outcome.prompt_hash if outcome else self.prompt_hash,
            seconds=time.perf_counter() - self._started,
            usage=self.usage + (outcome.usage if outcome else Usage()),
            failures=tuple(self.failures),
            counts=self.counts,
        )
