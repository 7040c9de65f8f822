"""Retrieval trees as arrays, without their texts: what choosing evidence needs, quick to read, join and score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discorag.schema.retrieval_tree import RetrievalTree
from discorag.schema.values import Vectors, count_words
from discorag.store.tables import pack_arrays, unpack_arrays
from discorag.text.bm25 import Runs, TermCounts

Ints: TypeAlias = NDArray[np.int64]
_BLOCK = 1024  # inner nodes whose vectors are compared at a time
_SAME = 1e-5
"""Coordinates of unit vectors that differ by less are equal but for rounding."""


@dataclass(frozen=True)
class TreeArrays:
    """The structure of a tree: what choosing among its nodes needs.

    Args:
        words: Words of every node's text, shape (nodes,).
        spans: Start and end of every leaf in its document, shape (leaves, 2).
        child_ends: Children of the inner nodes up to and with each, after a 0, shape (inner + 1,).
        children: Of all inner nodes, one after another, shape (edges,).
        below: The leaves below every inner node.
    """

    words: Ints
    spans: Ints
    child_ends: Ints
    children: Ints
    below: Runs

    @classmethod
    def of(cls, tree: RetrievalTree) -> TreeArrays:
        """The structure of a tree."""
        inner = tree.nodes[tree.leaves :]
        spans = [(n.spans[0].start, n.spans[0].end) for n in tree.nodes[: tree.leaves]]
        children = [c for n in inner for c in n.children]
        ends = [0, *accumulate(len(n.children) for n in inner)]
        words = [count_words(n.text) for n in tree.nodes]
        return cls(_ints(words), _ints(spans), _ints(ends), _ints(children), _below(tree))

    @classmethod
    def joined(cls, trees: Sequence[TreeArrays]) -> TreeArrays:
        """That of several documents: first all leaves, then each document's inner nodes."""
        leaves = _before([t.leaves for t in trees])
        inner = _before([t.inner for t in trees]) + sum(t.leaves for t in trees)
        edges = _before([len(t.children) for t in trees])
        moved: list[Ints] = [
            np.where(t.children < t.leaves, t.children + at, t.children + up - t.leaves)
            for t, at, up in zip(trees, leaves, inner, strict=True)
        ]
        return cls(
            np.concatenate([*(t.words[: t.leaves] for t in trees), *(t.words[t.leaves :] for t in trees)]),
            np.concatenate([t.spans for t in trees]),
            np.concatenate([_ints([0]), *(t.child_ends[1:] + at for t, at in zip(trees, edges, strict=True))]),
            np.concatenate(moved),
            Runs.joined([t.below for t in trees], leaves),
        )

    @property
    def leaves(self) -> int:
        """How many of the nodes are leaves."""
        return len(self.spans)

    @property
    def inner(self) -> int:
        """How many are not."""
        return len(self.child_ends) - 1

    @cached_property
    def groups(self) -> Runs:
        """The leaves at or below every node."""
        own = np.arange(self.leaves)
        return Runs(
            np.concatenate([own, self.leaves + self.below.first]),
            np.concatenate([own, self.below.starts]),
            np.concatenate([own + 1, self.below.stops]),
        )

    @cached_property
    def first_leaf(self) -> Ints:
        """The first leaf at or below every node: where it begins, in text order; shape (nodes,)."""
        return self.groups.starts[self.groups.first].astype(np.int64)

    @property
    def roots(self) -> list[int]:
        """Nodes without a parent."""
        is_below = np.zeros(len(self.words), np.bool_)
        is_below[self.children] = True
        return np.flatnonzero(~is_below).tolist()

    def children_of(self, node: int) -> list[int]:
        """The children of a node, ascending; none for a leaf."""
        at = node - self.leaves
        return [] if at < 0 else self.children[self.child_ends[at] : self.child_ends[at + 1]].tolist()

    def leaves_below(self, node: int) -> Ints:
        """The leaves at or below a node, ascending."""
        first, starts, stops = self.groups.first, self.groups.starts, self.groups.stops
        runs = slice(first[node], first[node + 1] if node + 1 < len(first) else len(starts))
        bounds = zip(starts[runs].tolist(), stops[runs].tolist(), strict=True)
        return _ints([leaf for start, stop in bounds for leaf in range(start, stop)])


def leaf_terms(tree: RetrievalTree) -> TermCounts:
    """The search terms of a tree's leaves and of the headings above them."""
    return TermCounts.of([f"{node.context}\n{node.text}" for node in tree.nodes[: tree.leaves]])


