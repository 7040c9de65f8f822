"""generate: the draft, by a language model or of the sources' own sentences, streamed as it is written."""

from functools import partial

from langgraph.runtime import Runtime

from discorag.generation.draft import Write, stream_answer, write_draft
from discorag.generation.prompted.engine import LlmEngine
from discorag.generation.prompted.paper import PaperEngine
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.errors import ModelError
from nodes.context import AnswerContext, answer_context
from nodes.inputs import load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def generate(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Write the draft. If the language model fails, the run starts again without it.

    Raises:
        ModelError: The language model failed, and the options are strict.
    """
    context = await answer_context(state, runtime)
    stage = Stage("generate")
    inputs, backends = await load_inputs(state, context), await context.open_backends()
    try:
        llm = await context.llm("generate")
        write = partial(_write, llm, context, stage) if llm else None
        return await draft_update(inputs, context, stage, write, llm.model.name if llm else "")
    except ModelError as error:
        return stage.start_again(error, model=backends.require_model().name, strict=context.strict)


async def _write(
    llm: LlmEngine | PaperEngine, context: AnswerContext, stage: Stage, inputs: AnswerInputs
) -> Outcome[str]:
    """The answer of a language model, shown as it comes. Raises `ModelError`."""
    structured = context.use_tree or context.use_graph or context.use_plan  # else this is standard RAG
    return await stream_answer(llm.answer(inputs, structured=structured), stage)


async def draft_update(
    inputs: AnswerInputs, context: AnswerContext, stage: Stage, write: Write | None, model: str
) -> Json:
    """Update the state with the draft that ``write`` makes with ``model``, or with an extractive one. Raises as
    ``write``.
    """
    backends = await context.open_backends()
    outcome = await write_draft(inputs, backends.selector, stage, write)
    ledger = stage.done(engine="llm" if model else "local", model=model, outcome=outcome, preview=outcome.value)
    return {"draft": outcome.value, "written_by": model, "rounds": context.refine if model else 0, "ledger": ledger}
