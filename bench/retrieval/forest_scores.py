"""A question's scores of all nodes of its documents, by vectors or by BM25."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from bench.retrieval.bm25 import Bm25
from discorag.hierarchy.forest import Forest
from discorag.hierarchy.retrieval_tree import RetrievalTree
from discorag.hierarchy.selectors.windows import window_scores
from discorag.store.protocol import Vectors

T = TypeVar("T")
Floats = NDArray[np.float64]
_RRF = 60


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
        self.words = forest.words
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


By = Literal["dense", "bm25", "hybrid"]


class Scored:
    """The scores of one question.

    Args:
        grown: The forest.
        question: Its text.
        query: Its vector, shape (d,).
        by: ``dense``, ``bm25``, or ``hybrid``: both rankings fused by reciprocal ranks.
    """

    def __init__(self, grown: Grown, question: str, query: Vectors, by: By) -> None:
        self._grown, self._question, self._query, self._by = grown, question, query, by
        self.tree: RetrievalTree = grown.tree
        self.words: NDArray[np.int64] = grown.words
        self.owners: NDArray[np.int64] = grown.forest.owners
        self.remember = grown.remember
        self._windows: dict[int, Floats] = {}
        self.nodes: Floats = self._fused(self._dense, lambda: grown.bm25.scores(question, grown.members()))

    def windows(self, widest: int) -> Floats:
        """Scores of windows of 1 to ``widest`` leaves of one document, shape (leaves, widest); -inf for others."""
        if widest not in self._windows:
            inside = self.remember(f"own{widest}", lambda: _one_document(self._grown.forest, widest))
            found = np.full(inside.shape, -np.inf)
            dense, bm25 = partial(self._dense_windows, widest), partial(self._bm25_windows, widest)
            found[inside] = self._fused(lambda: dense()[inside], lambda: bm25()[inside])
            self._windows[widest] = found
        return self._windows[widest]

    def _dense(self) -> Floats:
        return (self._grown.vectors @ self._query).astype(np.float64)

    def _dense_windows(self, widest: int) -> Floats:
        return np.asarray(window_scores(self._grown.vectors[: self.tree.leaves], self._query, widest), np.float64)

    def _bm25_windows(self, widest: int) -> Floats:
        return self._grown.bm25.scores(self._question, self._grown.runs(widest)).reshape(-1, widest)

    def _fused(self, dense: Callable[[], Floats], bm25: Callable[[], Floats]) -> Floats:
        if self._by == "hybrid":
            return _reciprocal(dense()) + _reciprocal(bm25())
        return dense() if self._by == "dense" else bm25()


def _reciprocal(scores: Floats) -> Floats:
    """1 / (60 + rank), the best of rank 1; equal scores in order."""
    found = np.empty(len(scores))
    found[np.argsort(-scores, kind="stable")] = 1 / (_RRF + 1 + np.arange(len(scores)))
    return found


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
