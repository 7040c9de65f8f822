"""State updates of the ingest nodes: ledger records and settled documents, each streamed as it happens."""

from __future__ import annotations

from time import perf_counter

from langgraph.config import get_stream_writer

from discorag.ingest.survey import DocumentOutcome
from discorag.schema.errors import DiscoRagError
from discorag.schema.ledger import Failure, StageRecord
from nodes.state import Json


def settled(stage: str, outcome: DocumentOutcome, *, error: DiscoRagError | None = None, seconds: float = 0.0) -> Json:
    """The update that ends a document, streamed as a ``document`` event."""
    get_stream_writer()({"event": "document", **outcome.model_dump(mode="json")})
    failures = (Failure.of(stage, error),) if error else ()
    record = StageRecord(stage=stage, seconds=seconds, failures=failures)
    return {"outcomes": [outcome.model_dump(mode="json")], "ledger": [record.model_dump(mode="json")]}


class Clock:
    """Seconds since it was started."""

    def __init__(self) -> None:
        self._start = perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return perf_counter() - self._start


def spent(record: StageRecord) -> Json:
    """The update that adds one ledger record."""
    return {"ledger": [record.model_dump(mode="json")]}
