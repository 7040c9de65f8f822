"""The selectors by name, as settings and evaluation suites know them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Protocol

from discorag.trees.choose.algorithm1 import Variant, algorithm1
from discorag.trees.choose.collapsed import collapsed_set, collapsed_tree, traversal
from discorag.trees.choose.evidence import Evidence, Floats, Ints
from discorag.trees.choose.neighbours import expand, smoothed
from discorag.trees.choose.windows import slide, snapped
from discorag.types.retrieval_tree import RetrievalTree


class Selector(Protocol):
    """Chooses evidence by the scores of a tree's nodes."""

    def __call__(self, tree: RetrievalTree, scores: Floats, sizes: Ints, limit: int) -> Evidence:
        """Evidence within ``limit``, for ``scores`` and ``sizes`` of shape ``(nodes,)``."""
        ...


class WindowSelector(Protocol):
    """Chooses evidence by windows, which it scores itself from the leaves' vectors."""

    def __call__(self, tree: RetrievalTree, vectors: Floats, query: Floats, sizes: Ints, limit: int) -> Evidence:
        """Evidence within ``limit``, for ``vectors`` ``(leaves, d)``, ``query`` ``(d,)``, ``sizes`` ``(leaves,)``."""
        ...


SELECTORS: Mapping[str, Selector] = MappingProxyType(
    {
        "algorithm1": algorithm1,
        "leaves": partial(algorithm1, variant=Variant.LEAVES),
        "summaries": partial(algorithm1, variant=Variant.SUMMARIES),
        "all_leaves": partial(algorithm1, variant=Variant.ALL_LEAVES),
        "ranking_order": partial(algorithm1, variant=Variant.RANKING_ORDER),
        "collapsed_tree": collapsed_tree,
        "collapsed_set": collapsed_set,
        "traversal": traversal,
        "expand": expand,
        "smoothed": smoothed,
    }
)
"""Each under its paper's parameters."""

WINDOW_SELECTORS: Mapping[str, WindowSelector] = MappingProxyType({"slide": slide, "snapped": snapped})
"""Windows of 2 to 16 leaves."""
