"""upsert: store one document whole; its manifest is written last."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from langgraph.runtime import Runtime

from discorag.ingest.loaders import reading_note
from discorag.ingest.survey import DocumentOutcome, Status
from discorag.models.languages import language_warning
from discorag.schema.errors import StoreError, StoreFullError
from nodes.context import IngestContext, ingest_context
from nodes.ingest.record import Clock, settled
from nodes.state import DocumentState, Json


async def upsert(state: DocumentState, runtime: Runtime[IngestContext]) -> Json:
    """Store the document and clear the workbench of it."""
    clock, context = Clock(), ingest_context(runtime)
    backends, scope = await context.open_backends(), await context.scope()
    piece = backends.workbench.pieces.pop(state["key"])
    assert piece.vectors is not None
    written = datetime.now(UTC).replace(microsecond=0)
    manifest = piece.manifest.model_copy(update={"chunks": len(piece.chunks), "written": written})
    try:
        await asyncio.to_thread(backends.store.put, scope, piece.document, manifest, piece.chunks, piece.vectors)
    except StoreFullError:  # no other document could be stored either
        raise
    except (StoreError, OSError) as error:
        cause = StoreError(
            f"{piece.document.title} could not be stored: {error}.",
            hint="Check the store; run it again.",
        )
        outcome = DocumentOutcome(uri=state["uri"], status=Status.FAILED, note=str(cause))
        return settled("upsert", outcome, error=cause, seconds=clock.seconds)
    status = Status.REPLACED if piece.replaces else Status.ADDED
    warning = await asyncio.to_thread(language_warning, piece.document.text, [backends.encoder.version])
    note = " ".join(filter(None, (reading_note(piece.document), warning)))
    outcome = DocumentOutcome(uri=state["uri"], status=status, chunks=len(piece.chunks), note=note)
    return {**settled("upsert", outcome, seconds=clock.seconds), "doc_id": manifest.doc_id}
