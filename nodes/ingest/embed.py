"""embed: a vector for every chunk of one document, and for every unit of each."""

from __future__ import annotations

from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.ingest.segment.sentence_table import with_sentence_vectors
from discorag.ingest.survey import DocumentOutcome, Status
from discorag.schema.errors import ModelError
from discorag.schema.ledger import StageRecord
from nodes.context import IngestContext, ingest_context
from nodes.ingest.record import Clock, settled, spent
from nodes.state import DocumentState


async def embed(state: DocumentState, runtime: Runtime[IngestContext]) -> Command[str]:
    """Encode the chunks; when the encoder fails for good, the document is settled as failed and nothing is stored."""
    clock = Clock()
    backends = await ingest_context(runtime).open_backends()
    piece = backends.workbench.pieces[state["key"]]
    try:
        piece.vectors = await backends.encoder.encode_documents([c.text for c in piece.chunks])
        piece.chunks = await with_sentence_vectors(piece.chunks, backends.encoder)
    except ModelError as error:
        backends.workbench.pieces.pop(state["key"])
        outcome = DocumentOutcome(uri=state["uri"], status=Status.FAILED, note=str(error))
        return Command(goto=END, update=settled("embed", outcome, error=error))
    record = StageRecord(stage="embed", model=backends.encoder.version, seconds=clock.seconds)
    return Command(goto="upsert", update=spent(record))
