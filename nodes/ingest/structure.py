"""structure: sections, paragraphs and sentences of one document."""

from __future__ import annotations

import asyncio

from langgraph.runtime import Runtime

from discorag.text.headings import build_hierarchy
from discorag.types.ledger import StageRecord
from nodes.context import IngestContext, ingest_context
from nodes.ingest.record import Clock, spent
from nodes.state import DocumentState, Json


async def structure(state: DocumentState, runtime: Runtime[IngestContext]) -> Json:
    """Build the document's hierarchy."""
    clock = Clock()
    deps = await ingest_context(runtime).deps()
    piece = deps.workbench.pieces[state["key"]]
    piece.hierarchy = await asyncio.to_thread(build_hierarchy, piece.document)
    return spent(StageRecord(stage="structure", seconds=clock.seconds))
