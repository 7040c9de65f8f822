"""A question's scores of all nodes of its documents, by vectors or by BM25."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from bench.retrieval.windows import window_scores
from discorag.text.bm25 import Bm25, Runs
from discorag.trees.forest import Forest
from discorag.trees.index import fused
from discorag.trees.scores import NodeScores
from discorag.types.retrieval_tree import RetrievalTree
from discorag.types.vectors import Vectors

T = TypeVar("T")
Floats = NDArray[np.float64]


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

    def windows(self, widest: int) -> Runs:
        """Windows of 1 to ``widest`` leaves, number ``start * widest + width - 1``; empty past the end."""
        return self.remember(f"runs{widest}", lambda: _windows(self.tree.leaves, widest))


class Scored:
    """The scores of one question.

    Args:
        grown: The forest.
        question: Its text.
        query: Its vector, shape (d,).
        by: ``dense``, ``bm25``, or ``hybrid``: both rankings fused by reciprocal ranks.
    """

    def __init__(self, grown: Grown, question: str, query: Vectors, by: NodeScores) -> None:
        self._grown, self._query = grown, query
        self.forest, self.question = grown.forest, question
        self._by: NodeScores = by
        self.tree: RetrievalTree = grown.tree
        self.words: NDArray[np.int64] = grown.words
        self.owners: NDArray[np.int64] = grown.forest.owners
        self.remember = grown.remember
        self._windows: dict[int, Floats] = {}
        self.nodes: Floats = self._fused(self._dense, lambda: grown.bm25.scores(question, grown.forest.shape.groups))

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
        return self._grown.bm25.scores(self.question, self._grown.windows(widest)).reshape(-1, widest)

    def _fused(self, dense: Callable[[], Floats], bm25: Callable[[], Floats]) -> Floats:
        return fused(self._by, dense, bm25).astype(np.float64)


def _one_document(forest: Forest, widest: int) -> NDArray[np.bool_]:
    owners = forest.owners
    last = np.arange(len(owners))[:, None] + np.arange(widest)
    inside = last < len(owners)
    return inside & (owners[np.minimum(last, len(owners) - 1)] == owners[:, None])


def _windows(leaves: int, widest: int) -> Runs:
    starts, widths = np.repeat(np.arange(leaves), widest), np.tile(np.arange(1, widest + 1), leaves)
    stops = np.where(starts + widths <= leaves, starts + widths, starts)
    return Runs(np.arange(len(starts)), starts, stops)
