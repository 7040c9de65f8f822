"""BM25 over the nodes of a forest: a node's terms are those of the leaves below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discorag.text.terms import K1, B, terms

Floats = NDArray[np.float64]


class Bm25:
    """Term counts of texts, to be added up over groups of them.

    Args:
        texts: Of the leaves, in order.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        from scipy.sparse import csr_matrix

        counts = [Counter(terms(text)) for text in texts]
        self._index = {term: i for i, term in enumerate(dict.fromkeys(t for c in counts for t in c))}
        ends = np.cumsum([0, *map(len, counts)])
        columns = np.array([self._index[t] for c in counts for t in c], dtype=np.int64)
        values = np.array([n for c in counts for n in c.values()], dtype=np.float64)
        shape = (len(texts), max(len(self._index), 1))
        self._counts: Any = csr_matrix((values, columns, ends), shape=shape)
        seen = np.bincount(columns, minlength=shape[1])
        self._idf = np.log1p((len(texts) - seen + 0.5) / (seen + 0.5))
        self._lengths = np.asarray(self._counts.sum(axis=1)).ravel()

    def scores(self, query: str, groups: Any) -> Floats:
        """BM25 of every group, its length against the groups' mean; shape (groups,).

        Args:
            query: Any text.
            groups: Sparse matrix of shape (groups, leaves): 1 where a group holds a leaf.
        """
        columns = sorted({self._index[t] for t in terms(query) if t in self._index})
        lengths = groups @ self._lengths
        if not columns:
            return np.zeros(len(lengths))
        found = np.asarray((groups @ self._counts[:, columns]).todense())
        norm = K1 * (1 - B + B * lengths / max(lengths.mean(), 1e-9))
        return (found * (K1 + 1) / (found + norm[:, None])) @ self._idf[columns]
