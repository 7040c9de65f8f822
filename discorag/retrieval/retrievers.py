"""The retrievers: for chunks, how they are searched; for trees, which builder makes them and how nodes are selected."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from discorag.retrieval.builders.baselines import FLAT_CHUNKS, FLAT_SENTENCES, BisectionBuilder
from discorag.retrieval.builders.clusters import ClusterBuilder
from discorag.retrieval.builders.discourse import DiscourseBuilder, ParagraphBuilder
from discorag.retrieval.builders.headings import HeadingBuilder
from discorag.retrieval.builders.node_text import Concat, NodeText, Tau
from discorag.retrieval.builders.sections import SectionBuilder, SectionSizes
from discorag.retrieval.builders.summaries import ExtractiveSummariser, LlmSummariser, Summariser
from discorag.retrieval.builders.tree_windows import TreeWindowBuilder
from discorag.retrieval.registry import Choose, ChunkRetriever, SelectedNodes, TreeQuery, TreeRetriever, TreeTools
from discorag.retrieval.routers.walk import STAGE, Walk
from discorag.retrieval.selectors import (
    Nodes,
    algorithm1,
    best_leaves,
    collapsed_tree,
    leaf_ranking,
    ranking,
    traversal,
    within_budget,
)
from discorag.schema.document import Scope
from discorag.schema.errors import Usage
from discorag.schema.ledger import Failure
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.store.records import Hit, Retrieval, SearchQuery
from discorag.store.store import Store

LEAVES_OF_A_NODE = 5
"""DISRetrieval section 4.1 and appendix E.2."""
NODES_OF_A_LAYER = 5
"""RAPTOR figure 3 tries several and settles on none."""
RERANKED = 10
"""HTSIR, "Experiment Settings"."""
PASSAGES = 5
"""RDR² section 4.3."""
_UNROUTED = Failure(
    stage=STAGE,
    kind="Unrouted",
    message="The router selected no passage in any document, and failed in some.",
    fallback="the passages nearest the question",
)


def _search(store: Store, scope: Scope, query: SearchQuery, n: int, *, retrieval: Retrieval) -> list[Hit]:
    return store.rank(scope, query.model_copy(update={"retrieval": retrieval}), n)


DENSE = ChunkRetriever(partial(_search, retrieval="dense"))
HYBRID = ChunkRetriever(partial(_search, retrieval="hybrid"))
ALL = ChunkRetriever(None)


Begin = Callable[[RetrievalTree, Sequence[int]], Walk]
"""Starts a walk through a document from the leaves that were retrieved."""


async def select_by_score(query: TreeQuery, selector: Callable[..., Nodes], k: int | None = None) -> SelectedNodes:
    """Select by scores alone; ``k`` is the number of the selector's paper, None for a selector without k."""
    s, own = query.scores, {} if k is None else {"k": query.k or k}
    return SelectedNodes(selector(s.forest.tree, s.nodes, s.sizes, query.words, **own))


async def _select_reranked(query: TreeQuery) -> SelectedNodes:
    """HTSIR section 4: a reranker orders the best nodes of all layers; the first k that fit are selected."""
    s, k = query.scores, query.k or RERANKED
    found = ranking(s.forest.tree, s.nodes)[: max(k, query.pool)]
    ranks = await query.reranker.scores(query.question, [s.forest.node(node).text for node in found])
    best: list[int] = np.argsort(-np.array(ranks), kind="stable").tolist()
    return SelectedNodes(within_budget((found[i] for i in best[:k]), s.sizes, query.words))


