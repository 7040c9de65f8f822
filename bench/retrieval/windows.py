"""Algorithm 1 over all windows, which are runs of adjacent leaves, in place of inner nodes.

Which of them may be chosen is given: all, or those that follow a tree's borders
(`discorag.trees.builders.borders.snapped_windows`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discorag.trees.choose.algorithm1 import choices
from discorag.trees.choose.evidence import Evidence, Floats, Ints, check, leaf_ranking, positive, within
from discorag.types.errors import InvariantError
from discorag.types.retrieval_tree import RetrievalTree

Bools = NDArray[np.bool_]


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
