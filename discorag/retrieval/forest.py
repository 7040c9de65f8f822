"""The retrieval trees of several documents as one, with the vectors and scores of their nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from discorag.models.protocol import Encoder
from discorag.retrieval.builders.base import encode_cut
from discorag.retrieval.selectors import Floats
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import Span, Vectors
from discorag.store.outline import LazyTree, Shape
from discorag.text.tokens import TokenCounter

S = TypeVar("S", bound=np.generic)
NodeVectors = Literal["mean", "text"]
"""How inner nodes are encoded: as the mean of the leaves below, or by their texts."""
NodeScores = Literal["dense", "bm25", "hybrid"]
"""How nodes are scored: cosine of their vectors, BM25 of the leaves below, or both rankings fused."""


class Forest:
    """Documents one after another: first all leaves in reading order, then each document's inner nodes.

    Args:
        trees: Document id -> its tree, in the order in which the documents are read; at least one.
    """

    def __init__(self, trees: Mapping[str, RetrievalTree]) -> None:
        self.documents = tuple(trees)
        self._trees = tuple(trees.values())
        places = np.arange(len(self._trees))
        self.owners = self.join([np.full(len(t.nodes), place) for place, t in enumerate(self._trees)])
        """For each node the index of its document, shape (nodes,)."""
        self._own = self.join([np.arange(len(t.nodes)) for t in self._trees])
        leaves = [t.leaves for t in self._trees]
        inner = [len(t.nodes) - t.leaves for t in self._trees]
        self._first_leaf = np.cumsum([0, *leaves])[places]
        self._first_inner = sum(leaves) + np.cumsum([0, *inner])[places]

    @cached_property
    def shape(self) -> Shape:
        """The structure of `tree`."""
        return Shape.joined([Shape.of(t) for t in self._trees])

    @cached_property
    def tree(self) -> RetrievalTree:
        """All nodes; their spans are still those of their documents, which is why it is not checked again."""
        if len(self._trees) == 1:
            return self._trees[0]
        node = self.shape.node if all(isinstance(t, LazyTree) for t in self._trees) else self._renumbered
        return LazyTree.made(self._trees[0].builder, self.shape, node)

    def _renumbered(self, node: int) -> RetrievalNode:
        document = int(self.owners[node])
        own = self._trees[document].nodes[self.local(node)]
        return own.model_copy(update={"children": tuple(self.number(document, c) for c in own.children)})

    def of(self, document: int) -> RetrievalTree:
        """The tree of one document, by its place."""
        return self._trees[document]

    def number(self, document: int, node: int) -> int:
        """The index in `tree` of a node of one document's tree."""
        leaves = self._trees[document].leaves
        if node < leaves:
            return int(self._first_leaf[document]) + node
        return int(self._first_inner[document]) + node - leaves

    def local(self, node: int) -> int:
        """The index in its document's tree of a node of `tree`."""
        return int(self._own[node])

    def place(self, node: int) -> tuple[str, tuple[Span, ...]]:
        """The document of a node of `tree`, and the spans of it that the node covers."""
        document = int(self.owners[node])
        return self.documents[document], self._trees[document].nodes[self.local(node)].spans

    def join(self, rows: Sequence[NDArray[S]]) -> NDArray[S]:
        """What belongs to the nodes of each document, in its tree's order, in the order of `tree`.

        Args:
            rows: For each document an array of shape (nodes, ...).
        """
        cut = [(r, t.leaves) for r, t in zip(rows, self._trees, strict=True)]
        return np.concatenate([*(r[:at] for r, at in cut), *(r[at:] for r, at in cut)])


@dataclass(frozen=True)
class Scores:
    """The nodes of some documents with what they score for a question.

    Args:
        forest: The trees.
        nodes: Of every node of ``forest.tree``, higher is better, on whatever scale; shape (nodes,).
        sizes: Of every node's text, in words or tokens, shape (nodes,).
        keys: Of each document's tree in the store, in the order of ``forest.documents``; empty where none is stored.
    """

    forest: Forest
    nodes: Floats
    sizes: NDArray[np.int64]
    keys: tuple[str, ...] = ()


def in_tokens(scores: Scores, counter: TokenCounter) -> Scores:
    """The same with sizes in tokens, special ones left out; the nodes must have their texts (`TreeIndex.scores`)."""
    offsets = counter.token_offsets([node.text for node in scores.forest.tree.nodes])
    return replace(scores, sizes=np.array([len(found) for found in offsets], np.int64))


async def node_vectors(tree: RetrievalTree, encoder: Encoder, how: NodeVectors) -> Vectors:
    """Unit vectors of nodes, as `discorag.store.outline.Outline.of` takes them.

    Args:
        tree: Its n nodes.
        encoder: Is asked once; its vectors have length d. It reads of a longer text as much as its window holds.
        how: ``text`` encodes the text of every node, ``mean`` only leaves.

    Returns:
        Shape (n, d) or (leaves, d), float32.

    Source: DISRetrieval section 3.2, "Node Encoding", for ``text``.
    """
    nodes = tree.nodes if how == "text" else tree.nodes[: tree.leaves]
    return await encode_cut(encoder, [node.text for node in nodes])
