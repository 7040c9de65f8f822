"""retrieve, over trees: the evidence that one of the papers' retrievers, or a control, chooses."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from langgraph.types import Overwrite

from discorag.store.protocol import Hit, SearchQuery
from discorag.store.retrieval import found
from discorag.trees.index import Inside, TreeIndex, chunks_with, evidence_of, passages_of
from discorag.trees.registry import RETRIEVERS, Asked, Chosen
from discorag.trees.routers.configured import router_of
from discorag.trees.scores import Scores, in_tokens
from discorag.types.document import Scope
from nodes.context import AnswerContext
from nodes.resources import Resources
from nodes.stage import Stage
from nodes.state import AnswerState, Json
from nodes.trees import noted, tree_index


async def retrieve_trees(query: str, state: AnswerState, context: AnswerContext) -> Json:
    """Documents first, then the nodes of their trees; the chunks in which the evidence stands, narrowed to it.

    Raises:
        QueryError: The query is longer than the encoder's window.
        EmptyCorpusError: The scope holds nothing that could be searched.
    """
    stage, deps, scope = Stage("retrieve"), await context.deps(), await context.scope()
    retriever = RETRIEVERS[context.retriever]
    index = tree_index(retriever, deps, scope, context.tree_engine(deps))
    vector = await deps.encoder.encode_query(query)
    wanted = SearchQuery(vector=vector, text=query, filters=state.get("filters") or {})
    doc_ids = await index.documents(wanted, context.search_documents)
    if not doc_ids:
        found([], scope)
    await index.ensure(doc_ids, by_any_parser=True)
    scores = await _scores(index, wanted, doc_ids, context)
    chosen = await retriever.choose(_asked(query, scores, context, deps))
    hits, inside = await asyncio.to_thread(_passages, deps, scope, scores, chosen, context)
    stage.usage += chosen.usage
    stage.failures += chosen.failures
    noted(stage, index)
    preview = f"{len(chosen.nodes)} nodes in {len(hits)} chunks; {index.effort.built} trees built"
    preview += "; refused: no document answers" if chosen.refused else ""
    ledger = stage.done(engine="local", model=deps.encoder.version, preview=preview)
    return {
        "hits": [{"chunk_id": h.chunk_id, "score": h.score} for h in found(hits, scope)],
        "refused": chosen.refused,
        "evidence": {chunk: [[s.start, s.end] for s in spans] for chunk, spans in inside.items()},
        "ledger": Overwrite(ledger),
    }


async def _scores(index: TreeIndex, wanted: SearchQuery, doc_ids: Sequence[str], context: AnswerContext) -> Scores:
    """Of all nodes, with sizes in words, or in tokens where the budget is."""
    reads, counted = RETRIEVERS[context.retriever].reads, context.evidence_tokens is not None
    scores = await index.scores(wanted, doc_ids, by=context.node_scores, texts=reads or counted)
    return await asyncio.to_thread(in_tokens, scores, (await context.deps()).encoder.tokens) if counted else scores


def _asked(query: str, scores: Scores, context: AnswerContext, deps: Resources) -> Asked:
    return Asked(
        query,
        scores,
        context.evidence_budget,
        deps.reranker,
        router_of(deps),
        k=context.node_k,
        pool=context.pool,
        unfold=context.unfold,
    )


def _passages(
    deps: Resources, scope: Scope, scores: Scores, chosen: Chosen, context: AnswerContext
) -> tuple[list[Hit], Inside]:
    if context.context == "nodes":
        return passages_of(deps.store, scope, scores, chosen.nodes)
    return chunks_with(deps.store, scope, evidence_of(scores, chosen.nodes, context.evidence_budget))
