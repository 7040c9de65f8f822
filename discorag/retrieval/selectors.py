"""From scored nodes to evidence within a budget.

Sources: DISRetrieval, section 3.3, algorithm 1, figure 4 (the variants) and section E.2 (k = 5); RAPTOR, section 3
(querying) and appendix F; HTSIR, "Collapsed Tree Search Strategy", k = 10 by "Experiment Settings".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discorag.schema.errors import ConfigError, InvariantError
from discorag.schema.retrieval_tree import RetrievalTree

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]


@dataclass(frozen=True)
class Evidence:
    """What a selector chose of one tree.

    Args:
        leaves: The leaves whose own text is evidence, always in text order, none twice.
        nodes: Every node whose own text is evidence, leaves among them, in the order in which the text is given.
            Equal to ``leaves`` for selectors that give leaves in text order.
    """

    leaves: tuple[int, ...]
    nodes: tuple[int, ...]

    @classmethod
    def in_text_order(cls, leaves: Iterable[int]) -> Evidence:
        """Leaves only, given in text order."""
        ordered = tuple(sorted(leaves))
        return cls(leaves=ordered, nodes=ordered)

    @classmethod
    def as_given(cls, tree: RetrievalTree, nodes: Iterable[int]) -> Evidence:
        """Nodes of any layer, given in this order."""
        given = tuple(nodes)
        return cls(leaves=tuple(sorted(i for i in given if i < tree.leaves)), nodes=given)


class Selector(Protocol):
    """Chooses evidence by the scores of a tree's nodes."""

    def __call__(self, tree: RetrievalTree, scores: Floats, sizes: Ints, limit: int) -> Evidence:
        """Evidence within ``limit``, for ``scores`` and ``sizes`` of shape ``(nodes,)``."""
        ...


def positive(**values: int) -> None:
    """Check parameters that count something.

    Raises:
        ConfigError: One of them is below 1.
    """
    for name, value in values.items():
        if value < 1:
            raise ConfigError(f"{name} is {value}.", hint="Use 1 or more.")


def check(scores: Floats, sizes: Ints, limit: int, *, scored: int, sized: int) -> None:
    """Check what a selector is given: one finite score for each of ``scored`` nodes, a size for the first ``sized``.

    Raises:
        ConfigError: The limit is below 1.
        InvariantError: A score is not a finite number, or scores or sizes do not belong to the tree.
    """
    positive(limit=limit)
    if scores.shape != (scored,) or sizes.ndim != 1 or len(sizes) < sized:
        raise InvariantError(
            f"Scores have shape {scores.shape}, sizes {sizes.shape}, for {scored} scores and {sized} sizes.",
            hint="Give one score a node, and sizes in the order of the tree's nodes.",
        )
    if not np.isfinite(scores).all():
        first = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise InvariantError(f"The score of node {first} is {scores[first]}.", hint="Give finite similarities.")


def ranking(tree: RetrievalTree, scores: Floats) -> Ints:
    """All nodes, best first, shape ``(nodes,)``; equal scores in text order, and a child before its parent."""
    return np.lexsort((tree.first_leaf, -scores))


def leaf_ranking(scores: Floats) -> Ints:
    """Leaves by their own scores, best first; equal scores in text order."""
    return np.argsort(-scores, kind="stable")


def within(order: Iterable[int], sizes: Ints, limit: int) -> tuple[int, ...]:
    """The longest beginning of ``order`` that keeps to the budget.

    It stops before the first node that would exceed the limit and does not look for smaller ones behind it. The best
    node is kept even if it alone exceeds the limit, on which the papers are silent: no evidence would help nobody.

    Args:
        order: Nodes, best first; only as many are drawn as are needed.
        sizes: Words or tokens of each node, shape ``(nodes,)``.
        limit: Budget in the unit of ``sizes``.
    """
    chosen: list[int] = []
    spent = 0
    for node in order:
        spent += int(sizes[node])
        if chosen and spent > limit:
            break
        chosen.append(node)
    return tuple(chosen)


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

    Arguments and errors are those of `collapsed_tree`; ``k``, 1 or more, is how many nodes at most.
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

    Arguments and errors are those of `collapsed_tree`; ``k``, 1 or more, is how many nodes of each layer at most, of
    which the paper tries several. With a ``threshold`` all nodes of a layer that score at least this are selected
    instead; where none does, there is no evidence.
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
