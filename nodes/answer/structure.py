"""The structure of the evidence: parse (trees in chunks), relate (a graph over chunks) and plan."""

import asyncio
from dataclasses import replace

from langgraph.runtime import Runtime

from discorag.discourse.parse.parser import PROMPTED, Limits
from discorag.discourse.relate import relate_chunks
from discorag.generation.passages import passages_to_read
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
    """Parse what lacks a tree or, if the question names a parser, has another one's.

    A chunk on which a language model fails gets the local parser's tree. From here on the state shows the ``passages``.
    """
    context = await answer_context(state, runtime)
    stage = Stage("parse")
    backends, inputs = await context.open_backends(), await load_inputs(state, context)
    if not context.use_tree:
        passages = await asyncio.to_thread(passages_to_read, inputs)
        return {"trees": {}, "passages": passages, "ledger": stage.done(engine="off")}
    engine = backends.parser_name(context.parser)
    if engine == PROMPTED and state.get("model_failed"):
        engine = "local"
    parser = backends.parser(engine, Limits(context.temperature, context.beam_width))
    made_by = await asyncio.to_thread(_parsers_of, inputs, backends.store, await context.scope())
    is_named = context.parser != "auto"
    missing = [c for c in inputs.chunks if c.tree is None or (is_named and made_by.get(c.doc_id) != parser.version)]
    parsed = await asyncio.gather(*(stage.parse(c, parser, backends.parser("local")) for c in missing))
    trees = {chunk.id: tree for chunk, tree in zip(missing, parsed, strict=True)}
    preview = f"{len(missing)} of {len(inputs.chunks)} chunks parsed now"
    chunks = tuple(c.model_copy(update={"tree": trees.get(c.id, c.tree)}) for c in inputs.chunks)
    passages = await asyncio.to_thread(passages_to_read, replace(inputs, chunks=chunks))
    if missing:
        stage.counts = {"trees made": len(missing), "trees stored": len(inputs.chunks) - len(missing)}
        maker = "llm" if engine == PROMPTED else "local"
        ledger = stage.finish_batch(len(missing), engine=maker, model=parser.version, preview=preview)
    else:
        makers = ", ".join(sorted(set(made_by.values())))
        ledger = stage.done(engine="stored", model=makers, preview=preview)
    made = {chunk_id: tree.model_dump(mode="json") for chunk_id, tree in trees.items()}
    return {"trees": made, "passages": passages, "ledger": ledger}


def _parsers_of(inputs: AnswerInputs, store: Store, scope: Scope) -> dict[str, str]:
    """The versions of the parsers that made the stored trees, by document."""
    found = store.manifests(scope, list({c.doc_id for c in inputs.chunks}))
    return {m.doc_id: m.versions.get("parser", "") for m in found}


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
