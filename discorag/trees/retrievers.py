"""The retrievers over trees by name: which builder's tree, and how evidence is chosen from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Literal

import numpy as np

from discorag.models.reranker import Reranker
from discorag.trees.choose.algorithm1 import Variant, algorithm1
from discorag.trees.choose.collapsed import collapsed_set, collapsed_tree, traversal
from discorag.trees.choose.evidence import Evidence, Selector, within
from discorag.trees.choose.neighbours import expand, smoothed
from discorag.trees.index import Scores
from discorag.trees.routers.subtree import derive
from discorag.trees.routers.walk import Router, route
from discorag.types.errors import ModelError
from discorag.types.ledger import Failure
from discorag.types.usage import Usage

_REFUSED = "The router selected no passage in any document."
RETRIEVED = 10
"""Nodes that a reranker orders (HTSIR section 4), or from which routers start."""

BuilderName = Literal[
    "flat-sentences", "flat-chunks", "bisection", "windows", "slide", "snapped", "discourse", "unified", "clusters",
    "sections", "headings",
]  # fmt: skip
TreeRetrieverName = Literal[
    "sentences", "chunks", "smoothed", "expand", "slide", "snapped", "bisection", "windows", "discourse", "unified",
    "raptor", "raptor-traversal", "htsir", "rdr2",
]  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """A question over scored nodes.

    Args:
        question: Its text.
        scores: The nodes of the documents that are searched.
        words: Budget of evidence.
        reranker: For HTSIR.
        router: For RDR².
    """

    question: str
    scores: Scores
    words: int
    reranker: Reranker
    router: Router


@dataclass(frozen=True)
class Chosen:
    """Nodes whose text is evidence, best first where their order says so; and what choosing took."""

    nodes: Sequence[int]
    usage: Usage = field(default_factory=Usage)
    failures: tuple[Failure, ...] = ()


Choose = Callable[[Asked], Awaitable[Chosen]]


@dataclass(frozen=True)
class TreeRetriever:
    """A retriever.

    Args:
        builder: Whose tree.
        choose: Evidence among scored nodes.
        vectors: How inner nodes are encoded.
        summaries: Whether a language model, where there is one, writes inner nodes' texts, which are encoded then.
        reads: Whether ``choose`` reads the texts of nodes, which takes time (`TreeIndex.scores`).
    """

    builder: BuilderName
    choose: Choose
    vectors: Literal["mean", "text"] = "mean"
    summaries: bool = False
    reads: bool = False


async def _selected(asked: Asked, selector: Selector) -> Chosen:
    s = asked.scores
    return Chosen(selector(s.forest.tree, s.nodes, s.words, asked.words).nodes)


async def _beside(asked: Asked, selector: Callable[..., Evidence]) -> Chosen:
    """By a selector that looks at neighbours, which are of the same document."""
    s = asked.scores
    return Chosen(selector(s.forest.tree, s.nodes, s.words, asked.words, owners=s.forest.owners).nodes)


async def _reranked(asked: Asked) -> Chosen:
    """HTSIR section 4: the ten best of all nodes, in the reranker's order, as many as fit.

    Where the reranker fails, they keep the order of their similarity, and that is told.
    """
    s = asked.scores
    found = collapsed_set(s.forest.tree, s.nodes, s.words, max(1, int(s.words.sum())), k=RETRIEVED).nodes
    try:
        ranks = await asked.reranker.scores(asked.question, [s.forest.tree.nodes[n].text for n in found])
    except ModelError as error:
        told = Failure.of("retrieve", error, fallback="the order by similarity")
        return Chosen(within(found, s.words, asked.words), failures=(told,))
    best: list[int] = np.argsort(-np.array(ranks), kind="stable").tolist()
    order = [found[i] for i in best]
    return Chosen(within(order, s.words, asked.words))


async def _routed(asked: Asked) -> Chosen:
    """RDR² section 3.1: from the best passages through each document's headings; what fits, in step order.

    Where the router selects nothing in any document, the best passages stand in, and that is told.
    """
    forest, nodes = asked.scores.forest, asked.scores.nodes
    leaves = forest.tree.leaves
    best: list[int] = np.argsort(-nodes[:leaves], kind="stable")[:RETRIEVED].tolist()
    owners = {int(forest.owners[leaf]): list[int]() for leaf in best}
    for leaf in best:
        owners[int(forest.owners[leaf])].append(forest.local(leaf))
    routing = await route(asked.question, [derive(forest.of(d), own) for d, own in owners.items()], asked.router)
    routed = [
        forest.number(d, leaf)
        for d, walked in zip(owners, routing.documents, strict=True)
        for leaf in walked.in_step_order
    ]
    failures = routing.failures
    if not routed:
        told = Failure(stage="route", kind="Refused", message=_REFUSED, fallback="the passages nearest to the question")
        routed, failures = best, (*failures, told)
    return Chosen(within(routed, asked.scores.words, asked.words), routing.usage, failures)


_ALGORITHM_1: Choose = partial(_selected, selector=algorithm1)
_LEAVES: Choose = partial(_selected, selector=partial(algorithm1, variant=Variant.LEAVES))

RETRIEVERS: Mapping[TreeRetrieverName, TreeRetriever] = MappingProxyType(
    {
        "sentences": TreeRetriever("flat-sentences", _LEAVES),
        "chunks": TreeRetriever("flat-chunks", _LEAVES),
        "smoothed": TreeRetriever("flat-sentences", partial(_beside, selector=smoothed)),
        "expand": TreeRetriever("flat-sentences", partial(_beside, selector=expand)),
        "slide": TreeRetriever("slide", _ALGORITHM_1),
        "snapped": TreeRetriever("snapped", _ALGORITHM_1),
        "bisection": TreeRetriever("bisection", _ALGORITHM_1, summaries=True),
        "windows": TreeRetriever("windows", _ALGORITHM_1, summaries=True),
        "discourse": TreeRetriever("discourse", _ALGORITHM_1, summaries=True),
        "unified": TreeRetriever("unified", _ALGORITHM_1, summaries=True),
        "raptor": TreeRetriever("clusters", partial(_selected, selector=collapsed_tree), "text", summaries=True),
        "raptor-traversal": TreeRetriever("clusters", partial(_selected, selector=traversal), "text", summaries=True),
        "htsir": TreeRetriever("sections", _reranked, "text", summaries=True, reads=True),
        "rdr2": TreeRetriever("headings", _routed, "text", reads=True),
    }
)
"""Controls: sentences, chunks, smoothed, expand, slide, bisection, windows. Ours: snapped, unified."""
