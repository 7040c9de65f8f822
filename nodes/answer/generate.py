"""quote and generate: the answer of the sources' own sentences, and the draft, streamed as it is written."""

from dataclasses import replace

from langgraph.runtime import Runtime

from discorag.discourse.relate import relate_chunks
from discorag.generation.draft import Write, stream_answer, write_draft
from discorag.generation.extractive import extract_answer
from discorag.generation.plan_text import RulePlanEngine
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.discourse import Plan
from discorag.schema.errors import ModelError
from discorag.verification.judges import verifier_of
from discorag.verification.tracing import trace_draft
from nodes.context import AnswerContext, answer_context
from nodes.inputs import load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def quote(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Answer as without a language model, by the same engines; does nothing if no model writes.

    The event ``preliminary`` carries the answer.
    """
    context, stage = await answer_context(state, runtime), Stage("quote")
    if not context.is_written:
        return {"ledger": stage.done(engine="off")}
    backends, inputs = await context.open_backends(), await load_inputs(state, context)
    inputs = await _with_graph_and_plan(inputs, context)
    draft = (await extract_answer(inputs, backends.selector)).value
    verifier, scope = verifier_of(backends, "auto"), await context.scope()
    answer = (await trace_draft(verifier, inputs, draft, backends.store, scope)).value
    preliminary = stage.with_notes(answer, state).model_dump(mode="json")
    stage.emit({"stage": "quote", "event": "preliminary", "answer": preliminary})
    verbatim: Json = {
        "draft": draft,
        "graph": inputs.graph.model_dump(mode="json") if inputs.graph else None,
        "plan": inputs.plan.paragraph if inputs.plan else None,
    }
    return {"verbatim": verbatim, "ledger": stage.done(engine="local", preview=draft)}


async def _with_graph_and_plan(inputs: AnswerInputs, context: AnswerContext) -> AnswerInputs:
    """With the local engines' graph and plan."""
    backends = await context.open_backends()
    if context.use_graph:
        inputs = replace(inputs, graph=(await relate_chunks(inputs, backends.encoder)).value)
    if context.plan:
        inputs = replace(inputs, plan=Plan(paragraph=context.plan))
    elif context.use_plan:
        inputs = replace(inputs, plan=(await RulePlanEngine(backends.selector).plan(inputs)).value)
    return inputs


async def generate(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Write the draft; where the language model fails, the verbatim answer stays, and the result says so."""
    context = await answer_context(state, runtime)
    stage = Stage("generate")
    inputs = await load_inputs(state, context)
    is_unavailable = state.get("unavailable", False) and context.is_written
    llm = None if is_unavailable else await context.llm("generate")
    if llm is None and not is_unavailable:
        return await draft_update(inputs, context, stage, None, "", None)

    async def write(inputs: AnswerInputs) -> Outcome[str]:
        if llm is None:
            raise ModelError("It was not called because an earlier call failed.")
        structured = context.use_tree or context.use_graph or context.use_plan  # else this is standard RAG
        return await stream_answer(llm.answer(inputs, structured=structured), stage)

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
