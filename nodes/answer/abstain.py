"""abstain: the documents do not answer the question; the closest passages are shown."""

from __future__ import annotations

from langgraph.runtime import Runtime

from discorag.answer.abstention import abstain_from
from discorag.types.errors import ModelError
from nodes.case import case_of
from nodes.context import AnswerContext, answer_context
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def abstain(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """An answer without sentences that says why; the draft, if there was one, stays in the state."""
    context, stage = answer_context(runtime), Stage("abstain")
    case, deps = await case_of(state, context), await context.deps()
    try:
        await deps.selector.rank(case)
    except ModelError as error:
        stage.failed(error, fallback="the order of hybrid search")
        await deps.selector.rank_without_reranker(case)
    answer = stage.noted(await abstain_from(case, deps.selector, state.get("because", "")), state)
    ledger = stage.done(engine="local", model=deps.reranker.version, preview=answer.abstained)
    return {"answer": answer.model_dump(mode="json"), "ledger": ledger}
