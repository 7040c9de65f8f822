"""segment: cut one document into chunks that fit the encoder."""

from __future__ import annotations

import asyncio

from langgraph.runtime import Runtime

from discorag.ingest.segment.chunks import cut_chunks
from discorag.schema.ledger import StageRecord
from nodes.context import IngestContext, ingest_context
from nodes.ingest.record import Clock, spent
from nodes.state import DocumentState, Json


async def segment(state: DocumentState, runtime: Runtime[IngestContext]) -> Json:
    """Cut the chunks."""
    clock, context = Clock(), ingest_context(runtime)
    backends, scope = await context.open_backends(), await context.scope()
    piece = backends.workbench.pieces[state["key"]]
    assert piece.hierarchy is not None
    piece.chunks = await asyncio.to_thread(
        cut_chunks,
        piece.document,
        piece.hierarchy,
        scope=scope,
        fingerprint=piece.manifest.fingerprint,
        counter=backends.encoder.tokens,
        chunk_tokens=backends.settings.reading.chunk_tokens,
    )
    return spent(StageRecord(stage="segment", seconds=clock.seconds))
