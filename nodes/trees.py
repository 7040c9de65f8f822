"""What the nodes that build or search retrieval trees have in common: the adaptors to `discorag.retrieval.search`."""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.types import Command

from discorag.retrieval.index import TreeIndex
from discorag.retrieval.registry import SelectedNodes, TreeRetriever
from discorag.retrieval.search import TreeOptions, TreeSearch, passages_with, search_trees, tree_index
from discorag.schema.ledger import Failure
from nodes.context import AnswerContext
from nodes.inputs import question_of
from nodes.retrieved import retrieved
from nodes.stage import Stage
from nodes.state import AnswerState


async def search_nodes(state: AnswerState, context: AnswerContext, retriever: TreeRetriever) -> TreeSearch:
    """The state's question over the trees of the documents nearest to it. Raises as `search_trees`."""
    backends, scope = await context.open_backends(), await context.scope()
    tools = backends.tree_tools(context.tree_engine(backends))
    index = tree_index(retriever, tools, backends.store, scope)
    filters = state.get("filters") or {}
    return await search_trees(retriever, index, backends, question_of(state), filters, tree_options(context))


def tree_options(context: AnswerContext) -> TreeOptions:
    """What of a question's options is about retrievers over trees."""
    return TreeOptions(
        documents=context.search_documents,
        scored_by=context.node_scores,
        budget=context.evidence_budget,
        in_tokens=context.evidence_tokens is not None,
        own_texts=context.context == "nodes",
        k=context.node_k,
        pool=context.pool,
        unfold=context.unfold,
    )


async def retrieved_nodes(
    search: TreeSearch, selected: SelectedNodes | None, context: AnswerContext, stage: Stage, **more: Any
) -> Command[Any]:
    """The update with the chunks that hold the evidence of selected nodes; ``more`` goes into it as it is.

    Nothing is selected where there is no document.
    """
    if search.query is None or selected is None:
        return await retrieved([], context, stage, copies={})
    backends, scope = await context.open_backends(), await context.scope()
    scores, options = search.query.scores, tree_options(context)
    hits, inside = await asyncio.to_thread(passages_with, backends.store, scope, scores, selected, options)
    stage.usage += selected.usage
    stage.failures += selected.failures
    record_effort(stage, search.index)
    preview = f"{len(selected.nodes)} nodes in {len(hits)} chunks; {search.index.effort.built} trees built"
    return await retrieved(
        hits,
        context,
        stage,
        copies=search.copies,
        inside=inside,
        refused=selected.refused,
        preview=preview,
        more=more,
    )


def record_effort(stage: Stage, index: TreeIndex) -> None:
    """Put what building trees cost, and what failed in it, into the stage's record."""
    effort = index.effort
    stage.usage += effort.usage
    stage.failures += [
        Failure(stage=stage.name, kind="summary", message=message, fallback="extractive text")
        for message in effort.failures
    ]
    stage.counts = {"trees built": effort.built, "parses": effort.parsed, "parses known": effort.reused}