async def select_routed(query: TreeQuery, begin: Begin = Walk.begin) -> SelectedNodes:
    """RDR² section 3.1: the passages that a router selects in each document, as far as they fit.

    If the router refuses every document, the result is refused. If it selects nothing because it failed, the best
    passages are used instead, and a failure says so.
    """
    walks, forest, sizes, router = begin_walks(query, begin), query.scores.forest, query.scores.sizes, query.router
    assert router is not None  # `search_trees` has one for retrievers that route
    await asyncio.gather(*(walk.run(query.question, router, query.unfold) for walk in walks.values()))
    usage = sum((walk.usage for walk in walks.values()), Usage())
    failures = tuple(failure for walk in walks.values() for failure in walk.failures)
    routed = [forest.leaf_number(place, leaf) for place, walk in walks.items() for leaf in walk.selected]
    if routed:
        return SelectedNodes(within_budget(routed, sizes, query.words), usage, failures)
    nearest = within_budget(_best_passages(query), sizes, query.words)
    return SelectedNodes(nearest, usage, (*failures, _UNROUTED) if failures else (), refused=not failures)


def begin_walks(query: TreeQuery, begin: Begin = Walk.begin) -> dict[int, Walk]:
    """A walk through each document that holds one of the best passages, by the document's index in the forest."""
    forest, retrieved = query.scores.forest, dict[int, list[int]]()
    for leaf in _best_passages(query):
        retrieved.setdefault(int(forest.owners[leaf]), []).append(forest.local(leaf))
    return {place: begin(forest.of(place), own) for place, own in retrieved.items()}


def _best_passages(query: TreeQuery) -> list[int]:
    scores = query.scores
    return leaf_ranking(scores.nodes[: scores.forest.tree.leaves])[: query.k or PASSAGES]


def _clusters(tools: TreeTools) -> ClusterBuilder:
    return ClusterBuilder(tools.backends.encoder, summariser_of(tools))


def _sections(tools: TreeTools) -> SectionBuilder:
    sizes = SectionSizes(theme_group=tools.backends.settings.trees.theme_group)
    return SectionBuilder(tools.backends.encoder, summariser_of(tools), sizes)


_ALGORITHM_1: Choose = partial(select_by_score, selector=algorithm1, k=LEAVES_OF_A_NODE)
_LEAVES: Choose = partial(select_by_score, selector=best_leaves)

SENTENCES = TreeRetriever("flat-sentences", lambda _: FLAT_SENTENCES, _LEAVES)
CHUNKS = TreeRetriever("flat-chunks", lambda _: FLAT_CHUNKS, _LEAVES)
SNAPPED = TreeRetriever("snapped", lambda _: TreeWindowBuilder(ParagraphBuilder(Concat())), _ALGORITHM_1)
BISECTION = TreeRetriever("bisection", lambda tools: BisectionBuilder(text_of(tools)), _ALGORITHM_1, summaries=True)
DISCOURSE = TreeRetriever(
    "discourse", lambda tools: DiscourseBuilder(tools.parser, text_of(tools)), _ALGORITHM_1, summaries=True
)
_COLLAPSED: Choose = partial(select_by_score, selector=collapsed_tree)
RAPTOR = TreeRetriever("clusters", _clusters, _COLLAPSED, "text", True)
RAPTOR_TRAVERSAL = TreeRetriever(
    "clusters", _clusters, partial(select_by_score, selector=traversal, k=NODES_OF_A_LAYER), "text", True
)
HTSIR = TreeRetriever("sections", _sections, _select_reranked, "text", summaries=True, reads=True)
RDR2 = TreeRetriever(
    "headings",
    lambda tools: HeadingBuilder(tools.backends.encoder.tokens),
    select_routed,
    "text",
    reads=True,
    routed=True,
)
RDR2_PASSAGES = replace(RDR2, choose=partial(select_routed, begin=partial(Walk.begin, by_passage=True)))


def text_of(tools: TreeTools) -> NodeText:
    """With a model for summaries the rule of DISRetrieval's eq. 2, else all text below a node."""
    backends = tools.backends
    return Tau(summariser_of(tools), backends.settings.trees.tau) if backends.model_for("summariser") else Concat()


def summariser_of(tools: TreeTools) -> Summariser:
    """The language model if there is one, else the most nuclear sentences."""
    backends, extractive = tools.backends, ExtractiveSummariser(tools.parser)
    model = backends.model_for("summariser")
    return LlmSummariser(model, backends.template("summary"), extractive) if model else extractive
