"""abstain: the documents do not answer the question; the nearest passages are shown."""

from __future__ import annotations

from langgraph.runtime import Runtime

from discorag.answer.abstention import abstention
from nodes.case import case_of
from nodes.context import AnswerContext, answer_context
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def abstain(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """An answer without sentences that says why; the draft, if there was one, stays in the state."""
    context, stage = answer_context(runtime), Stage("abstain")
    case, encoder = await case_of(state, context), (await context.deps()).encoder
    answer = stage.noted(await abstention(case, encoder, state.get("because", "")), state)
    ledger = stage.done(engine="local", model=encoder.version, preview=answer.abstained)
    return {"answer": answer.model_dump(mode="json"), "ledger": ledger}
