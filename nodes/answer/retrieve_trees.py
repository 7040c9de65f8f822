"""retrieve, over trees: the evidence that one of the papers' retrievers, or a control, chooses."""

from __future__ import annotations

import asyncio

from langgraph.types import Overwrite

from discorag.store.protocol import SearchQuery
from discorag.store.retrieval import found
from discorag.trees.index import chunks_with, evidence_of
from discorag.trees.registry import RETRIEVERS, Asked
from discorag.trees.routers.configured import router_of
from nodes.context import AnswerContext
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
    scores = await index.scores(wanted, doc_ids, by=context.node_scores, texts=retriever.reads)
    chosen = await retriever.choose(Asked(query, scores, context.evidence_words, deps.reranker, router_of(deps)))
    evidence = evidence_of(scores, chosen.nodes, context.evidence_words)
    hits, inside = await asyncio.to_thread(chunks_with, deps.store, scope, evidence)
    stage.usage += chosen.usage
    stage.failures += chosen.failures
    noted(stage, index)
    preview = f"{len(chosen.nodes)} nodes in {len(hits)} chunks; {index.effort.built} trees built"
    ledger = stage.done(engine="local", model=deps.encoder.version, preview=preview)
    return {
        "hits": [{"chunk_id": h.chunk_id, "score": h.score} for h in found(hits, scope)],
        "evidence": {chunk: [[s.start, s.end] for s in spans] for chunk, spans in inside.items()},
        "ledger": Overwrite(ledger),
    }
