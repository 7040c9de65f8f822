"""rerank: the chunks that were found, in a reranker's order."""

from __future__ import annotations

from langgraph.runtime import Runtime

from discorag.schema.errors import ModelError
from nodes.context import AnswerContext, answer_context
from nodes.inputs import load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def rerank(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Order the chunks by what is evidence in them; where the reranker fails, they keep their order."""
    context, stage = answer_context(runtime), Stage("rerank")
    if not context.rerank:
        return {"ledger": stage.done(engine="off")}
    inputs, reranker = await load_inputs(state, context), (await context.open_backends()).reranker
    try:
        scores = await reranker.scores(inputs.query, [chunk.text for chunk in inputs.chunks])
    except ModelError as error:
        stage.failed(error, fallback="the order in which they were found")
        return {"ledger": stage.done(engine="local", model=reranker.version)}
    ranked = sorted(zip(scores, inputs.chunks, strict=True), key=lambda pair: -pair[0])
    hits = [{"chunk_id": chunk.id, "score": score} for score, chunk in ranked]
    return {"hits": hits, "ledger": stage.done(engine="local", model=reranker.version, preview=f"{len(hits)} chunks")}
