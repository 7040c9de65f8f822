"""From scored nodes to evidence within a budget.

A selector returns nodes of a tree, none twice, whose texts are the evidence, in reading order. ``scores`` are the
similarities of all nodes to the question (higher is better), ``sizes`` their words or tokens, both of shape (nodes,).
``limit`` is the budget in the unit of ``sizes`` (`within_budget`).

Sources: DISRetrieval, section 3.3, algorithm 1 and section E.2 (k = 5); RAPTOR, section 3 (querying) and appendix F.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from discorag.store.outline import TreeArrays

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
Nodes = tuple[int, ...]


def leaf_ranking(scores: Floats) -> list[int]:
    """Leaves by their own scores, best first; equal scores in text order."""
    return np.argsort(-scores, kind="stable").tolist()


def within_budget(order: Iterable[int], sizes: Ints, limit: int) -> Nodes:
    """The nodes at the beginning of ``order`` (best first) whose sizes together stay within the limit.

    It stops before the first node that would exceed the limit, even if a smaller one follows. The best node is kept
    even if it exceeds the limit, since an answer needs some evidence; the papers do not mention this case.
    """
    chosen: list[int] = []
    spent = 0
    for node in order:
        spent += int(sizes[node])
        if chosen and spent > limit:
            break
        chosen.append(node)
    return tuple(chosen)


def in_text_order(tree: TreeArrays, nodes: Iterable[int]) -> Nodes:
    """The nodes by their first leaf; a node before those above it."""
    return tuple(sorted(nodes, key=lambda node: (int(tree.first_leaf[node]), node)))


def best_leaves(tree: TreeArrays, scores: Floats, sizes: Ints, limit: int) -> Nodes:
    """The best leaves, in text order: flat retrieval."""
    return in_text_order(tree, within_budget(leaf_ranking(scores[: tree.leaves]), sizes, limit))


def algorithm1(tree: TreeArrays, scores: Floats, sizes: Ints, limit: int, *, k: int = 5) -> Nodes:
    """The leaves that DISRetrieval's algorithm 1 chooses, in text order; each inner node gives at most ``k`` of them.

    The sum of the leaves' ``sizes`` (words or tokens) stays within ``limit``, as in the paper's experiments. The
    printed algorithm limits the number of leaves instead, and tests it after each node, not after each leaf.
    """
    return in_text_order(tree, within_budget(leaves_by_node(tree, scores, k), sizes, limit))


def ranking(tree: TreeArrays, scores: Floats) -> list[int]:
    """The nodes of all layers, best first; nodes with equal scores in text order, a child before its parent."""
    return np.lexsort((tree.first_leaf, -scores)).tolist()


def leaves_by_node(tree: TreeArrays, scores: Floats, k: int) -> Iterator[int]:
    """Leaves in the order in which algorithm 1 chooses them, each once.

    It goes through all nodes by score: a leaf is chosen, an inner node gives its ``k`` best leaves not yet chosen.
    """
    left = tree.leaves
    rank = np.empty(left, np.int64)
    rank[leaf_ranking(scores[:left])] = np.arange(left)
    used = np.zeros(left, np.bool_)
    for node in ranking(tree, scores):
        if left == 0:
            return
        leaves = tree.leaves_below(node)
        unused = leaves[~used[leaves]]
        best = unused[np.argsort(rank[unused])[:k]]
        used[best] = True
        left -= len(best)
        yield from best.tolist()


def collapsed_tree(tree: TreeArrays, scores: Floats, sizes: Ints, limit: int) -> Nodes:
    """RAPTOR's collapsed tree: the best nodes of all layers until the budget, which the paper sets to 2,000 tokens.

    Nodes are in the order of their rank. A node and a node above it may both be chosen, as in the paper. The sum may
    equal the limit, as in the paper's text; in its appendix F it stays below.
    """
    return within_budget(ranking(tree, scores), sizes, limit)


def traversal(tree: TreeArrays, scores: Floats, sizes: Ints, limit: int, *, k: int = 5) -> Nodes:
    """RAPTOR's tree traversal: the k best roots, then the k best of their children, and so on down to the leaves.

    Nodes are in the order of layers from the top, in each by rank. The paper tries several k, and has no budget here.
    If the walk exceeds our budget, fewer nodes of each layer are chosen, so that it still reaches leaves. If even one
    node of each layer is too much, the lowest ones are returned. A node with several parents (cluster trees) is met
    once.
    """
    path: list[int] = []
    for width in range(k, 0, -1):
        path = list(_descend(tree, scores, width))
        if sum(int(sizes[node]) for node in path) <= limit:
            return tuple(path)
    return within_budget(reversed(path), sizes, limit)[::-1]


def _descend(tree: TreeArrays, scores: Floats, k: int) -> Iterator[int]:
    met: set[int] = set()
    pool = set(tree.roots)
    while pool:
        met |= pool
        chosen = sorted(pool, key=lambda node: (-scores[node], tree.first_leaf[node], node))[:k]
        yield from chosen
        pool = {child for node in chosen for child in tree.children_of(node)} - met
