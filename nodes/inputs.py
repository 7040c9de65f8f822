"""Rebuild the core's `AnswerInputs` from ids and JSON in the state."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from discorag.generation.compression import compressed, narrowed
from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import Plan, RhetoricalGraph, RstTree
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from discorag.store.retrieval import check_query
from nodes.backends import Backends
from nodes.context import AnswerContext, EvidenceCache
from nodes.state import AnswerState


async def load_inputs(state: AnswerState, context: AnswerContext) -> AnswerInputs:
    """The question with its chunks, their trees where trees are on, and the graph and plan made so far.

    The chunks are read once a run: again only when hits, evidence or trees are others.
    """
    key = (state.get("hits"), state.get("copies"), state.get("evidence"), state.get("trees"))
    cache = context.cache
    if cache.key != key:
        cache = EvidenceCache(key, await _chunks(state, context, cache.found))
        context.set_cache(cache)
    graph, plan = state.get("graph"), state.get("plan")
    return AnswerInputs(
        query=question_of(state),
        instruction=state.get("instruction", ""),
        detail=context.detail,
        chunks=cache.chunks,
        known=cache.known,
        graph=RhetoricalGraph.model_validate(graph) if graph else None,
        plan=Plan(paragraph=plan) if plan else None,
        turns=state.get("turns", {}),
    )


def question_of(state: AnswerState) -> str:
    """The question, made self-contained where that was done. Raises `QueryError` if it is empty."""
    return state.get("question") or check_query(state["query"])


async def _chunks(state: AnswerState, context: AnswerContext, found: Mapping[str, Chunk]) -> tuple[Chunk, ...]:
    """The chunks from the store as later stages see them: with this question's trees, narrowed, shortened."""
    backends, scope = await context.open_backends(), await context.scope()
    ids = [h["chunk_id"] for h in state.get("hits", [])]
    read = all(i in found for i in ids)
    chunks = [found[i] for i in ids] if read else await asyncio.to_thread(backends.store.chunks, scope, ids)
    for chunk in chunks:
        backends.encoder.remember(chunk.unit_vectors)
    made, evidence = state.get("trees", {}), state.get("evidence", {})
    whole = (_with_tree(_placed(c, state), made, keep=context.use_tree) for c in chunks)
    return tuple(_shortened(_narrowed(c, evidence), context, backends) for c in whole)


def _placed(chunk: Chunk, state: AnswerState) -> Chunk:
    also = state.get("copies", {}).get(chunk.doc_id)
    return chunk.model_copy(update={"also_in": tuple(also)}) if also else chunk


def _shortened(chunk: Chunk, context: AnswerContext, backends: Backends) -> Chunk:
    return chunk if context.compress_to is None else compressed(chunk, context.compress_to, backends.encoder.tokens)


def _narrowed(chunk: Chunk, evidence: dict[str, list[list[int]]]) -> Chunk:
    spans = [Span(start=start, end=end) for start, end in evidence.get(chunk.id, ())]
    return narrowed(chunk, spans) if spans else chunk


def _with_tree(chunk: Chunk, made: dict[str, dict[str, object]], *, keep: bool) -> Chunk:
    tree = RstTree.model_validate(made[chunk.id]) if chunk.id in made else chunk.tree
    return chunk.model_copy(update={"tree": tree if keep else None})
