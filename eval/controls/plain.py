"""Controls over plain Python values, for a structured RAG that is not ours: edges, trees and plans over any things.

Each keeps the size and the labels of a structure, and forgets what they have to do with the text. If the answers are as
good with it, they are not better because of what the structure says.
"""

from collections.abc import Hashable, Mapping, Sequence
from random import Random
from typing import TypeAlias, TypeVar

from eval.controls.drawing import permute

T = TypeVar("T")
N = TypeVar("N", bound=Hashable)
L = TypeVar("L", bound=Hashable)
K = TypeVar("K", bound=Hashable)
Edge: TypeAlias = tuple[N, L, N]
"""Where it starts, its label, and where it ends."""
Tree: TypeAlias = T | tuple["Tree[T]", "Tree[T]"]
"""A leaf, or two trees next to each other."""


def permute_edges(nodes: Sequence[N], edges: Sequence[Edge[N, L]], random: Random) -> list[Edge[N, L]]:
    """The same edges between other nodes: as many, with the same labels and the same shape.

    Args:
        nodes: All nodes of the graph, also those without edges.
        edges: Between them.
        random: Draws the nodes.

    Raises:
        KeyError: An edge names a node that is not among the nodes.
    """

    def move(other: Mapping[N, N]) -> list[Edge[N, L]]:
        return [(other[source], label, other[target]) for source, label, target in edges]

    if not edges:
        return []
    return permute(list(dict.fromkeys(nodes)), random, move, lambda moved: set(moved) == set(edges))


def shuffle_labels(edges: Sequence[Edge[N, L]], random: Random) -> list[Edge[N, L]]:
    """The same edges, with their labels in another order, wherever that is another structure."""

    def move(other: Mapping[int, int]) -> list[Edge[N, L]]:
        return [(source, edges[other[i]][1], target) for i, (source, _, target) in enumerate(edges)]

    return permute(range(len(edges)), random, move, lambda moved: moved == list(edges))


def random_tree(leaves: Sequence[T], random: Random) -> Tree[T]:
    """A random binary tree over the leaves, in their order: two neighbours at a time become one.

    Raises:
        IndexError: There are no leaves.
    """
    parts: list[Tree[T]] = list(leaves)
    while len(parts) > 1:
        at = random.randrange(len(parts) - 1)
        parts[at : at + 2] = [(parts[at], parts[at + 1])]
    return parts[0]


def right_branching_tree(leaves: Sequence[T]) -> Tree[T]:
    """Each leaf next to all that follow.

    Raises:
        IndexError: There are no leaves.
    """
    tree: Tree[T] = leaves[-1]
    for leaf in reversed(leaves[:-1]):
        tree = (leaf, tree)
    return tree


def exchange(structures: Mapping[K, T], random: Random) -> dict[K, T]:
    """For each question the structure (a plan, say) of another one; with a single question its own."""
    order = random.sample(list(structures), len(structures))
    return {key: structures[other] for key, other in zip(order, [*order[1:], *order[:1]], strict=True)}
