"""The retrieval trees of several documents as one, so that a selector chooses among all their nodes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from discorag.hierarchy.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.text.span import Span

S = TypeVar("S", bound=np.generic)


class Forest:
    """Documents one after another: first all leaves in reading order, then each document's inner nodes.

    Args:
        trees: Document id -> its tree, in the order in which the documents are read; at least one.
    """

    def __init__(self, trees: Mapping[str, RetrievalTree]) -> None:
        self.documents = tuple(trees)
        self._trees = tuple(trees.values())
        self._leaves = [0, *accumulate(t.leaves for t in self._trees)]
        self._inner = [0, *accumulate(len(t.nodes) - t.leaves for t in self._trees)]

    @cached_property
    def tree(self) -> RetrievalTree:
        """All nodes; their spans are still those of their documents, which is why it is not checked again."""
        if len(self._trees) == 1:
            return self._trees[0]
        leaves = [n for t in self._trees for n in t.nodes[: t.leaves]]
        inner = [self._moved(d, n) for d, t in enumerate(self._trees) for n in t.nodes[t.leaves :]]
        return RetrievalTree.model_construct(builder=self._trees[0].builder, nodes=(*leaves, *inner))

    def _moved(self, document: int, node: RetrievalNode) -> RetrievalNode:
        children = tuple(self.number(document, c) for c in node.children)
        return RetrievalNode.model_construct(
            text=node.text,
            spans=node.spans,
            children=children,
            layer=node.layer,
            heading=node.heading,
            relation=node.relation,
        )

    @property
    def words(self) -> NDArray[np.int64]:
        """Words of every node's text, shape (nodes,)."""
        return self.together([t.words for t in self._trees])

    def of(self, document: int) -> RetrievalTree:
        """The tree of one document, by its place."""
        return self._trees[document]

    def number(self, document: int, node: int) -> int:
        """The index in `tree` of a node of one document's tree."""
        own = self._trees[document].leaves
        if node < own:
            return self._leaves[document] + node
        return self._leaves[-1] + self._inner[document] + node - own

    def local(self, leaf: int) -> int:
        """The index in its document's tree of a leaf of `tree`."""
        return leaf - self._leaves[int(self.owners[leaf])]

    def together(self, rows: Sequence[NDArray[S]]) -> NDArray[S]:
        """What belongs to the nodes of each document, in its tree's order, in the order of `tree`.

        Args:
            rows: For each document an array of shape (nodes, ...).
        """
        cut = [(r, t.leaves) for r, t in zip(rows, self._trees, strict=True)]
        return np.concatenate([*(r[:at] for r, at in cut), *(r[at:] for r, at in cut)])

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """For each leaf the index of its document, shape (leaves,)."""
        return np.repeat(np.arange(len(self._trees)), [t.leaves for t in self._trees])

    def place(self, node: int) -> tuple[str, tuple[Span, ...]]:
        """The document of a node of `tree`, and the spans of it that the node covers."""
        if node < self._leaves[-1]:
            document = bisect_right(self._leaves, node) - 1
            own = node - self._leaves[document]
        else:
            beyond = node - self._leaves[-1]
            document = bisect_right(self._inner, beyond) - 1
            own = beyond - self._inner[document] + self._trees[document].leaves
        return self.documents[document], self._trees[document].nodes[own].spans
