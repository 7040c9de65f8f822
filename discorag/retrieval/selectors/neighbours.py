"""Selectors that look at a leaf's neighbours in the text: EXPAND and smoothing.

They are this project's controls beside the papers' methods: structure that comes from position alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discorag.retrieval.selectors.evidence import Evidence, Floats, Ints, check, leaf_ranking, once, positive, within
from discorag.schema.retrieval_tree import RetrievalTree


def expand(
    tree: RetrievalTree, scores: Floats, sizes: Ints, limit: int, *, radius: int = 2, owners: Ints | None = None
) -> Evidence:
    """EXPAND: the best leaf and its neighbours outward, then the next best leaf and its, until the budget.

    At each distance from 1 to ``radius`` the better-scored side goes first (the left one if they are equal). A leaf
    that came in as a neighbour still brings its own neighbours when its turn comes.

    Args:
        tree: The nodes; only the number of leaves is used.
        scores: Similarity to the query, shape ``(nodes,)``; only the leaves' are used.
        sizes: Words or tokens of each leaf, shape ``(leaves,)`` or longer.
        limit: Budget in the unit of ``sizes``; see `within`.
        radius: Neighbours on each side.
        owners: For each leaf its document, shape ``(leaves,)``; leaves of two documents are no neighbours. None: one.

    Raises:
        ConfigError: ``radius`` or ``limit`` is below 1.
        InvariantError: Scores or sizes do not belong to the tree.
    """
    positive(radius=radius)
    check(scores, sizes, limit, scored=len(tree.nodes), sized=tree.leaves)
    parts = np.zeros(tree.leaves, np.int64) if owners is None else owners
    outward = (
        leaf for seed in leaf_ranking(scores[: tree.leaves]) for leaf in _outward(int(seed), scores, parts, radius)
    )
    return Evidence.in_text_order(within(once(outward), sizes, limit))


def smoothed(
    tree: RetrievalTree, scores: Floats, sizes: Ints, limit: int, *, radius: int = 1, owners: Ints | None = None
) -> Evidence:
    """The best leaves by `smooth` scores. Arguments and errors are those of `expand`."""
    positive(radius=radius)
    check(scores, sizes, limit, scored=len(tree.nodes), sized=tree.leaves)
    own = scores[: tree.leaves]
    parts = [own] if owners is None else np.split(own, np.flatnonzero(np.diff(owners)) + 1)
    order = leaf_ranking(np.concatenate([smooth(part, radius) for part in parts]))
    return Evidence.in_text_order(within((int(leaf) for leaf in order), sizes, limit))


def smooth(scores: Floats, radius: int) -> Floats:
    """For each leaf the mean score of the leaves at most ``radius`` away, itself among them, shape ``(leaves,)``."""
    view = np.lib.stride_tricks.sliding_window_view
    total = view(np.pad(scores, radius), 2 * radius + 1).sum(axis=1)
    return total / view(np.pad(np.ones(len(scores)), radius), 2 * radius + 1).sum(axis=1)


def _outward(seed: int, scores: Floats, owners: Ints, radius: int) -> Iterator[int]:
    yield seed
    for distance in range(1, radius + 1):
        sides = (leaf for leaf in (seed - distance, seed + distance) if 0 <= leaf < len(owners))
        yield from sorted((leaf for leaf in sides if owners[leaf] == owners[seed]), key=lambda leaf: -scores[leaf])
