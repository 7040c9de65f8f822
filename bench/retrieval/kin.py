"""An attempt to make trees pay: the best sentences, each with those that the tree ties to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from discorag.trees.choose.evidence import Evidence, Floats, Ints, check, leaf_ranking, once, positive, within
from discorag.types.retrieval_tree import RetrievalTree
from discorag.types.rst_relations import Relation


def kin(
    tree: RetrievalTree,
    scores: Floats,
    sizes: Ints,
    limit: int,
    *,
    widest: int,
    follow: Callable[[str], bool] = lambda _: True,
) -> Evidence:
    """The best leaf with its kin, then the next best leaf and its, until the budget: EXPAND along the tree.

    A leaf's kin are the leaves under its ancestors, from the nearest up; of each ancestor's the better-scored first.

    Args:
        tree: The nodes; no node has two parents.
        scores: Similarity to the query, shape ``(nodes,)``; only the leaves' are used.
        sizes: Words or tokens of each leaf, shape ``(leaves,)`` or longer.
        limit: Budget in the unit of ``sizes``; see `within`.
        widest: Leaves below the highest ancestor that counts, at most.
        follow: Whether kinship goes through a node with this relation; the first one where it does not ends it.

    Raises:
        ConfigError: ``widest`` or ``limit`` is below 1.
        InvariantError: Scores or sizes do not belong to the tree.
    """
    positive(widest=widest)
    check(scores, sizes, limit, scored=len(tree.nodes), sized=tree.leaves)
    seeds = leaf_ranking(scores[: tree.leaves])
    found = (leaf for seed in seeds for leaf in _upward(tree, scores, int(seed), widest, follow))
    return Evidence.in_text_order(within(once(found), sizes, limit))


def related(relation: str) -> bool:
    """Whether a node says more than that its children stand side by side."""
    return relation not in ("", Relation.JOINT)


def _upward(
    tree: RetrievalTree, scores: Floats, leaf: int, widest: int, follow: Callable[[str], bool]
) -> Iterator[int]:
    yield leaf
    above = tree.parents[leaf]
    while above and len(tree.leaves_of[above[0]]) <= widest and follow(tree.nodes[above[0]].relation):
        yield from sorted(tree.leaves_of[above[0]], key=lambda i: -scores[i])
        above = tree.parents[above[0]]
