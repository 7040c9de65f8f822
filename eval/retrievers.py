"""Retrievers for experiments alone: RAPTOR's baseline, other forms of algorithm 1, single layers, ablations."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Literal, get_args

import numpy as np

from discorag.models.encoder import register_encoder
from discorag.retrieval.builders.base import Built, Source, chunk_leaves, units_of
from discorag.retrieval.builders.baselines import CHUNK_WORDS
from discorag.retrieval.builders.node_text import Branch, Growth, NodeText
from discorag.retrieval.registry import (
    RETRIEVERS,
    Choose,
    SelectedNodes,
    TreeQuery,
    TreeRetriever,
    TreeTools,
    register_retriever,
)
from discorag.retrieval.retrievers import (
    DISCOURSE,
    HTSIR,
    LEAVES_OF_A_NODE,
    RAPTOR,
    RDR2_PASSAGES,
    RERANKED,
    select_by_score,
    select_routed,
    text_of,
)
from discorag.retrieval.routers.walk import Decision, RetrievalSubtree, Router, Walk
from discorag.retrieval.selectors import (
    Floats,
    Ints,
    Nodes,
    algorithm1,
    best_leaves,
    in_text_order,
    leaves_by_node,
    ranking,
    within_budget,
)
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.store.outline import TreeArrays
from eval.encoders import open_dual

Part = Literal["structure", "similarity", "content", "refuse"]
WINDOW = 7
"""Nodes that are joined, RAPTOR table 9."""
LAYERS = ("0", "1", "2", "01", "02", "12", "012")
"""RAPTOR tables 8 and 14 to 17, HTSIR table 9: 0 are leaves."""
SEGMENTS = ((100, 5), (100, 7), (150, 3), (150, 5))
"""HTSIR figure 3: words of a segment, and how many of them are summarised together."""


class WindowBuilder:
    """Neighbouring nodes joined ``width`` at a time until there is one; the leaves have up to ``chunk_words`` words.

    A window of a single node passes it to the next layer. With one word per chunk, every sentence is a leaf.

    Source: RAPTOR appendix B, table 9 ("recency-based tree", windows of 7 over chunks of 100 tokens).
    """

    name = "windows"

    def __init__(self, text: NodeText, *, chunk_words: int, width: int) -> None:
        self._text, self._words, self._width = text, chunk_words, width
        self.version = f"windows-2/{width}/{chunk_words}/{text.version}"

    async def build(self, source: Source) -> Built:
        """A tree of one root."""
        growth = Growth(chunk_leaves(source, units_of(source), words=self._words), self._text)
        layer = list(range(len(growth.nodes)))
        while len(layer) > 1:
            windows = [tuple(layer[i : i + self._width]) for i in range(0, len(layer), self._width)]
            joined = await growth.add([Branch(window) for window in windows if len(window) > 1])
            layer = joined + [node for window in windows if len(window) == 1 for node in window]
        return await growth.finish(self.name)


def _segments(tools: TreeTools, words: int = CHUNK_WORDS, width: int = WINDOW) -> WindowBuilder:
    return WindowBuilder(text_of(tools), chunk_words=words, width=width)


WINDOWS = replace(RAPTOR, builder="windows", build=_segments)


async def _within_layers(query: TreeQuery, choose: Choose, layers: frozenset[int]) -> SelectedNodes:
    """Choose among the nodes of some layers; a layer above the top of the tree means the top."""
    s = query.scores
    heights = np.array([s.forest.node(n).layer for n in range(len(s.nodes))])
    inside = np.isin(heights, [min(layer, heights.max()) for layer in layers])
    scores = replace(s, nodes=np.where(inside, s.nodes, s.nodes.min() - 1))
    n = int(inside.sum())
    narrowed = replace(query, scores=scores, pool=min(query.pool, n), k=min(query.k or RERANKED, n))
    selected = await choose(narrowed)
    return replace(selected, nodes=[node for node in selected.nodes if inside[node]])


async def _and_all_leaves(query: TreeQuery, choose: Choose) -> SelectedNodes:
    """What is chosen, then the whole documents (HTSIR table 6)."""
    selected = await choose(query)
    rest = sorted(set(range(query.scores.forest.tree.leaves)) - set(selected.nodes))
    return replace(selected, nodes=[*selected.nodes, *rest])


def _of_layers(retriever: TreeRetriever, layers: str) -> TreeRetriever:
    choose = partial(_within_layers, choose=retriever.choose, layers=frozenset(map(int, layers)))
    return replace(retriever, choose=choose, reads=True)


def _summaries(tree: TreeArrays, scores: Floats, sizes: Ints, limit: int) -> Nodes:
    """DISRetrieval figure 4: an inner node contributes its own text instead of leaves."""
    return in_text_order(tree, within_budget(ranking(tree, scores), sizes, limit))


def _all_leaves(tree: TreeArrays, scores: Floats, sizes: Ints, limit: int) -> Nodes:
    """Figure 4: an inner node contributes all its leaves that are not chosen yet, the most similar first."""
    return algorithm1(tree, scores, sizes, limit, k=tree.leaves)


def _ranking_order(tree: TreeArrays, scores: Floats, sizes: Ints, limit: int, *, k: int) -> Nodes:
    """Figure 4: evidence in the order in which algorithm 1 chooses it."""
    return within_budget(leaves_by_node(tree, scores, k), sizes, limit)


class _Unstructured(Walk):
    @property
    def subtree(self) -> RetrievalSubtree:
        return replace(super().subtree, has_headings=False)


class _Unrefusing(Walk):
    async def run(self, question: str, router: Router, unfold: int) -> None:
        await super().run(question, _NeverRefuses(router, self, unfold), unfold)


@dataclass(frozen=True)
class _NeverRefuses:
    router: Router
    walk: Walk
    unfold: int

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        found = await self.router.decide(question, subtree)
        if found.answer or (found.expand and self.walk.expansions < self.unfold):
            return found
        retrieved = tuple(leaf for leaf in subtree.passages if leaf in self.walk.retrieved)
        return replace(found, answer=retrieved or subtree.passages)


def begin_without(part: Part, question: str, tree: RetrievalTree, retrieved: Sequence[int]) -> Walk:
    """A walk without a part of RDR² (tables 2 and 7).

    ``structure``: retrieved passages only, without headings. ``similarity``: the walk starts under a random heading.
    ``content``: it starts with headings only. ``refuse``: a router that refuses selects the retrieved passages, or all
    that a step shows.
    """
    leaves = (Random(question).randrange(tree.leaves),) if part == "similarity" else retrieved
    kind = {"structure": _Unstructured, "refuse": _Unrefusing}.get(part, Walk)
    walk = kind.begin(tree, leaves, by_passage=True)
    if part == "structure":
        walk.queue, walk.seen = deque((leaf,) for leaf in dict.fromkeys(leaves)), set(leaves)
    if part == "content":
        walk.queue, walk.seen = deque([()]), set()
    return walk


async def _without(query: TreeQuery, part: Part) -> SelectedNodes:
    return await select_routed(query, partial(begin_without, part, query.question))


def register_windows() -> None:
    """Add RAPTOR's baseline to the product's retrievers, once in a process."""
    if "windows" not in RETRIEVERS:
        register_retriever("windows", WINDOWS, help="for experiments")


def register_variants() -> None:
    """Add them to the product's retrievers, and DPR's encoder to its encoders, once in a process."""
    if "htsir-and-all" in RETRIEVERS:
        return
    register_windows()
    found: dict[str, TreeRetriever] = {
        "htsir-and-all": replace(HTSIR, choose=partial(_and_all_leaves, choose=HTSIR.choose))
    }
    for name, retriever in {"raptor": RAPTOR, "htsir": HTSIR}.items():
        found |= {f"{name}-layers-{layers}": _of_layers(retriever, layers) for layers in LAYERS}
    own_k = partial(select_by_score, k=LEAVES_OF_A_NODE)
    for name, choose in {
        "leaves": partial(select_by_score, selector=best_leaves),
        "summaries": partial(select_by_score, selector=_summaries),
        "all-leaves": partial(select_by_score, selector=_all_leaves),
        "ranking-order": partial(own_k, selector=_ranking_order),
        "original-order": partial(own_k, selector=algorithm1),
    }.items():
        found[f"discourse-{name}"] = replace(DISCOURSE, choose=choose)
    for words, width in SEGMENTS:
        segments = replace(WINDOWS, build=partial(_segments, words=words, width=width))
        found[f"segments-{words}-{width}"] = _of_layers(segments, "01")
    for part in get_args(Part):
        found[f"rdr2-no-{part}"] = replace(RDR2_PASSAGES, choose=partial(_without, part=part))
    for name, retriever in found.items():
        register_retriever(name, retriever, help="for experiments")
    register_encoder("dual", open_dual, help="for experiments")
