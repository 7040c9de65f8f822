"""Algorithm 1 over windows, which are runs of adjacent leaves, in place of inner nodes: all of them, or a tree's own.

All windows (SLIDE) are this project's control beside the papers' trees: structure that comes from position alone.
Snapped windows are between the two: scored as windows, with borders from a tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discorag.trees.choose.algorithm1 import choices
from discorag.trees.choose.evidence import Evidence, Floats, Ints, check, leaf_ranking, positive, within
from discorag.types.errors import InvariantError
from discorag.types.retrieval_tree import RetrievalTree

Bools = NDArray[np.bool_]


def slide(
    tree: RetrievalTree, vectors: Floats, query: Floats, sizes: Ints, limit: int, *, widest: int = 16, k: int = 5
) -> Evidence:
    """SLIDE: algorithm 1 over the leaves and all windows of 2 to ``widest`` leaves.

    Among equal scores the window that starts first goes first, and of those the narrowest.

    Args:
        tree: The nodes; only the number of leaves is used.
        vectors: Vectors of the leaves, shape ``(leaves, d)``, of length 1 or 0.
        query: Vector of the query, shape ``(d,)``.
        sizes: Words or tokens of each leaf, shape ``(leaves,)`` or longer.
        limit: Budget in the unit of ``sizes``; see `within`.
        widest: Leaves in the widest window.
        k: Leaves that a window may give.

    Raises:
        ConfigError: ``widest``, ``k`` or ``limit`` is below 1.
        InvariantError: Vectors, query or sizes do not belong together or to the tree.
    """
    scores = window_scores(vectors, query, widest)
    return by_windows(tree, scores, np.isfinite(scores), sizes, limit, k)


def snapped(
    tree: RetrievalTree, vectors: Floats, query: Floats, sizes: Ints, limit: int, *, widest: int = 16, k: int = 5
) -> Evidence:
    """As `slide`, with the leaves and only those windows whose borders follow the tree; see `snapped_windows`."""
    scores = window_scores(vectors, query, widest)
    return by_windows(tree, scores, snapped_windows(tree, widest), sizes, limit, k)


def window_scores(vectors: Floats, query: Floats, widest: int) -> Floats:
    """Cosine of the query with the mean vector of every window, shape ``(leaves, widest)``.

    Entry ``[i, w - 1]`` is for the leaves ``i`` to ``i + w - 1``; it is ``-inf`` where that runs past the last leaf,
    and 0 where the mean is the zero vector. A window one leaf wider adds one vector to the sum: its product with the
    query grows by one product, its squared length by that of the new vector and twice its products with the others.

    Args:
        vectors: Vectors of the leaves, shape ``(leaves, d)``.
        query: Vector of the query, shape ``(d,)``.
        widest: Leaves in the widest window.

    Raises:
        ConfigError: ``widest`` is below 1.
        InvariantError: Vectors and query have other shapes.
    """
    positive(widest=widest)
    if vectors.ndim != 2 or query.shape != vectors.shape[1:]:
        raise InvariantError(
            f"Vectors have shape {vectors.shape}, the query {query.shape}.", hint="Use one encoder for both."
        )
    rows = vectors.astype(np.float64)
    length = float(np.linalg.norm(query)) or 1.0
    products, squares = rows @ (query / length), np.einsum("ij,ij->i", rows, rows)
    dot, square, crossing = products.copy(), squares.copy(), np.zeros(len(rows))
    scores = np.full((len(rows), widest), -np.inf)
    scores[:, 0] = _cosine(dot, square)
    for wide in range(2, min(widest, len(rows)) + 1):
        count, last = len(rows) - wide + 1, slice(wide - 1, None)
        crossing = crossing[1:] + np.einsum("ij,ij->i", rows[:count], rows[last])
        dot = dot[:count] + products[last]
        square = square[:count] + squares[last] + 2 * crossing
        scores[:count, wide - 1] = _cosine(dot, square)
    return scores


def snapped_windows(tree: RetrievalTree, widest: int) -> Bools:
    """Which windows follow the tree, shape ``(leaves, widest)``, indexed as `window_scores`.

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


def _cosine(dot: Floats, square: Floats) -> Floats:
    length = np.sqrt(np.maximum(square, 0))
    cosine = np.divide(dot, length, out=np.zeros_like(dot), where=~(length < 1e-9))
    # What is equal but for rounding counts as equal, so that text order decides.
    return np.round(cosine, 9)


def by_windows(tree: RetrievalTree, scores: Floats, windows: Bools, sizes: Ints, limit: int, k: int = 5) -> Evidence:
    """Algorithm 1 over windows that are scored already.

    Args:
        tree: The nodes; only the number of leaves is used.
        scores: As `window_scores` gives them, shape ``(leaves, widest)``.
        windows: Which of them may be chosen, same shape.
        sizes: Words or tokens of each leaf, shape ``(leaves,)`` or longer.
        limit: Budget in the unit of ``sizes``; see `within`.
        k: Leaves that a window may give.

    Raises:
        ConfigError: ``k`` or ``limit`` is below 1.
        InvariantError: Scores or sizes do not belong to the tree.
    """
    positive(k=k)
    own, widest = scores[:, 0], scores.shape[1]
    check(own, sizes, limit, scored=tree.leaves, sized=tree.leaves)
    candidates = np.flatnonzero(windows)
    ranked = candidates[leaf_ranking(scores.ravel()[candidates])]

    def below(window: int) -> Ints:
        start, beyond = divmod(window, widest)
        return np.arange(start, start + beyond + 1)

    return Evidence.in_text_order(within(choices((int(w) for w in ranked), below, own, k), sizes, limit))
