"""embed: a vector for every chunk of one document, and for every unit of each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.claims.units import unit_texts
from discorag.ingest.survey import DocumentOutcome, Status
from discorag.models.memo import packed
from discorag.models.protocol import Encoder
from discorag.types.chunk import Chunk
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
        piece.chunks = await _with_units(piece.chunks, deps.encoder)
    except ModelError as error:
        deps.workbench.pieces.pop(state["key"])
        outcome = DocumentOutcome(uri=state["uri"], status=Status.FAILED, note=str(error))
        return Command(goto=END, update=settled("embed", outcome, error=error))
    record = StageRecord(stage="embed", model=deps.encoder.version, seconds=clock.seconds)
    return Command(goto="upsert", update=spent(record))


async def _with_units(chunks: Sequence[Chunk], encoder: Encoder) -> list[Chunk]:
    texts = [unit_texts([c], encoder) for c in chunks]
    vectors = await encoder.encode_documents([text for of_chunk in texts for text in of_chunk])
    ends = accumulate(map(len, texts))
    own = [packed(t, vectors[end - len(t) : end]) for t, end in zip(texts, ends, strict=True)]
    return [c.model_copy(update={"unit_vectors": u}) for c, u in zip(chunks, own, strict=True)]
