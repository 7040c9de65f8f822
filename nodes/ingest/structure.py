"""structure: sections, paragraphs and sentences of one document; stop here if it has too many."""

from __future__ import annotations

import asyncio

from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.ingest.segment.headings import build_hierarchy, check_length
from discorag.ingest.survey import DocumentOutcome, Status
from discorag.schema.errors import DocumentTooLargeError
from discorag.schema.ledger import StageRecord
from nodes.context import IngestContext, ingest_context
from nodes.ingest.record import Clock, settled, spent
from nodes.state import DocumentState


async def structure(state: DocumentState, runtime: Runtime[IngestContext]) -> Command[str]:
    """Build the document's hierarchy, or settle it as failed: every sentence costs time and memory, however short."""
    clock = Clock()
    backends = await ingest_context(runtime).open_backends()
    piece = backends.workbench.pieces[state["key"]]
    piece.hierarchy = await asyncio.to_thread(build_hierarchy, piece.document)
    uri = piece.manifest.uri
    try:
        check_length(uri, piece.hierarchy, backends.settings.reading.max_sentences)
    except DocumentTooLargeError as error:
        del backends.workbench.pieces[state["key"]]
        outcome = DocumentOutcome(uri=uri, status=Status.FAILED, note=str(error))
        return Command(goto=END, update=settled("structure", outcome, error=error, seconds=clock.seconds))
    return Command(goto="segment", update=spent(StageRecord(stage="structure", seconds=clock.seconds)))
