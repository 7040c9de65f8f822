"""Which runs of adjacent leaves, called windows, follow the borders that a tree draws."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discorag.retrieval.selectors.evidence import positive
from discorag.schema.retrieval_tree import RetrievalTree


def snapped_windows(tree: RetrievalTree, widest: int) -> NDArray[np.bool_]:
    """Which windows follow the tree, shape ``(leaves, widest)``: ``[i, w - 1]`` is for leaves ``i`` to ``i + w - 1``.

    A subtree here is a node whose leaves are adjacent. A window follows the tree if it is

    * one leaf or one subtree,
    * a run of adjacent subtrees that are children of one node (roots count as children of one node), or
    * two subtrees that touch, wherever they hang.

    In a binary tree the second adds nothing to the first and the third; in a flat one the second gives every window.

    Raises:
        ConfigError: ``widest`` is below 1.
    """
    positive(widest=widest)
    spans = _subtrees(tree, widest)
    whole = np.zeros((tree.leaves, widest), np.bool_)
    for start, end in filter(None, spans):
        whole[start, end - start - 1] = True
    found = whole.copy()
    longest = min(widest, tree.leaves)
    for left in range(1, longest):
        for right in range(1, longest - left + 1):
            count = tree.leaves - left
            found[:count, left + right - 1] |= whole[:count, left - 1] & whole[left:, right - 1]
    for siblings in (tree.roots, *(node.children for node in tree.nodes[tree.leaves :])):
        for start, end in _runs([span for child in siblings if (span := spans[child])], widest):
            found[start, end - start - 1] = True
    return found


def _subtrees(tree: RetrievalTree, widest: int) -> list[tuple[int, int] | None]:
    """For each node its leaves as ``[start, end)``, if they are adjacent and not too many."""
    below: list[set[int] | None] = [{i} for i in range(tree.leaves)]
    for node in tree.nodes[tree.leaves :]:
        parts = [part for child in node.children if (part := below[child]) is not None]
        union = set[int]().union(*parts)
        below.append(union if len(parts) == len(node.children) and len(union) <= widest else None)
    return [_adjacent(leaves) for leaves in below]


def _adjacent(leaves: set[int] | None) -> tuple[int, int] | None:
    if not leaves:
        return None
    start, end = min(leaves), max(leaves) + 1
    return (start, end) if end - start == len(leaves) else None


def _runs(spans: list[tuple[int, int]], widest: int) -> Iterator[tuple[int, int]]:
    ordered = sorted(spans)
    for i, (start, _) in enumerate(ordered):
        for (_, before), (after, reach) in pairwise(ordered[i : i + widest]):
            if after != before or reach - start > widest:
                break
            yield start, reach
