"""Rebuild the core's `AnswerInputs` from ids and JSON in the state."""

import asyncio
import json
from collections.abc import Mapping

from discorag.answering.statements import Collected
from discorag.generation.narrowing import narrow
from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import Plan, RhetoricalGraph, RstTree
from discorag.schema.document import Chunk
from discorag.schema.metadata import Filters, read_filters
from discorag.schema.statements import StatementGraph, names_statements, parse_plan, plan_in_order
from discorag.schema.values import Span, digest
from discorag.store.retrieval import check_query
from nodes.context import AnswerContext, EvidenceCache
from nodes.state import AnswerState


async def load_inputs(state: AnswerState, context: AnswerContext) -> AnswerInputs:
    """The question with its chunks, their trees where trees are on, and the graph, statements and plan made so far.

    The chunks are read once per run, and again only when hits, evidence or trees have changed.
    """
    key = (state.get("hits"), state.get("copies"), state.get("evidence"), state.get("trees"))
    cache = context.cache
    if cache.key != key:
        cache = EvidenceCache(key, await _chunks(state, context, cache.found), found=cache.found)
        context.set_cache(cache)
    graph, plan, statements = state.get("graph"), state.get("plan"), state.get("statements")
    return AnswerInputs(
        query=question_of(state),
        instruction=state.get("instruction", ""),
        detail=context.detail,
        chunks=cache.chunks,
        known=cache.known,
        statements=StatementGraph.model_validate(statements) if statements else None,
        graph=RhetoricalGraph.model_validate(graph) if graph else None,
        plan=Plan(paragraph=plan) if plan else None,
        turns=state.get("turns", {}),
    )


def collected_in(state: AnswerState) -> Collected | None:
    """The statements in the state with the plan over them; None if there are none, or the plan is free text.

    Without a plan, all statements are used in their order. Raises `InputError` as `check_plan`.
    """
    found, plan = state.get("statements"), state.get("plan") or ""
    if not found or (plan and not names_statements(plan)):
        return None
    graph = StatementGraph.model_validate(found)
    in_order = [[statement.number] for statement in graph.statements]
    return Collected(graph, parse_plan(plan, graph) if plan else plan_in_order(graph, in_order))


def answer_key(state: AnswerState) -> str:
    """A key of all that an answer over statements follows; another one if a person edits any of it."""
    followed = ("question", "instruction", "hits", "evidence", "statements", "plan")
    return digest(json.dumps([state.get(name) for name in followed], sort_keys=True))


def answer_at_once(state: AnswerState) -> str | None:
    """The answer that was written together with statements and plan, if these are still what it follows."""
    made = state.get("at_once")
    return made["answer"] if made and made["key"] == answer_key(state) else None


def check_plan(plan: str, state: AnswerState) -> Collected | None:
    """The statements with a person's plan over them; None for a plan in free text, which can always be followed.

    Raises:
        InputError: It names a statement or a role that does not exist, or a line cannot be read.
    """
    return collected_in({**state, "plan": plan})


def question_of(state: AnswerState) -> str:
    """The question, made self-contained where that was done. Raises `QueryError` if it is empty."""
    return state.get("question") or check_query(state["query"])


def filters_of(state: AnswerState) -> Filters:
    """Which documents the question may use. Raises `InputError` as `read_filters`."""
    return read_filters(state.get("filters") or {})


async def _chunks(state: AnswerState, context: AnswerContext, found: Mapping[str, Chunk]) -> tuple[Chunk, ...]:
    """The chunks from the store as later stages see them: with this question's trees, narrowed to the evidence."""
    backends, scope = await context.open_backends(), await context.scope()
    ids = [h["chunk_id"] for h in state.get("hits", [])]
    is_read = all(i in found for i in ids)
    chunks = [found[i] for i in ids] if is_read else await asyncio.to_thread(backends.store.chunks, scope, ids)
    names = await asyncio.to_thread(backends.store.source_names, scope, chunks)
    trees, copies, evidence = state.get("trees", {}), state.get("copies", {}), state.get("evidence", {})

    def as_read(chunk: Chunk) -> Chunk:
        backends.encoder.remember(chunk.unit_vectors)
        tree = RstTree.model_validate(trees[chunk.id]) if chunk.id in trees else chunk.tree
        update = {
            "tree": tree if context.use_tree else None,
            "source": names[chunk.uri],
            "also_in": tuple(copies.get(chunk.doc_id, chunk.also_in)),
        }
        chunk = chunk.model_copy(update=update)
        if spans := [Span(start=start, end=end) for start, end in evidence.get(chunk.id, ())]:
            chunk = narrow(chunk, spans)
        return chunk

    return tuple(map(as_read, chunks))
