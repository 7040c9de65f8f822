"""quote: the answer of the sources' own sentences, shown while a language model writes, and kept if the model fails."""

from dataclasses import replace

from langgraph.runtime import Runtime

from discorag.discourse.relate import relate_chunks
from discorag.generation.extractive import extract_answer
from discorag.generation.plan_text import RulePlanEngine
from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import Plan
from discorag.verification.judges import verifier_of
from discorag.verification.summaries import trace_draft
from nodes.context import AnswerContext, answer_context
from nodes.inputs import load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def quote(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Answer as without a language model, by the same engines; does nothing in the verbatim profile.

    The event ``preliminary`` carries the answer.
    """
    context, stage = await answer_context(runtime), Stage("quote")
    if context.profile == "verbatim":
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
