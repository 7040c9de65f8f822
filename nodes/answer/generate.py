"""generate: the draft answer, streamed as it is written."""

from langgraph.runtime import Runtime

from discorag.config import HOW_TO_NAME_A_MODEL
from discorag.generation.draft import Write, stream_answer, write_draft
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.errors import ConfigError, ModelError
from nodes.context import AnswerContext, answer_context
from nodes.inputs import load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def generate(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Write the draft; where the language model fails, the verbatim answer stays, and the result says so.

    Raises:
        ConfigError: A language model is to write or to ``refine``, and none is configured.
    """
    context = await answer_context(runtime)
    stage = Stage("generate")
    inputs = await load_inputs(state, context)
    is_unavailable = state.get("unavailable", False) and context.generator != "local"
    llm = None if is_unavailable else await context.llm(context.generator)
    if llm is None and not is_unavailable:
        if context.refine:
            raise ConfigError(
                f"refine is {context.refine}, but no language model is configured.",
                hint=f"{HOW_TO_NAME_A_MODEL} Or leave refine at 0.",
            )
        return await draft_update(inputs, context, stage, None, "", None)

    async def write(inputs: AnswerInputs) -> Outcome[str]:
        if llm is None:
            raise ModelError("It was not called because an earlier call failed.")
        return await stream_answer(llm.answer(inputs, structured=context.structured), stage)

    verbatim, model = state.get("verbatim") or {}, (await context.open_backends()).require_model()
    update = await draft_update(inputs, context, stage, write, model.name, verbatim.get("draft"))
    return update if update["written_by"] else {**update, **verbatim}


async def draft_update(
    inputs: AnswerInputs, context: AnswerContext, stage: Stage, write: Write | None, model: str, verbatim: str | None
) -> Json:
    """Update the state with the draft that ``write`` makes with ``model``; if it fails, with ``verbatim`` or an
    extractive one.
    """
    backends = await context.open_backends()
    outcome, by_model = await write_draft(inputs, backends.selector, stage, write, verbatim)
    engine, model = ("llm", model) if by_model else ("local", "")
    ledger = stage.done(engine=engine, model=model, outcome=outcome, preview=outcome.value)
    return {"draft": outcome.value, "written_by": model, "ledger": ledger}
