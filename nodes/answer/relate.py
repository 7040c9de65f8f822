"""relate: what the passages say on the question and how they relate: statements, and a graph over the chunks."""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import cast

from langgraph.runtime import Runtime

from discorag.answering.collect import collect_statements
from discorag.answering.one_call import AnswerWithStatements, answer_in_one_call, fits_one_call
from discorag.answering.passage_graph import graph_over_passages
from discorag.answering.reader import ReaderModel
from discorag.answering.statements import Collected
from discorag.discourse.relate import relate_chunks
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.discourse import RhetoricalGraph
from discorag.schema.errors import ContextTooLongError, ModelError
from discorag.schema.statements import StatementGraph, format_plan
from nodes.context import AnswerContext, answer_context
from nodes.inputs import answer_key, load_inputs
from nodes.stage import Stage, is_out_of_reach
from nodes.state import AnswerState, Json

FROM_PASSAGES = "an answer from the passages without statements"
"""The fallback if a language model wrote no statements that can be used."""


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
            return await (_without_answer(answer) if context.plan else stage.stream(answer, lambda both: both.text))
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
