"""parse: an RST tree for every chunk of one document."""

from __future__ import annotations

import asyncio

from langgraph.runtime import Runtime

from discorag.ingest.survey import NOT_MADE, rekey
from discorag.types.ledger import StageRecord
from nodes.answer.parse import tree_or_fallback
from nodes.context import IngestContext, ingest_context
from nodes.ingest.record import spent
from nodes.stage import Stage
from nodes.state import DocumentState, Json

FALLBACK = "+fallback"  # marks trees that the asked engine could not make: the next ingest tries again


async def parse_document(state: DocumentState, runtime: Runtime[IngestContext]) -> Json:
    """Parse the chunks; where the llm engine fails on one, the local engine's tree stands in, and it is counted."""
    context = ingest_context(runtime)
    deps = await context.deps()
    engine = context.tree_engine(deps)
    if engine == NOT_MADE:
        return spent(StageRecord(stage="parse", engine="off"))
    stage, piece = Stage("parse"), deps.workbench.pieces[state["key"]]
    parser, local = deps.parser(engine), deps.parser("local")
    trees = await asyncio.gather(*(tree_or_fallback(c, parser, local, stage) for c in piece.chunks))
    piece.chunks = [c.model_copy(update={"tree": t}) for c, t in zip(piece.chunks, trees, strict=True)]
    if stage.failures:
        rekey(piece, {**piece.manifest.versions, "parser": parser.version + FALLBACK})
    return {"ledger": stage.done(engine=engine, model=parser.version)}
