"""generate: the draft, by a language model or of the sources' own sentences, streamed as it is written."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from langgraph.runtime import Runtime

from discorag.answering.write import answer_plainly, write_answer, write_by_text
from discorag.generation.extractive import extract_answer
from discorag.generation.plan_text import missing_references
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.errors import InputError, ModelError
from discorag.text.citations import steps, without_copied
from nodes.context import AnswerContext, answer_context
from nodes.inputs import answer_at_once, collected_in, load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json

Write = Callable[[AnswerInputs], Awaitable[Outcome[str]]]
"""Writes an answer by a language model. Raises `ModelError`."""


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
        return await stage.stream(context.paper_engine(backends).answer(inputs, structured=structured))
    reader, collected = context.reader(backends), collected_in(state)
    if collected:
        answer = write_answer(inputs, collected, reader)
    elif inputs.plan:
        answer = write_by_text(inputs, inputs.plan.paragraph, reader)
    else:
        answer = answer_plainly(inputs, reader)
    return await stage.stream(answer)


def _pass_answer_on(written: str, inputs: AnswerInputs, context: AnswerContext, stage: Stage, model: str) -> Json:
    """The answer that came with statements and plan; `relate` has the bill for it, and has shown it."""
    stage.record_route("verify", "the answer came with the statements")
    draft = without_copied(written, [chunk.text for chunk in inputs.chunks])
    ledger = stage.done(engine="llm", model=model, preview=draft)
    return {"draft": draft, "written_by": model, "rounds": context.refine, "ledger": ledger}


async def draft_update(
    inputs: AnswerInputs, context: AnswerContext, stage: Stage, write: Write | None, model: str
) -> Json:
    """Update the state with the draft that ``write`` makes with ``model``, or with one of sentences of the sources.

    What is wrong with the plan goes into the notes. Raises as ``write`` and `Selector.rank`.
    """
    is_plan_usable = await _check_plan(inputs, stage)
    if write:
        outcome = await write(inputs)
        outcome = outcome.holding(without_copied(outcome.value, [c.text for c in inputs.chunks]))
    else:
        outcome = await extract_answer(inputs, (await context.open_backends()).selector)
        if not is_plan_usable:
            cause = InputError(
                "The plan cites no passage.", hint="Name the passages that a step uses, as [2] or [2.3]."
            )
            stage.failed(cause, fallback="sentences by relevance")
        stage.show_token(outcome.value)
    ledger = stage.done(engine="llm" if model else "local", model=model, outcome=outcome, preview=outcome.value)
    return {"draft": outcome.value, "written_by": model, "rounds": context.refine if model else 0, "ledger": ledger}


async def _check_plan(inputs: AnswerInputs, stage: Stage) -> bool:
    """Whether there is no plan, or one that cites existing passages. Citations that do not exist are reported."""
    if inputs.plan is None:
        return True
    absent = await asyncio.to_thread(missing_references, inputs.plan, inputs)
    for message in absent.values():
        stage.failed(InputError(message), fallback="the rest of the plan", of="plan")
    return any(r not in absent for step in steps(inputs.plan) for r in step.references)
