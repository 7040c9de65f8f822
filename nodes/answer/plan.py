"""plan: one paragraph that says how the answer will be organised."""

from langgraph.runtime import Runtime

from discorag.generation.plan_text import RulePlanEngine
from discorag.schema.errors import ModelError
from nodes.context import AnswerContext, answer_context
from nodes.inputs import load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def plan(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Plan the answer; if the language model fails, the rules make the plan and the result says so."""
    context = await answer_context(runtime)
    stage = Stage("plan")
    if context.plan:
        return {"plan": context.plan, "ledger": stage.done(engine="off", preview=context.plan)}
    if not context.use_plan:
        return {"plan": None, "ledger": stage.done(engine="off")}
    inputs, backends = await load_inputs(state, context), await context.open_backends()
    local = RulePlanEngine(backends.selector)
    llm = None if state.get("unavailable") else await context.llm(context.planner, "plan")
    update = Json()
    try:
        outcome = await (llm or local).plan(inputs)
    except ModelError as error:
        update = stage.failed_model(error, fallback="local")
        outcome, llm = await local.plan(inputs), None
    name = llm.model.name if llm else ""
    paragraph = outcome.value.paragraph
    return {
        "plan": paragraph,
        "ledger": stage.done(engine="llm" if llm else "local", model=name, outcome=outcome, preview=paragraph),
        **update,
    }
