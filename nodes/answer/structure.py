"""The structure of the evidence: parse (trees in chunks), relate (statements, and a graph over chunks) and plan."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from typing import cast

from langgraph.runtime import Runtime

from discorag.answering.collect import collect_statements
from discorag.answering.one_call import AnswerWithStatements, answer_in_one_call, fits_one_call
from discorag.answering.passage_graph import graph_over_passages
from discorag.answering.plans import unfamiliar_steps
from discorag.answering.reader import ReaderModel
from discorag.answering.statements import Collected
from discorag.discourse.parse.parser import PROMPTED, Limits
from discorag.discourse.relate import relate_chunks
from discorag.generation.draft import stream_answer
from discorag.generation.passages import passages_to_read
from discorag.generation.plan_text import RulePlanEngine
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.discourse import RhetoricalGraph
from discorag.schema.document import Scope
from discorag.schema.errors import ContextTooLongError, InputError, ModelError
from discorag.schema.statements import StatementGraph, format_plan, names_statements
from discorag.store.store import Store
from nodes.context import AnswerContext, answer_context
from nodes.inputs import answer_key, check_plan, load_inputs
from nodes.stage import Stage, is_out_of_reach, ledger_of
from nodes.state import AnswerState, Json

FROM_PASSAGES = "an answer from the passages without statements"
"""The fallback if a language model wrote no statements that can be used."""


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
    parser = await asyncio.to_thread(backends.parser, engine, Limits(context.temperature, context.beam_width))
    made_by = await asyncio.to_thread(_parsers_of, inputs, backends.store, await context.scope())
    is_named = context.parser != "auto"
    missing = [c for c in inputs.chunks if c.tree is None or (is_named and made_by.get(c.doc_id) != parser.version)]
    local = await asyncio.to_thread(backends.parser, "local")
    parsed = await asyncio.gather(*(stage.parse(c, parser, local) for c in missing))
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
    """Infer the graph; a language model collects statements first and plans over them in the same call.

    If the language model fails, the run starts again without it. Raises as `generate`.
    """
    context = await answer_context(state, runtime)
    stage = Stage("relate")
    if context.has_statements:
        return await _collect(state, context, stage)
    if not context.use_graph:
        return {"graph": None, "ledger": stage.done(engine="off")}
    inputs, backends = await load_inputs(state, context), await context.open_backends()
    paper = context.paper_engine(backends) if context.is_as_printed else None
    try:
        outcome = await (paper.relate(inputs) if paper else relate_chunks(inputs, backends.encoder))
    except ModelError as error:
        return stage.start_again(error, model=backends.require_model().name, strict=context.strict)
    ledger = stage.done(
        engine="llm" if paper else "local",
        model=paper.model.name if paper else "",
        outcome=outcome,
        preview=_edges(outcome.value, inputs),
    )
    return {"graph": outcome.value.model_dump(mode="json"), "ledger": ledger}


async def _collect(state: AnswerState, context: AnswerContext, stage: Stage) -> Json:
    """Statements, the graph that follows from their relations, and the plan over them.

    A language model that cannot write statements in the form asked for answers from the passages alone.
    """
    inputs, backends = await load_inputs(state, context), await context.open_backends()
    reader = context.reader(backends)
    try:
        outcome = await _collected(inputs, reader, context, stage)
    except ModelError as error:
        if context.strict or is_out_of_reach(error):
            return stage.start_again(error, model=reader.model.name, strict=context.strict)
        stage.failed(error, fallback=FROM_PASSAGES)
        nothing = dict.fromkeys(("statements", "graph", "plan", "at_once"))
        return {**nothing, "ledger": stage.done(engine="llm", model=reader.model.name)}
    collected, text = outcome.value.collected, outcome.value.text
    statements, graph = collected.graph, None
    if context.use_graph:
        graph = graph_over_passages(inputs, statements)
    else:
        statements = statements.model_copy(update={"relations": ()})
    preview = _edges(graph, inputs) if graph else f"{len(statements.statements)} statements"
    update: Json = {
        "statements": statements.model_dump(mode="json"),
        "graph": graph.model_dump(mode="json") if graph else None,
        "plan": (format_plan(collected.plan) or None) if _is_planned(statements, context) else None,
        "ledger": stage.done(engine="llm", model=reader.model.name, outcome=outcome, preview=preview),
    }
    key = answer_key(cast("AnswerState", {**state, **update}))
    return {**update, "at_once": {"answer": text, "key": key} if text else None}


def _is_planned(statements: StatementGraph, context: AnswerContext) -> bool:
    """Whether there is a plan: one statement needs none, unless a person wants to see it."""
    return context.use_plan and (len(statements.statements) > 1 or context.review)


async def _collected(
    inputs: AnswerInputs, reader: ReaderModel, context: AnswerContext, stage: Stage
) -> Outcome[AnswerWithStatements]:
    """Statements and plan, with the answer if one call may and can write all of it. Raises `ModelError`.

    If the server refuses the one call because of its length, the passages are read in several.
    """
    if context.may_answer_at_once and await fits_one_call(inputs, reader):
        answer = answer_in_one_call(inputs, reader, stage.show_statement)
        with suppress(ContextTooLongError):
            return await (
                _without_answer(answer) if context.plan else stream_answer(answer, stage, lambda both: both.text)
            )
    outcome = await collect_statements(inputs, reader, stage.show_statement)
    return outcome.holding(AnswerWithStatements(outcome.value))


async def _without_answer(
    answer: AsyncIterator[str | Outcome[AnswerWithStatements]],
) -> Outcome[AnswerWithStatements]:
    """Statements and plan; the answer, which another plan replaces, is neither shown nor used.

    The call is the one that was made before a person edited the plan: in a cached reply, the statements have the
    numbers that the edited plan names. In another reply they may not, see `unfamiliar_steps`.
    """
    outcome = Outcome(value=AnswerWithStatements(Collected()))
    async for piece in answer:
        if isinstance(piece, Outcome):
            outcome = piece.holding(AnswerWithStatements(piece.value.collected))
    return outcome


def _edges(graph: RhetoricalGraph, inputs: AnswerInputs) -> str:
    return ", ".join(f"{inputs.number(e.source)} {e.relation} {inputs.number(e.target)}" for e in graph.edges)


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
