"""parse: an RST tree for every chunk of one document."""

from __future__ import annotations

import asyncio

from langgraph.runtime import Runtime

from discorag.discourse.parse.parser import PROMPTED
from discorag.ingest.survey import NOT_MADE, rekey
from discorag.schema.chunk import Chunk
from discorag.schema.ledger import StageRecord
from discorag.schema.rst_tree import RstTree
from nodes.answer.parse import tree_or_fallback
from nodes.context import IngestContext, ingest_context
from nodes.ingest.record import spent
from nodes.stage import Stage
from nodes.state import DocumentState, Json

AT_ONCE = 1
"""Chunks of a document that wait for a local parser at once: other documents come in between."""
FALLBACK = "+fallback"  # marks trees that the asked engine could not make: the next ingest tries again


async def parse_document(state: DocumentState, runtime: Runtime[IngestContext]) -> Json:
    """Parse the chunks; where the llm engine fails on one, the local engine's tree stands in, and it is counted."""
    context = ingest_context(runtime)
    backends = await context.open_backends()
    engine = context.tree_engine(backends)
    if engine == NOT_MADE:
        return spent(StageRecord(stage="parse", engine="off"))
    stage, piece = Stage("parse"), backends.workbench.pieces[state["key"]]
    parser, local = backends.parser(engine), backends.parser("local")
    turns = asyncio.Semaphore(len(piece.chunks) if engine in PROMPTED else AT_ONCE)

    async def parsed(chunk: Chunk) -> RstTree:
        async with turns:
            return await tree_or_fallback(chunk, parser, local, stage)

    trees = await asyncio.gather(*map(parsed, piece.chunks))
    piece.chunks = [c.model_copy(update={"tree": t}) for c, t in zip(piece.chunks, trees, strict=True)]
    if stage.failures:
        rekey(piece, {**piece.manifest.versions, "parser": parser.version + FALLBACK})
    return {"ledger": stage.pieces_done(len(piece.chunks), engine=engine, model=parser.version)}
