"""parse: an RST tree for every chunk of one document."""

from __future__ import annotations

import asyncio

from langgraph.runtime import Runtime

from discorag.ingest.survey import rekey
from discorag.types.ledger import StageRecord
from nodes.context import IngestContext, ingest_context
from nodes.parse import tree_or_fallback
from nodes.record import spent
from nodes.stage import Stage
from nodes.state import DocumentState, Json

FALLBACK = "+fallback"  # marks trees that the asked engine could not make: the next ingest tries again


async def parse_document(state: DocumentState, runtime: Runtime[IngestContext]) -> Json:
    """Parse the chunks; where the llm engine fails on one, the local engine's tree stands in, and it is counted."""
    context = ingest_context(runtime)
    if context.parser == "none":
        return spent(StageRecord(stage="parse", engine="off"))
    stage, deps = Stage("parse"), await context.deps()
    piece = deps.workbench.pieces[state["key"]]
    parser, local = deps.parser(context.parser), deps.parser("local")
    trees = await asyncio.gather(*(tree_or_fallback(c, parser, local, stage) for c in piece.chunks))
    piece.chunks = [c.model_copy(update={"tree": t}) for c, t in zip(piece.chunks, trees, strict=True)]
    if stage.failures:
        rekey(piece, {**piece.manifest.versions, "parser": parser.version + FALLBACK})
    return {"ledger": stage.done(engine=context.parser, model=parser.version)}
