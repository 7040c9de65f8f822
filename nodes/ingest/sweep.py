"""sweep: documents that were read from this folder once and are gone from it now leave the store.

Then the store is made fast to search again, if much was written.
"""

from __future__ import annotations

import asyncio

from langgraph.config import get_stream_writer
from langgraph.runtime import Runtime

from discorag.ingest.bucket import below, vanished_at
from discorag.ingest.survey import DocumentOutcome, Status
from discorag.schema.errors import StoreError
from discorag.schema.ledger import Failure, StageRecord
from discorag.store.store import Store
from nodes.context import IngestContext, ingest_context
from nodes.ingest.record import Clock, spent
from nodes.state import IngestState, Json


async def sweep(state: IngestState, runtime: Runtime[IngestContext]) -> Json:
    """Delete what vanished; a file that could not be read this time is still there and keeps what is stored."""
    context = ingest_context(runtime)
    backends, scope = await context.open_backends(), await context.scope()
    path, met = state["path"], [DocumentOutcome(**o) for o in state.get("outcomes", [])]
    stored = await asyncio.to_thread(backends.store.under, scope, below(path))
    gone = await asyncio.to_thread(vanished_at, path, stored, met, set(state.get("files", [])))
    outcomes: list[Json] = []
    for manifest in gone:
        await asyncio.to_thread(backends.store.delete, scope, manifest.doc_id)
        outcomes.append(DocumentOutcome(uri=manifest.uri, status=Status.DELETED).model_dump(mode="json"))
        get_stream_writer()({"event": "document", **outcomes[-1]})
    return {"outcomes": outcomes, **(await _optimised(backends.store) if context.index else {})}


async def _optimised(store: Store) -> Json:
    """The store indexed; where that fails, searches are slower and right, and it is counted."""
    clock, failures = Clock(), ()
    try:
        await asyncio.to_thread(store.optimise)
    except StoreError as error:
        failures = (Failure.of("optimise", error, fallback="exact search"),)
    return spent(StageRecord(stage="optimise", seconds=clock.seconds, failures=failures))
