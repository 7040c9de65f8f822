"""Selectors that give the nodes' own texts, summaries among them: RAPTOR's collapsed tree and traversal, HTSIR's set.

Sources: RAPTOR, section 3 (querying) and appendix F; HTSIR, "Collapsed Tree Search Strategy", with k = 10 by
"Experiment Settings". All take sizes of shape ``(nodes,)``: summaries count with their own length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from discorag.retrieval.selectors.evidence import Evidence, Floats, Ints, check, positive, ranking, within
from discorag.schema.retrieval_tree import RetrievalTree


def collapsed_tree(tree: RetrievalTree, scores: Floats, sizes: Ints, limit: int) -> Evidence:
    """RAPTOR's collapsed tree: the best nodes of all layers until the budget, which the paper sets to 2,000 tokens.

    Nodes are given by rank. A node and one above it may both be chosen, as in the paper. Appendix F has the sum stay
    below the limit, its text has it not exceed the limit: the latter is done here.

    Args:
        tree: The nodes.
        scores: Similarity of every node to the query, shape ``(nodes,)``, higher is better.
        sizes: Tokens of every node, shape ``(nodes,)``.
        limit: Budget in the unit of ``sizes``; see `within`.

    Raises:
        ConfigError: ``limit`` is below 1.
        InvariantError: Scores or sizes do not belong to the tree.
    """
    return collapsed_set(tree, scores, sizes, limit, k=len(tree.nodes))


def collapsed_set(tree: RetrievalTree, scores: Floats, sizes: Ints, limit: int, *, k: int = 10) -> Evidence:
    """HTSIR's candidates for a reranker: the k best nodes of all layers by rank, as far as the budget goes.

    The paper bounds the number only: a limit of the sum of all sizes is its setting.

    Args:
        tree: The nodes.
        scores: Similarity of every node to the query, shape ``(nodes,)``, higher is better.
        sizes: Words or tokens of every node, shape ``(nodes,)``.
        limit: Budget in the unit of ``sizes``; see `within`.
        k: How many nodes at most.

    Raises:
        ConfigError: ``k`` or ``limit`` is below 1.
        InvariantError: Scores or sizes do not belong to the tree.
    """
    positive(k=k)
    check(scores, sizes, limit, scored=len(tree.nodes), sized=len(tree.nodes))
    best = (int(node) for node in ranking(tree, scores)[:k])
    return Evidence.as_given(tree, within(best, sizes, limit))


def traversal(
    tree: RetrievalTree,
    scores: Floats,
    sizes: Ints,
    limit: int,
    *,
    k: int = 5,
    threshold: float | None = None,
) -> Evidence:
    """RAPTOR's tree traversal: the best roots, then the best of their children, and so on down to the leaves.

    Nodes are given layer by layer from the top, by rank in each. The paper has no budget here, but finds the share of
    each layer to be constant: where the walk exceeds ours, fewer nodes a layer are chosen, so that it reaches leaves
    all the same; where even one a layer is too much, the lowest ones are given. A node that was met before (cluster
    trees) is not met again.

    Args:
        tree: The nodes.
        scores: Similarity of every node to the query, shape ``(nodes,)``, higher is better.
        sizes: Tokens of every node, shape ``(nodes,)``.
        limit: Budget in the unit of ``sizes``; see `within`.
        k: Nodes chosen on each layer, at most; the paper tries several.
        threshold: If given, all nodes of a layer that score at least this are chosen instead of ``k``;
            where none does, there is no evidence.

    Raises:
        ConfigError: ``k`` or ``limit`` is below 1.
        InvariantError: Scores or sizes do not belong to the tree.
    """
    positive(k=k)
    check(scores, sizes, limit, scored=len(tree.nodes), sized=len(tree.nodes))
    path = list[int]()
    for width in range(k, 0, -1):
        path = list(_descend(tree, scores, width, threshold))
        if sum(int(sizes[node]) for node in path) <= limit:
            return Evidence.as_given(tree, path)
    return Evidence.as_given(tree, reversed(within(reversed(path), sizes, limit)))


def _descend(tree: RetrievalTree, scores: Floats, k: int, threshold: float | None) -> Iterator[int]:
    met: set[int] = set()
    pool = set(tree.roots)
    while pool:
        met |= pool
        layer = _best(tree, pool, scores)
        chosen = layer[:k] if threshold is None else [node for node in layer if scores[node] >= threshold]
        yield from chosen
        pool = {child for node in chosen for child in tree.nodes[node].children} - met


def _best(tree: RetrievalTree, pool: Iterable[int], scores: Floats) -> list[int]:
    return sorted(pool, key=lambda node: (-scores[node], tree.first_leaf[node], node))
