"""What selectors return, and what they share: a ranking, ties by text order, and a budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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

    Example:
        >>> from discorag.retrieval.selectors.evidence import Evidence
        >>> Evidence.as_given(tree, [1, 0]), Evidence.in_text_order([1, 0])
        (Evidence(leaves=(0, 1), nodes=(1, 0)), Evidence(leaves=(0, 1), nodes=(0, 1)))
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


def once(leaves: Iterable[int]) -> Iterator[int]:
    """Each leaf where it comes first."""
    met: set[int] = set()
    for leaf in leaves:
        if leaf not in met:
            met.add(leaf)
            yield leaf


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
