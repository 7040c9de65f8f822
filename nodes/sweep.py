"""sweep: documents that were read from this folder once and are gone from it now leave the store."""

from __future__ import annotations

import asyncio
from pathlib import Path

from langgraph.config import get_stream_writer
from langgraph.runtime import Runtime

from discorag.ingest import DocumentOutcome, Status, vanished
from nodes.context import IngestContext, ingest_context
from nodes.state import IngestState, Json


async def sweep(state: IngestState, runtime: Runtime[IngestContext]) -> Json:
    """Delete what vanished; a file that could not be read this time is still there and keeps what is stored."""
    context = ingest_context(runtime)
    deps, scope = await context.deps(), await context.scope()
    stored = await asyncio.to_thread(deps.store.manifests, scope)
    skipped = {o["uri"] for o in state.get("outcomes", []) if o["status"] == Status.SKIPPED}
    gone = await asyncio.to_thread(vanished, stored, Path(state["path"]), set(state.get("files", [])), skipped)
    outcomes: list[Json] = []
    for manifest in gone:
        await asyncio.to_thread(deps.store.delete, scope, manifest.doc_id)
        outcomes.append(DocumentOutcome(uri=manifest.uri, status=Status.DELETED).model_dump(mode="json"))
        get_stream_writer()({"event": "document", **outcomes[-1]})
    return {"outcomes": outcomes}
