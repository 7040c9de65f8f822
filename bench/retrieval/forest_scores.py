"""A question's scores of all nodes of its documents, by vectors or by BM25."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from bench.retrieval.bm25 import Bm25
from discorag.hierarchy.forest import Forest
from discorag.hierarchy.retrieval_tree import RetrievalTree
from discorag.hierarchy.selectors.windows import window_scores
from discorag.hierarchy.summarise import count_words
from discorag.store.protocol import Vectors

T = TypeVar("T")


class Grown:
    """A forest with its vectors, and what questions about the same documents share.

    Args:
        forest: The documents' trees.
        vectors: Of all its nodes, shape (nodes, d).
        bm25: Over its leaves.
    """

    def __init__(self, forest: Forest, vectors: Vectors, bm25: Bm25) -> None:
        self.bm25 = bm25
        self.forest, self.tree, self.vectors = forest, forest.tree, vectors
        self.words = np.array([count_words(n.text) for n in self.tree.nodes], dtype=np.int64)
        self._known: dict[str, Any] = {}

    def remember(self, key: str, make: Callable[[], T]) -> T:
        """What ``make`` gives, made once."""
        if key not in self._known:
            self._known[key] = make()
        return cast(T, self._known[key])

    def members(self) -> Any:
        """Sparse matrix of shape (nodes, leaves): 1 where a leaf lies at or below a node."""
        return self.remember("members", lambda: _matrix([list(below) for below in self.tree.leaves_of], self.tree))

    def runs(self, widest: int) -> Any:
        """The same for windows of 1 to ``widest`` leaves, row ``start * widest + width - 1``; empty past the end."""
        return self.remember(f"runs{widest}", lambda: _runs(self.tree.leaves, widest))


class Scored:
    """The scores of one question.

    Args:
        grown: The forest.
        question: Its text.
        query: Its vector, shape (d,).
        by: ``dense`` or ``bm25``.
    """

    def __init__(self, grown: Grown, question: str, query: Vectors, by: Literal["dense", "bm25"]) -> None:
        self._grown, self._question, self._query, self._by = grown, question, query, by
        self.tree: RetrievalTree = grown.tree
        self.words: NDArray[np.int64] = grown.words
        self.owners: NDArray[np.int64] = grown.forest.owners
        self.remember = grown.remember
        self._windows: dict[int, NDArray[np.float64]] = {}
        self.nodes: NDArray[np.float64] = (
            (grown.vectors @ query).astype(np.float64)
            if by == "dense"
            else grown.bm25.scores(question, grown.members())
        )

    def windows(self, widest: int) -> NDArray[np.float64]:
        """Scores of windows of 1 to ``widest`` leaves of one document, shape (leaves, widest); -inf for others."""
        if widest not in self._windows:
            self._windows[widest] = self._scored_windows(widest)
        return self._windows[widest]

    def _scored_windows(self, widest: int) -> NDArray[np.float64]:
        leaves = self.tree.leaves
        if self._by == "dense":
            scores = np.asarray(window_scores(self._grown.vectors[:leaves], self._query, widest), dtype=np.float64)
        else:
            flat = self._grown.bm25.scores(self._question, self._grown.runs(widest))
            scores = flat.reshape(leaves, widest)
        return np.where(
            self.remember(f"own{widest}", lambda: _one_document(self._grown.forest, widest)), scores, -np.inf
        )


def _one_document(forest: Forest, widest: int) -> NDArray[np.bool_]:
    owners = forest.owners
    last = np.arange(len(owners))[:, None] + np.arange(widest)
    inside = last < len(owners)
    return inside & (owners[np.minimum(last, len(owners) - 1)] == owners[:, None])


def _runs(leaves: int, widest: int) -> Any:
    from scipy.sparse import csr_matrix

    starts, widths = np.repeat(np.arange(leaves), widest), np.tile(np.arange(1, widest + 1), leaves)
    widths = np.where(starts + widths <= leaves, widths, 0)
    ends: NDArray[np.int64] = np.concatenate([[0], np.cumsum(widths)])
    columns = np.arange(int(ends[-1])) - np.repeat(ends[:-1] - starts, widths)
    return csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(widths), leaves))


def _matrix(groups: list[list[int]], tree: RetrievalTree) -> Any:
    from scipy.sparse import csr_matrix

    ends = np.cumsum([0, *map(len, groups)])
    columns = np.array([i for group in groups for i in group], dtype=np.int64)
    return csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(groups), tree.leaves))
