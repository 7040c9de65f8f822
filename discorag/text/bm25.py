"""BM25 over groups of leaves, whose terms are those of their leaves.

An inner node of a retrieval tree is such a group, whatever its own text is.

Source of the formula: Robertson and Zaragoza 2009, section 3.4.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discorag.text.terms import K1, B, term_id, terms

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.integer]


@dataclass(frozen=True)
class Runs:
    """Groups of leaves, each as runs of adjacent leaves: ``[starts[j], stops[j])``, which may be empty.

    Args:
        first: Index of every group's first run, shape (groups,), ascending; each group has at least one run.
        starts, stops: Shape (runs,).
    """

    first: Ints
    starts: Ints
    stops: Ints

    @classmethod
    def join(cls, parts: Sequence[Self], leaves: Ints) -> Self:
        """The groups of several texts one after another; ``leaves`` are the numbers of leaves before each text."""
        before = np.cumsum([0, *(len(p.starts) for p in parts)])[:-1]
        return cls(
            np.concatenate([p.first + at for p, at in zip(parts, before, strict=True)]),
            np.concatenate([p.starts + at for p, at in zip(parts, leaves, strict=True)]),
            np.concatenate([p.stops + at for p, at in zip(parts, leaves, strict=True)]),
        )

    def sums(self, cumulative: Floats) -> Floats:
        """Sums of values over the leaves of every group, shape (groups, ...).

        Row i of ``cumulative``, shape (leaves + 1, ...), is the sum of the values of the first i leaves.
        """
        parts = cumulative[self.stops] - cumulative[self.starts]
        return parts if len(self.first) == len(parts) else np.add.reduceat(parts, self.first)


@dataclass(frozen=True)
class TermCounts:
    """How often which search terms occur in each of several texts.

    Args:
        ends: The number of entries of the first i texts, shape (texts + 1,).
        ids: 32-bit xxHash of the entries' terms, shape (entries,). A text has one entry for each of its terms.
        counts: How often the entry's term occurs in its text, shape (entries,).
    """

    ends: NDArray[np.uint32]
    ids: NDArray[np.uint32]
    counts: NDArray[np.uint32]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Self:
        """The terms of texts (`discorag.text.terms.terms`)."""
        found = [Counter(map(term_id, terms(text))) for text in texts]
        ids, counts = ([n for c in found for n in part(c)] for part in (Counter[int].keys, Counter[int].values))
        ends = np.cumsum([0, *map(len, found)], dtype=np.uint32)
        return cls(ends, np.array(ids, np.uint32), np.array(counts, np.uint32))

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """The counts of several sequences of texts, one after another."""
        before = np.cumsum([0, *(len(p.ids) for p in parts)], dtype=np.uint32)
        ends = [np.zeros(1, np.uint32), *(p.ends[1:] + at for p, at in zip(parts, before[:-1], strict=True))]
        return cls(
            np.concatenate(ends), np.concatenate([p.ids for p in parts]), np.concatenate([p.counts for p in parts])
        )

    @property
    def lengths(self) -> Floats:
        """How many terms the first i texts have together, repetitions included; shape (texts + 1,)."""
        return np.concatenate([[0.0], np.cumsum(self.counts, dtype=np.float64)])[self.ends]

    def table(self, ids: NDArray[np.uint32]) -> Floats:
        """Counts of the terms with these ascending ids, shape (texts, len(ids))."""
        entries = np.flatnonzero(np.isin(self.ids, ids))
        counts = np.zeros((len(self.ends) - 1, len(ids)))
        rows = np.searchsorted(self.ends, entries, side="right") - 1
        counts[rows, np.searchsorted(ids, self.ids[entries])] = self.counts[entries]
        return counts

    def bm25(self, query: str, groups: Runs) -> Floats:
        """The BM25 score of each group of texts (at least one), shape (groups,).

        Document frequencies are those of the single texts. A group's length is normalised by the mean of the groups.
        Each term of the query counts once.
        """
        ids = np.array(sorted(set(map(term_id, terms(query)))), np.uint32)
        table = self.table(ids)
        seen = (table > 0).sum(axis=0)
        weights = np.log1p((len(table) - seen + 0.5) / (seen + 0.5))
        found = groups.sums(np.concatenate([np.zeros((1, len(ids))), table.cumsum(axis=0)]))
        lengths = groups.sums(self.lengths)
        norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1e-9))
        return (found * (K1 + 1) / (found + norm[:, None])) @ weights
