"""The retrieval trees of several documents as one, with the vectors and scores of their nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from discorag.models.protocol import Encoder, TokenCounter
from discorag.retrieval.builders.base import encode_cut
from discorag.retrieval.selectors import Floats
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import Span, Vectors
from discorag.store.outline import TreeArrays

S = TypeVar("S", bound=np.generic)
NodeVectors = Literal["mean", "text"]
"""How inner nodes are encoded: as the mean of the leaves below, or by their texts."""
NodeScores = Literal["dense", "bm25", "hybrid"]
"""How nodes are scored: cosine of their vectors, BM25 of the leaves below, or both rankings fused."""


class Forest:
    """Documents one after another: first all leaves in reading order, then each document's inner nodes.

    Args:
        trees: Document id -> its tree, in the order in which the documents are read; at least one.
        texts: The same trees with texts, if these were read.
    """

    def __init__(self, trees: Mapping[str, TreeArrays], texts: Mapping[str, RetrievalTree] | None = None) -> None:
        self.documents = tuple(trees)
        self._trees, self._texts = tuple(trees.values()), tuple((texts or {}).values())
        self.owners = self.join([np.full(len(t.words), place) for place, t in enumerate(self._trees)])
        """The index of each node's document, shape (nodes,)."""
        self._own = self.join([np.arange(len(t.words)) for t in self._trees])
        self._first_leaf = np.cumsum([0, *(t.leaves for t in self._trees)])

    @cached_property
    def tree(self) -> TreeArrays:
        """All nodes as one tree; the spans of leaves are those in their documents."""
        return TreeArrays.join(self._trees)

    def node(self, number: int) -> RetrievalNode:
        """The node at this index of `tree`. The forest must have been read with its texts."""
        return self.of(int(self.owners[number])).nodes[self.local(number)]

    def of(self, document: int) -> RetrievalTree:
        """The tree of the document at this index. The forest must have been read with its texts."""
        return self._texts[document]

    def leaf_number(self, document: int, leaf: int) -> int:
        """Turn the number of a leaf within its document into its index in `tree`, which joins all documents."""
        return int(self._first_leaf[document]) + leaf

    def local(self, node: int) -> int:
        """The index in its document's tree of a node of `tree`."""
        return int(self._own[node])

    def place(self, leaf: int) -> tuple[str, Span]:
        """The document of a leaf of `tree`, and the leaf's span in it."""
        start, end = self.tree.spans[leaf].tolist()
        return self.documents[int(self.owners[leaf])], Span.model_construct(start=start, end=end)

    def join(self, rows: Sequence[NDArray[S]]) -> NDArray[S]:
        """One array in the order of `tree`, from an array for each document's nodes, shape (nodes, ...)."""
        cut = [(r, t.leaves) for r, t in zip(rows, self._trees, strict=True)]
        return np.concatenate([*(r[:at] for r, at in cut), *(r[at:] for r, at in cut)])


@dataclass(frozen=True)
class Scores:
    """The nodes of some documents with their scores for a question, shape (nodes,); higher is better.

    ``sizes`` are the words or tokens of every node's text, shape (nodes,). ``keys`` name the documents' trees in the
    store, in the order of ``forest.documents``.
    """

    forest: Forest
    nodes: Floats
    sizes: NDArray[np.int64]
    keys: tuple[str, ...] = ()


def in_tokens(scores: Scores, counter: TokenCounter) -> Scores:
    """The same with sizes in tokens, without special ones; the nodes must have texts (`TreeIndex.scores`)."""
    offsets = counter.token_offsets([scores.forest.node(node).text for node in range(len(scores.sizes))])
    return replace(scores, sizes=np.array([len(found) for found in offsets], np.int64))


async def node_vectors(tree: RetrievalTree, encoder: Encoder, how: NodeVectors) -> Vectors:
    """Unit vectors of all nodes (``text``), shape (n, d), or of leaves alone (``mean``), shape (leaves, d); float32.

    Source: DISRetrieval section 3.2, "Node Encoding", for ``text``.
    """
    nodes = tree.nodes if how == "text" else tree.nodes[: tree.leaves]
    return await encode_cut(encoder, [node.text for node in nodes])
