"""segment: cut one document into chunks that fit the encoder."""

from __future__ import annotations

import asyncio

from langgraph.runtime import Runtime

from discorag.text.chunks import cut_chunks
from discorag.types.ledger import StageRecord
from nodes.context import IngestContext, ingest_context
from nodes.ingest.record import Clock, spent
from nodes.state import DocumentState, Json


async def segment(state: DocumentState, runtime: Runtime[IngestContext]) -> Json:
    """Cut the chunks."""
    clock, context = Clock(), ingest_context(runtime)
    deps, scope = await context.deps(), await context.scope()
    piece = deps.workbench.pieces[state["key"]]
    assert piece.hierarchy is not None
    piece.chunks = await asyncio.to_thread(
        cut_chunks,
        piece.document,
        piece.hierarchy,
        scope=scope,
        fingerprint=piece.manifest.fingerprint,
        counter=deps.encoder.tokens,
        chunk_tokens=deps.settings.reading.chunk_tokens,
    )
    return spent(StageRecord(stage="segment", seconds=clock.seconds))
