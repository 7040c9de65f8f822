"""upsert: store one document whole; its manifest is written last."""

from __future__ import annotations

import asyncio

from langgraph.runtime import Runtime

from discorag.ingest import DocumentOutcome, Status
from nodes.context import IngestContext, ingest_context
from nodes.record import Clock, settled
from nodes.state import DocumentState, Json


async def upsert(state: DocumentState, runtime: Runtime[IngestContext]) -> Json:
    """Store the document and clear the workbench of it."""
    clock, context = Clock(), ingest_context(runtime)
    deps, scope = await context.deps(), await context.scope()
    piece = deps.workbench.pieces.pop(state["uri"])
    assert piece.vectors is not None
    manifest = piece.manifest.model_copy(update={"chunks": len(piece.chunks)})
    await asyncio.to_thread(deps.store.put, scope, piece.document, manifest, piece.chunks, piece.vectors)
    status = Status.REPLACED if piece.replaces else Status.ADDED
    outcome = DocumentOutcome(uri=state["uri"], status=status, chunks=len(piece.chunks))
    return settled("upsert", outcome, seconds=clock.seconds)
