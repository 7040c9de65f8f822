"""The structure of the evidence: parse (trees in chunks), relate (a graph over chunks) and plan."""

import asyncio

from langgraph.runtime import Runtime

from discorag.discourse.parse.parser import PROMPTED, Limits, TreeParser
from discorag.discourse.relate import relate_chunks
from discorag.generation.plan_text import RulePlanEngine
from discorag.schema.answer import AnswerInputs
from discorag.schema.document import Scope
from discorag.schema.errors import ModelError
from discorag.store.store import Store
from nodes.context import AnswerContext, answer_context
from nodes.inputs import load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def parse(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Parse what lacks a tree; a chunk on which the llm engine fails gets the local engine's tree."""
    context = await answer_context(state, runtime)
    stage = Stage("parse")
    if not context.use_tree:
        return {"trees": {}, "ledger": stage.done(engine="off")}
    backends, inputs = await context.open_backends(), await load_inputs(state, context)
    engine, others = backends.parser_name(context.parser), set[str]()
    parser = backends.parser(engine, Limits(context.temperature, context.beam_width))
    if engine == PROMPTED:
        others = await asyncio.to_thread(_parsed_by_others, inputs, parser, backends.store, await context.scope())
    missing = [c for c in inputs.chunks if c.tree is None or c.doc_id in others]
    trees = await asyncio.gather(*(stage.parse(c, parser, backends.parser("local")) for c in missing))
    preview = f"{len(missing)} of {len(inputs.chunks)} chunks parsed now"
    maker = ("llm" if engine == PROMPTED else "local") if missing else "stored"
    ledger = stage.finish_batch(len(missing), engine=maker, model=parser.version, preview=preview)
    return {"trees": {c.id: t.model_dump(mode="json") for c, t in zip(missing, trees, strict=True)}, "ledger": ledger}


def _parsed_by_others(inputs: AnswerInputs, parser: TreeParser, store: Store, scope: Scope) -> set[str]:
    """The documents whose stored trees are not this parser's."""
    found = (store.manifest(scope, doc_id) for doc_id in {c.doc_id for c in inputs.chunks})
    return {m.doc_id for m in found if m and m.versions.get("parser") != parser.version}


async def relate(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Infer the graph. If the language model fails, the run starts again without it. Raises as `generate`."""
    context = await answer_context(state, runtime)
    stage = Stage("relate")
    if not context.use_graph:
        return {"graph": None, "ledger": stage.done(engine="off")}
    inputs, backends = await load_inputs(state, context), await context.open_backends()
    try:
        llm = await context.llm("relate")
        outcome = await (llm.relate(inputs) if llm else relate_chunks(inputs, backends.encoder))
    except ModelError as error:
        return stage.start_again(error, model=backends.require_model().name, strict=context.strict)
    model = llm.model.name if llm else ""
    preview = ", ".join(
        f"{inputs.number(e.source)} {e.relation} {inputs.number(e.target)}" for e in outcome.value.edges
    )
    ledger = stage.done(engine="llm" if llm else "local", model=model, outcome=outcome, preview=preview)
    turns = {"graph": outcome.text} if outcome.text else {}
    return {"graph": outcome.value.model_dump(mode="json"), "turns": turns, "ledger": ledger}


async def plan(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Plan the answer. If the language model fails, the run starts again without it. Raises as `generate`."""
    context = await answer_context(state, runtime)
    stage = Stage("plan")
    if context.plan:
        return {"plan": context.plan, "ledger": stage.done(engine="off", preview=context.plan)}
    if not context.use_plan:
        return {"plan": None, "ledger": stage.done(engine="off")}
    inputs, backends = await load_inputs(state, context), await context.open_backends()
    try:
        llm = await context.llm("plan")
        outcome = await (llm or RulePlanEngine(backends.selector)).plan(inputs)
    except ModelError as error:
        return stage.start_again(error, model=backends.require_model().name, strict=context.strict)
    model = llm.model.name if llm else ""
    paragraph = outcome.value.paragraph
    ledger = stage.done(engine="llm" if llm else "local", model=model, outcome=outcome, preview=paragraph)
    return {"plan": paragraph, "ledger": ledger}