@dataclass(frozen=True)
class Outline:
    """A stored tree without its texts.

    Args:
        builder: Name of the builder.
        arrays: Its structure.
        terms: The search terms of its leaves.
        lengths: If the vector of every inner node is the direction of the mean of the leaves' unit vectors below it:
            the length of their sum, shape (inner,). Only the leaves' vectors are stored then. Else None.
        key: Names this state of the tree in the store; empty where it is not stored.
    """

    builder: str
    arrays: TreeArrays
    terms: TermCounts
    lengths: NDArray[np.float32] | None
    key: str = ""

    @classmethod
    def of(cls, tree: RetrievalTree, vectors: Vectors) -> Outline:
        """That of a tree with the unit vectors of its nodes, shape (nodes, d)."""
        arrays = TreeArrays.of(tree)
        return cls(tree.builder, arrays, leaf_terms(tree), _lengths(arrays, vectors))

    def cosines(self, stored: Vectors) -> Vectors:
        """Of all nodes, shape (nodes,), from those of the stored vectors."""
        if self.lengths is None:
            return stored
        before = np.concatenate([[0.0], np.cumsum(stored, dtype=np.float64)])
        return np.concatenate([stored, (self.arrays.below.sums(before) / self.lengths).astype(np.float32)])

    def pack(self) -> bytes:
        """The outline as bytes, for `unpack`."""
        lengths = np.zeros(0, np.float32) if self.lengths is None else self.lengths
        tree, terms, below = self.arrays, self.terms, self.arrays.below
        structure = [tree.words, tree.spans.ravel(), tree.child_ends, tree.children]
        integers = [*structure, below.first, below.starts, below.stops, terms.ends, terms.ids, terms.counts]
        return pack_arrays([*(array.astype(np.uint32) for array in integers), lengths])

    @classmethod
    def unpack(cls, builder: str, packed: bytes, key: str) -> Outline:
        """The packed outline. Raises `StoreDamagedError` if the bytes have changed."""
        *structure, ends, ids, counts, lengths = unpack_arrays(packed)
        words, spans, child_ends, children, *runs = (array.astype(np.int64) for array in structure)
        arrays = TreeArrays(words, spans.reshape(-1, 2), child_ends, children, Runs(*runs))
        means = lengths.view(np.float32) if len(lengths) else None
        return cls(builder, arrays, TermCounts(ends, ids, counts), means, key)


def node_id(key: str, node: int) -> str:
    """The id of a node of the tree with this key (`Outline.key`): `Store.chunks` reads it as a passage."""
    return f"{key}.{node}"


def _lengths(tree: TreeArrays, vectors: Vectors) -> NDArray[np.float32] | None:
    """See `Outline.lengths`; some nodes at a time, since there may be many more of them than leaves."""
    leaves, inner = vectors[: tree.leaves], vectors[tree.leaves :]
    before = np.concatenate([np.zeros_like(leaves[:1]), leaves]).cumsum(axis=0, dtype=np.float64)
    found = np.empty(len(inner), np.float32)
    for at in range(0, len(inner), _BLOCK):
        block = slice(at, at + _BLOCK)
        sums = tree.below.part(block).sums(before)
        found[block] = lengths = np.linalg.norm(sums, axis=1)
        if lengths.min() < _SAME or not np.allclose(sums / lengths[:, None], inner[block], atol=_SAME):
            return None
    return found


def _below(tree: RetrievalTree) -> Runs:
    """The leaves below every inner node as runs: those of its children, merged where they touch or overlap."""
    of: list[list[tuple[int, int]]] = [[(i, i + 1)] for i in range(tree.leaves)]
    for node in tree.nodes[tree.leaves :]:
        merged: list[tuple[int, int]] = []
        for start, stop in sorted(run for child in node.children for run in of[child]):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
            else:
                merged.append((start, stop))
        of.append(merged)
    inner = of[tree.leaves :]
    first = [0, *accumulate(map(len, inner))][:-1]
    runs = _ints([run for runs in inner for run in runs]).reshape(-1, 2)
    return Runs(_ints(first), runs[:, 0], runs[:, 1])


def _before(counts: Sequence[int]) -> Ints:
    """How many there are before each."""
    return np.cumsum([0, *counts])[:-1]


def _ints(values: Sequence[int] | Sequence[tuple[int, int]]) -> Ints:
    return np.array(values, dtype=np.int64)
