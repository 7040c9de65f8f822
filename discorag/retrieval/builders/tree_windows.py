"""Windows of neighbouring sentences whose borders follow the tree of another builder."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discorag.retrieval.builders.base import Builder, Built, Source, inner
from discorag.retrieval.builders.node_text import ENCODED_WORDS
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import first_words
from discorag.store.outline import leaf_runs

WIDEST = 16
"""Sentences in the widest window."""


def windows_along(tree: RetrievalTree, widest: int) -> NDArray[np.bool_]:
    """Which windows follow the tree, shape ``(leaves, widest)``: ``[i, w - 1]`` is for leaves ``i`` to ``i + w - 1``.

    A subtree here is a node whose leaves are adjacent. A window follows the tree if it is

    * one leaf or one subtree,
    * a run of adjacent subtrees that are children of one node (roots count as children of one node), or
    * two subtrees that touch, wherever they hang.

    In a binary tree the second case adds nothing; in a flat tree it makes every window follow. ``widest`` is 1 or more.
    """
    runs = leaf_runs(tree)
    starts, stops = np.array([of_node[0] for of_node in runs]).T
    is_subtree = np.array([len(of_node) == 1 for of_node in runs]) & (stops - starts <= widest)
    whole = np.zeros((tree.leaves, widest), np.bool_)
    whole[starts[is_subtree], (stops - starts)[is_subtree] - 1] = True
    found = whole.copy()
    longest = min(widest, tree.leaves)
    for left in range(1, longest):
        for right in range(1, longest - left + 1):
            count = tree.leaves - left
            found[:count, left + right - 1] |= whole[:count, left - 1] & whole[left:, right - 1]
    for siblings in (tree.roots, *(node.children for node in tree.nodes[tree.leaves :])):
        spans = sorted((int(starts[child]), int(stops[child])) for child in siblings if is_subtree[child])
        for start, end in _touching(spans, widest):
            found[start, end - start - 1] = True
    return found


def _touching(spans: Sequence[tuple[int, int]], widest: int) -> Iterator[tuple[int, int]]:
    """Start and end of runs of spans that touch each other, up to ``widest`` leaves long."""
    for i, (start, _) in enumerate(spans):
        for (_, before), (after, end) in pairwise(spans[i : i + widest]):
            if after != before or end - start > widest:
                break
            yield start, end


class TreeWindowBuilder:
    """Runs of up to `WIDEST` sentences that are subtrees of a tree, or neighbouring subtrees (`windows_along`).

    The leaves of the trees that ``trees`` makes are sentences.
    """

    name = "snapped"

    def __init__(self, trees: Builder) -> None:
        self._trees = trees
        self.version = f"snapped-1/{WIDEST}/{trees.version}"

    async def build(self, source: Source) -> Built:
        """Sentences, and windows in the order of their starts; the cost is that of the other builder's tree."""
        built = await self._trees.build(source)
        return replace(built, tree=await asyncio.to_thread(self._windows_of, built.tree))

    def _windows_of(self, tree: RetrievalTree) -> RetrievalTree:
        starts, beyond = np.nonzero(windows_along(tree, WIDEST)[:, 1:])
        runs = zip(starts.tolist(), (starts + beyond + 2).tolist(), strict=True)
        return window_tree(tree.nodes[: tree.leaves], runs, self.name)


def window_tree(leaves: Sequence[RetrievalNode], runs: Iterable[tuple[int, int]], name: str) -> RetrievalTree:
    """Leaves, and a node above every run ``[start, end)`` of them."""
    windows = (
        inner(leaves, range(start, end), first_words((n.text for n in leaves[start:end]), ENCODED_WORDS))
        for start, end in runs
    )
    return RetrievalTree(builder=name, nodes=(*leaves, *windows))
