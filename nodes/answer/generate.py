"""generate: the draft, by a language model or of the sources' own sentences, streamed as it is written."""

from functools import partial

from langgraph.runtime import Runtime

from discorag.answering.write import answer_plainly, write_answer, write_by_text
from discorag.generation.draft import Write, stream_answer, write_draft
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.errors import ModelError
from discorag.text.citations import without_copied
from nodes.context import AnswerContext, answer_context
from nodes.inputs import answer_at_once, collected_in, load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def generate(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Write the draft. If the language model fails, the run starts again without it.

    Raises:
        InputError: The plan, which a person has edited, names a statement that does not exist.
        ModelError: The language model failed, and the options are strict.
    """
    context = await answer_context(state, runtime)
    stage = Stage("generate")
    inputs, backends = await load_inputs(state, context), await context.open_backends()
    model = backends.require_model().name if context.is_written else ""
    if model and (written := answer_at_once(state)):
        return _pass_answer_on(written, inputs, context, stage, model)
    try:
        write = partial(_write, state, context, stage) if model else None
        return await draft_update(inputs, context, stage, write, model)
    except ModelError as error:
        return stage.start_again(error, model=backends.require_model().name, strict=context.strict)


async def _write(state: AnswerState, context: AnswerContext, stage: Stage, inputs: AnswerInputs) -> Outcome[str]:
    """The answer of a language model, shown as it comes. Raises `ModelError`."""
    backends = await context.open_backends()
    if context.is_as_printed:
        structured = context.use_tree or context.use_graph or context.use_plan  # else this is standard RAG
        return await stream_answer(context.paper_engine(backends).answer(inputs, structured=structured), stage)
    reader, collected = context.reader(backends), collected_in(state)
    if collected:
        answer = write_answer(inputs, collected, reader)
    elif inputs.plan:
        answer = write_by_text(inputs, inputs.plan.paragraph, reader)
    else:
        answer = answer_plainly(inputs, reader)
    return await stream_answer(answer, stage)


def _pass_answer_on(written: str, inputs: AnswerInputs, context: AnswerContext, stage: Stage, model: str) -> Json:
    """The answer that came with statements and plan; `relate` has the bill for it, and has shown it."""
    stage.record_route("verify", "the answer came with the statements")
    draft = without_copied(written, [chunk.text for chunk in inputs.chunks])
    ledger = stage.done(engine="llm", model=model, preview=draft)
    return {"draft": draft, "written_by": model, "rounds": context.refine, "ledger": ledger}


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
