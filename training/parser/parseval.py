"""Original Parseval: how many inner nodes of the gold trees a parser finds (Morey et al. 2017), micro-averaged.

A node is known by its characters, so that trees over different EDUs compare. Span counts nodes, Nuclearity also asks
for the same nuclei, Relation for the same label, Full for both.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict


@dataclass(frozen=True)
class Node:
    """An inner node: characters ``[start, end)`` of the text, its nuclearity and its label."""

    start: int
    end: int
    nuclearity: Hashable
    label: Hashable


class Parseval(BaseModel):
    """F1 in per cent; ``seg`` is that of the EDU starts but the first, None where the EDUs are given."""

    model_config = ConfigDict(frozen=True)

    span: float
    nuclearity: float
    relation: float
    full: float
    seg: float | None = None


class Counter:
    """Counts over documents."""

    def __init__(self) -> None:
        self._hits = {"span": 0, "nuclearity": 0, "relation": 0, "full": 0}
        self._nodes = 0
        self._starts = (0, 0, 0)

    def add(self, found: Iterable[Node], gold: Iterable[Node]) -> None:
        """Count a document's nodes."""
        has, wanted = {(n.start, n.end): n for n in found}, {(n.start, n.end): n for n in gold}
        self._nodes += len(has) + len(wanted)
        for at in has.keys() & wanted.keys():
            a, b = has[at], wanted[at]
            same = a.nuclearity == b.nuclearity, a.label == b.label
            for name, hit in (("span", True), ("nuclearity", same[0]), ("relation", same[1]), ("full", all(same))):
                self._hits[name] += hit

    def add_starts(self, found: Iterable[int], gold: Iterable[int]) -> None:
        """Count a document's EDU starts, the first left out."""
        has, wanted = set(found), set(gold)
        both, n, m = self._starts
        self._starts = both + len(has & wanted), n + len(has), m + len(wanted)

    def update(self, other: Counter) -> None:
        """Count what another one has counted."""
        self._hits = {name: hits + other._hits[name] for name, hits in self._hits.items()}
        self._nodes += other._nodes
        both, n, m = (a + b for a, b in zip(self._starts, other._starts, strict=True))
        self._starts = both, n, m

    def result(self) -> Parseval:
        """The scores so far."""
        both, n, m = self._starts
        scores = {name: 200 * hits / max(self._nodes, 1) for name, hits in self._hits.items()}
        return Parseval(**scores, seg=200 * both / (n + m) if n + m else None)
