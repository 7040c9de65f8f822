"""The retrieval trees of several documents as one, so that a selector chooses among all their nodes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.span import Span
from discorag.store.outline import LazyTree, Shape

S = TypeVar("S", bound=np.generic)


class Forest:
    """Documents one after another: first all leaves in reading order, then each document's inner nodes.

    Args:
        trees: Document id -> its tree, in the order in which the documents are read; at least one.

    Example:
        >>> from discorag.retrieval.forest import Forest
        >>> forest = Forest({"a": tree, "b": tree})
        >>> forest.tree.leaves, forest.number(1, 0), forest.owners.tolist()
        (4, 2, [0, 0, 1, 1])
    """

    def __init__(self, trees: Mapping[str, RetrievalTree]) -> None:
        self.documents = tuple(trees)
        self._trees = tuple(trees.values())
        self._leaves = [0, *accumulate(t.leaves for t in self._trees)]
        self._inner = [0, *accumulate(len(t.nodes) - t.leaves for t in self._trees)]

    @cached_property
    def shape(self) -> Shape:
        """The structure of `tree`."""
        return Shape.joined([Shape.of(t) for t in self._trees])

    @cached_property
    def tree(self) -> RetrievalTree:
        """All nodes; their spans are still those of their documents, which is why it is not checked again."""
        if len(self._trees) == 1:
            return self._trees[0]
        node = self.shape.node if all(isinstance(t, LazyTree) for t in self._trees) else self._moved
        return LazyTree.made(self._trees[0].builder, self.shape, node)

    def _moved(self, node: int) -> RetrievalNode:
        document, own = self._at(node)
        found = self._trees[document].nodes[own]
        return found.model_copy(update={"children": tuple(self.number(document, c) for c in found.children)})

    def _at(self, node: int) -> tuple[int, int]:
        """The document of a node of `tree`, by its place, and the node's index in that document's tree."""
        if node < self._leaves[-1]:
            document = bisect_right(self._leaves, node) - 1
            return document, node - self._leaves[document]
        beyond = node - self._leaves[-1]
        document = bisect_right(self._inner, beyond) - 1
        return document, beyond - self._inner[document] + self._trees[document].leaves

    @property
    def words(self) -> NDArray[np.int64]:
        """Words of every node's text, shape (nodes,)."""
        return self.tree.words

    def of(self, document: int) -> RetrievalTree:
        """The tree of one document, by its place."""
        return self._trees[document]

    def number(self, document: int, node: int) -> int:
        """The index in `tree` of a node of one document's tree."""
        own = self._trees[document].leaves
        if node < own:
            return self._leaves[document] + node
        return self._leaves[-1] + self._inner[document] + node - own

    def local(self, node: int) -> int:
        """The index in its document's tree of a node of `tree`."""
        return self._at(node)[1]

    def document(self, node: int) -> str:
        """The document of a node of `tree`."""
        return self.documents[self._at(node)[0]]

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
        document, own = self._at(node)
        return self.documents[document], self._trees[document].nodes[own].spans
