"""embed: a vector for every chunk of one document, and for every unit of each."""

from __future__ import annotations

from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.claims.units import with_unit_vectors
from discorag.ingest.survey import DocumentOutcome, Status
from discorag.types.errors import ModelError
from discorag.types.ledger import StageRecord
from nodes.context import IngestContext, ingest_context
from nodes.ingest.record import Clock, settled, spent
from nodes.state import DocumentState


async def embed(state: DocumentState, runtime: Runtime[IngestContext]) -> Command[str]:
    """Encode the chunks; when the encoder fails for good, the document is settled as failed and nothing is stored."""
    clock = Clock()
    deps = await ingest_context(runtime).deps()
    piece = deps.workbench.pieces[state["key"]]
    try:
        piece.vectors = await deps.encoder.encode_documents([c.text for c in piece.chunks])
        piece.chunks = await with_unit_vectors(piece.chunks, deps.encoder)
    except ModelError as error:
        deps.workbench.pieces.pop(state["key"])
        outcome = DocumentOutcome(uri=state["uri"], status=Status.FAILED, note=str(error))
        return Command(goto=END, update=settled("embed", outcome, error=error))
    record = StageRecord(stage="embed", model=deps.encoder.version, seconds=clock.seconds)
    return Command(goto="upsert", update=spent(record))
