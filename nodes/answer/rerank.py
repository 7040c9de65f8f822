"""rerank: the chunks that were found, in a reranker's order, as many as the language model can read."""

from langgraph.runtime import Runtime

from discorag.schema.errors import ContextTooLongError
from nodes.context import AnswerContext, answer_context
from nodes.inputs import load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def rerank(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Order the chunks by how well they answer.

    Chunks that do not fit into the context of the language model that will read them are left out, and the result says
    so.
    """
    context, stage = await answer_context(runtime), Stage("rerank")
    ranked = await _rerank(state, context) if context.rerank else state
    inputs = await load_inputs(ranked, context)
    hits = ranked.get("hits", [])[: await context.readable(inputs)]
    if len(hits) < len(inputs.chunks):
        tokens = await (await context.open_backends()).context_tokens()
        error = ContextTooLongError(
            f"A context of {tokens} tokens (DISCO_RAG_LLM__CONTEXT_TOKENS) holds {len(hits)} of the "
            f"{len(inputs.chunks)} chunks that were found."
        )
        stage.failed(error, fallback=f"the best {len(hits)}")
    if not context.rerank:
        return {"hits": hits, "ledger": stage.done(engine="off")}
    model = (await context.open_backends()).reranker.version
    return {"hits": hits, "ledger": stage.done(engine="local", model=model, preview=f"{len(hits)} chunks")}


async def _rerank(state: AnswerState, context: AnswerContext) -> AnswerState:
    inputs, reranker = await load_inputs(state, context), (await context.open_backends()).reranker
    scores = await reranker.scores(inputs.query, [chunk.text for chunk in inputs.chunks])
    ranked = sorted(zip(scores, inputs.chunks, strict=True), key=lambda pair: -pair[0])
    return {**state, "hits": [{"chunk_id": chunk.id, "score": score} for score, chunk in ranked]}
