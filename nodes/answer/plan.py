"""plan: in which order the answer tells what was found."""

from langgraph.runtime import Runtime

from discorag.answering.plans import unfamiliar_steps
from discorag.generation.plan_text import RulePlanEngine
from discorag.schema.errors import InputError, ModelError
from discorag.schema.statements import names_statements
from nodes.context import AnswerContext, answer_context
from nodes.inputs import check_plan, load_inputs
from nodes.stage import Stage, ledger_of
from nodes.state import AnswerState, Json


async def plan(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Plan the answer; where there are statements, `relate` has done so.

    If the language model fails, the run starts again without it.

    Raises:
        InputError: The user's plan names a statement that does not exist, or that says something else than the plan.
        ModelError: See `generate`.
    """
    context = await answer_context(state, runtime)
    stage = Stage("plan")
    if context.plan and _can_be_followed(context.plan, state, stage):
        return {"plan": context.plan, "ledger": stage.done(engine="off", preview=context.plan)}
    if not context.use_plan:
        return {"plan": None, "ledger": stage.done(engine="off")}
    if context.has_statements:
        return _pass_plan_on(state, stage)
    inputs, backends = await load_inputs(state, context), await context.open_backends()
    paper = context.paper_engine(backends) if context.is_as_printed else None
    try:
        outcome = await (paper or RulePlanEngine(backends.selector)).plan(inputs)
    except ModelError as error:
        return stage.start_again(error, model=backends.require_model().name, strict=context.strict)
    model = paper.model.name if paper else ""
    paragraph = outcome.value.paragraph
    ledger = stage.done(engine="llm" if paper else "local", model=model, outcome=outcome, preview=paragraph)
    return {"plan": paragraph, "ledger": ledger}


def _can_be_followed(plan: str, state: AnswerState, stage: Stage) -> bool:
    """Whether the user's plan can be followed; what is wrong with it goes into the notes. Raises as `check_plan`."""
    if state.get("model_failed") and names_statements(plan):
        error = InputError("The plan names statements, and the language model that collects them was not reached.")
        stage.failed(error, fallback="a plan by rules")
        return False
    collected = check_plan(plan, state)
    if collected and _was_asked_again(state):
        for error in unfamiliar_steps(collected):
            stage.failed(error, fallback="the statement that has this number now")
    return True


def _was_asked_again(state: AnswerState) -> bool:
    """Whether the statements come from the language model and not from the cache of its replies."""
    return any(record.stage == "relate" and record.usage.calls for record in ledger_of(state).stages)


def _pass_plan_on(state: AnswerState, stage: Stage) -> Json:
    """The plan that came with the statements, if any; `relate` has the bill for it."""
    made = state.get("plan")
    if made:
        stage.record_route("generate", "the plan came with the statements")
    elif len((state.get("statements") or {}).get("statements", ())) == 1:
        stage.record_route("generate", "a single statement needs none")
    return {"plan": made, "ledger": stage.done(engine="off", preview=made or "")}
