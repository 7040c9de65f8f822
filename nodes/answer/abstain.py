"""abstain: the documents do not answer the question; the closest passages are shown."""

from langgraph.runtime import Runtime

from discorag.generation.extractive import abstain_from
from nodes.context import AnswerContext, answer_context
from nodes.inputs import load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def abstain(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """An answer without sentences that says why; the draft, if there was one, stays in the state."""
    context, stage = await answer_context(runtime), Stage("abstain")
    inputs, backends = await load_inputs(state, context), await context.open_backends()
    answer = stage.with_notes(await abstain_from(inputs, backends.selector, state.get("because", "")), state)
    ledger = stage.done(engine="local", model=backends.reranker.version, preview=answer.abstained)
    return {"answer": answer.model_dump(mode="json"), "ledger": ledger}
