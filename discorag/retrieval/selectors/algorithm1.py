"""DISRetrieval's evidence selection: ranked nodes, of an inner node its best leaves, all in original order.

Source: DISRetrieval, section 3.3 and algorithm 1; the variants are those of figure 4; k = 5 by section E.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum

import numpy as np

from discorag.retrieval.selectors.evidence import Evidence, Floats, Ints, check, leaf_ranking, positive, ranking, within
from discorag.schema.retrieval_tree import RetrievalTree


class Variant(StrEnum):
    """The five rows of DISRetrieval's figure 4."""

    LEAVES = "leaves"
    """Inner nodes are left out: flat retrieval of leaves."""
    SUMMARIES = "summaries"
    """An inner node contributes its own text instead of leaves."""
    ALL_LEAVES = "all_leaves"
    """An inner node contributes all its leaves that are not chosen yet (k has no bound), the most similar first."""
    RANKING_ORDER = "ranking_order"
    """The top-k leaves of an inner node; evidence is given in the order of choice."""
    ORIGINAL_ORDER = "original_order"
    """The top-k leaves of an inner node; evidence is given in the order of the text: the method itself."""


def algorithm1(
    tree: RetrievalTree,
    scores: Floats,
    sizes: Ints,
    limit: int,
    *,
    k: int = 5,
    variant: Variant = Variant.ORIGINAL_ORDER,
) -> Evidence:
    """Go through all nodes by score: a leaf is chosen, an inner node gives its k best leaves not chosen yet.

    The printed algorithm counts evidence and looks at the count after each node; the paper's experiments, and this
    function, bound its length and look after each leaf. With sizes of 1 the two differ by at most k - 1 leaves.

    Args:
        tree: The nodes.
        scores: Similarity of every node to the query, shape ``(nodes,)``, higher is better.
        sizes: Words or tokens, shape ``(leaves,)`` or longer; ``(nodes,)`` for summaries, whose texts count too.
        limit: Budget in the unit of ``sizes``; see `within`.
        k: Leaves that an inner node may give.
        variant: Which row of figure 4.

    Raises:
        ConfigError: ``k`` or ``limit`` is below 1.
        InvariantError: Scores or sizes do not belong to the tree.
    """
    positive(k=k)
    summaries = variant is Variant.SUMMARIES
    check(scores, sizes, limit, scored=len(tree.nodes), sized=len(tree.nodes) if summaries else tree.leaves)
    if summaries:
        return _summaries(tree, scores, sizes, limit)
    if variant is Variant.LEAVES:
        order = _numbers(leaf_ranking(scores[: tree.leaves]))
    else:
        bound = tree.leaves if variant is Variant.ALL_LEAVES else k
        below = leaves_below(tree)
        order = choices(_numbers(ranking(tree, scores)), below, scores[: tree.leaves], bound)
    chosen = within(order, sizes, limit)
    return Evidence.as_given(tree, chosen) if variant is Variant.RANKING_ORDER else Evidence.in_text_order(chosen)


def choices(ranked: Iterable[int], below: Callable[[int], Ints], scores: Floats, k: int) -> Iterator[int]:
    """Leaves in the order in which algorithm 1 chooses them, each once.

    Args:
        ranked: Nodes, best first.
        below: The leaves of a node; of a leaf, itself.
        scores: Scores of the leaves, shape ``(leaves,)``.
        k: Leaves that a node may give.
    """
    rank = np.empty(len(scores), np.int64)
    rank[leaf_ranking(scores)] = np.arange(len(scores))
    used = np.zeros(len(scores), np.bool_)
    left = len(scores)
    for node in ranked:
        if left == 0:
            return
        leaves = below(node)
        unused = leaves[~used[leaves]]
        best = unused[np.argsort(rank[unused])[:k]]
        used[best] = True
        left -= len(best)
        yield from _numbers(best)


def leaves_below(tree: RetrievalTree) -> Callable[[int], Ints]:
    """A function from a node to the leaves at or below it, which walks the tree only where it is asked."""
    nodes, count = tree.nodes, tree.leaves

    def below(node: int) -> Ints:
        found: set[int] = set()
        ahead = [node]
        while ahead:
            children = nodes[ahead.pop()].children
            fresh = [child for child in children if child not in found]
            found.update(fresh)
            ahead.extend(child for child in fresh if child >= count)
        return np.array([i for i in found if i < count] or [node], np.int64)

    return below


def _summaries(tree: RetrievalTree, scores: Floats, sizes: Ints, limit: int) -> Evidence:
    chosen = within(_numbers(ranking(tree, scores)), sizes, limit)
    starts = tree.first_leaf
    return Evidence.as_given(tree, sorted(chosen, key=lambda node: (int(starts[node]), node)))


def _numbers(array: Ints) -> Iterator[int]:
    return (int(i) for i in array)
