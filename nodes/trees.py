"""What the nodes that build or ask retrieval trees have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.types import Command

from discorag.retrieval.index import Inside, TreeIndex, chunks_with, evidence_of, passages_of
from discorag.retrieval.registry import RETRIEVERS, SelectedNodes, TreeQuery, TreeRetriever
from discorag.retrieval.routers.configured import router_of
from discorag.retrieval.scores import Scores, in_tokens
from discorag.schema.document import Scope
from discorag.schema.ledger import Failure
from discorag.store.records import Hit, SearchQuery
from nodes.backends import Backends
from nodes.context import AnswerContext
from nodes.inputs import question_of
from nodes.retrieved import retrieved
from nodes.stage import Stage
from nodes.state import AnswerState


def tree_index(retriever: TreeRetriever, backends: Backends, scope: Scope, parser: str) -> TreeIndex:
    """The trees of a retriever's builder; inner nodes are encoded by their summaries where a model writes them."""
    how = "text" if backends.model and retriever.summaries else retriever.vectors
    return TreeIndex(backends.store, scope, backends.encoder, retriever.build(backends.tree_tools(parser)), how)


def noted(stage: Stage, index: TreeIndex) -> None:
    """Put what building trees took, and what failed in it, into the stage's record."""
    made = index.effort
    stage.usage += made.usage
    stage.failures += [
        Failure(stage=stage.name, kind="summary", message=message, fallback="extractive text")
        for message in made.failures
    ]
    stage.counts = {"trees built": made.built, "parses": made.parsed, "parses known": made.reused}


@dataclass(frozen=True)
class Search:
    """A question over the trees of the documents nearest to it; ``asked`` is None where there is no document.

    ``copies``: as `discorag.store.retrieval.Distinct.copies`.
    """

    context: AnswerContext
    stage: Stage
    retriever: TreeRetriever
    index: TreeIndex
    asked: TreeQuery | None
    copies: Mapping[str, list[str]]

    @classmethod
    async def of(cls, state: AnswerState, context: AnswerContext, stage: Stage) -> Search:
        """Documents first, then what the nodes of their trees score; trees that are missing are built."""
        backends, scope = await context.open_backends(), await context.scope()
        retriever, question = RETRIEVERS[context.retriever], question_of(state)
        index = tree_index(retriever, backends, scope, context.tree_engine(backends))
        vector = await backends.encoder.encode_query(question)
        wanted = SearchQuery(vector=vector, text=question, filters=state.get("filters") or {})
        near = await index.documents(wanted, context.search_documents)
        doc_ids = near.found
        if not doc_ids:
            return cls(context, stage, retriever, index, None, {})
        await index.ensure(doc_ids, by_any_parser=True)
        scores = await _scores(index, wanted, doc_ids, context)
        return cls(context, stage, retriever, index, _asked(question, scores, context, backends), near.copies)

    async def nothing(self) -> Command[Any]:
        """The update where there is no document."""
        return await retrieved([], self.context, self.stage, copies={})

    async def found(self, chosen: SelectedNodes, **more: Any) -> Command[Any]:
        """The chunks in which the evidence stands, narrowed to it, with ``more`` beside it."""
        assert self.asked is not None
        backends, scope = await self.context.open_backends(), await self.context.scope()
        hits, inside = await asyncio.to_thread(_passages, backends, scope, self.asked.scores, chosen, self.context)
        self.stage.usage += chosen.usage
        self.stage.failures += chosen.failures
        noted(self.stage, self.index)
        preview = f"{len(chosen.nodes)} nodes in {len(hits)} chunks; {self.index.effort.built} trees built"
        return await retrieved(
            hits,
            self.context,
            self.stage,
            copies=self.copies,
            inside=inside,
            refused=chosen.refused,
            preview=preview,
            more=more,
        )


async def _scores(index: TreeIndex, wanted: SearchQuery, doc_ids: Sequence[str], context: AnswerContext) -> Scores:
    """Of all nodes, with sizes in words, or in tokens where the budget is."""
    reads, counted = RETRIEVERS[context.retriever].reads, context.evidence_tokens is not None
    scores = await index.scores(wanted, doc_ids, by=context.node_scores, texts=reads or counted)
    return (
        await asyncio.to_thread(in_tokens, scores, (await context.open_backends()).encoder.tokens)
        if counted
        else scores
    )


def _asked(question: str, scores: Scores, context: AnswerContext, backends: Backends) -> TreeQuery:
    return TreeQuery(
        question,
        scores,
        context.evidence_budget,
        backends.reranker,
        router_of(backends),
        k=context.node_k,
        pool=context.pool,
        unfold=context.unfold,
    )


def _passages(
    backends: Backends, scope: Scope, scores: Scores, chosen: SelectedNodes, context: AnswerContext
) -> tuple[list[Hit], Inside]:
    if context.context == "nodes":
        return passages_of(backends.store, scope, scores, chosen.nodes)
    return chunks_with(backends.store, scope, evidence_of(scores, chosen.nodes, context.evidence_budget))
