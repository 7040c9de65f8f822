"""Retrieval trees as arrays, without their texts: what choosing evidence needs, quick to read, join and score."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discorag.schema.retrieval_tree import RetrievalTree
from discorag.schema.values import Vectors, count_words
from discorag.store.tables import pack_arrays, unpack_arrays
from discorag.text.bm25 import Runs, TermCounts

Ints: TypeAlias = NDArray[np.int64]
_COLUMNS = 8  # coordinates that are summed at a time: there may be many more inner nodes than leaves
_SHORTEST = 1e-5
"""The least length of a sum of vectors; a shorter one is zero but for rounding."""


@dataclass(frozen=True)
class TreeArrays:
    """The structure of a tree: what choosing among its nodes needs.

    Args:
        words: Words of every node's text, shape (nodes,).
        spans: Start and end of every leaf in its document, shape (leaves, 2).
        child_ends: Children of the inner nodes up to and with each, after a 0, shape (inner + 1,).
        children: The children of all inner nodes, one after another, shape (edges,).
        below: The leaves below every inner node.
    """

    words: Ints
    spans: Ints
    child_ends: Ints
    children: Ints
    below: Runs

    @classmethod
    def of(cls, tree: RetrievalTree) -> Self:
        """The structure of a tree."""
        inner = tree.nodes[tree.leaves :]
        spans = [(n.spans[0].start, n.spans[0].end) for n in tree.nodes[: tree.leaves]]
        children = [c for n in inner for c in n.children]
        ends = [0, *accumulate(len(n.children) for n in inner)]
        words = [count_words(n.text) for n in tree.nodes]
        runs = leaf_runs(tree)[tree.leaves :]
        firsts = [0, *accumulate(map(len, runs))][:-1]
        bounds = _ints([run for of_node in runs for run in of_node]).reshape(-1, 2)
        below = Runs(_ints(firsts), bounds[:, 0], bounds[:, 1])
        return cls(_ints(words), _ints(spans), _ints(ends), _ints(children), below)

    @classmethod
    def join(cls, trees: Sequence[Self]) -> Self:
        """The structure of several documents: first all leaves, then each document's inner nodes."""
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
            Runs.join([t.below for t in trees], leaves),
        )

    @property
    def leaves(self) -> int:
        """How many of the nodes are leaves."""
        return len(self.spans)

    @property
    def inner(self) -> int:
        """How many nodes are not leaves."""
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
        """The first leaf at or below every node, in text order; shape (nodes,)."""
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
        lengths: None if the vectors of all nodes are stored. Else only the leaves' are, and an inner node's is the
            direction of the sum of those below it: the length of each sum, shape (inner,).
        key: Names this state of the tree in the store; empty where it is not stored.
    """

    builder: str
    arrays: TreeArrays
    terms: TermCounts
    lengths: NDArray[np.float32] | None
    key: str = ""

    @classmethod
    def of(cls, tree: RetrievalTree, vectors: Vectors) -> Self:
        """The outline of a tree with the unit vectors of all its nodes, or of its leaves alone (see `lengths`)."""
        arrays = TreeArrays.of(tree)
        lengths = _lengths(arrays, vectors) if len(vectors) == arrays.leaves else None
        return cls(tree.builder, arrays, leaf_terms(tree), lengths)

    def cosines(self, stored: Vectors) -> Vectors:
        """The cosines of all nodes, shape (nodes,), from those of the stored vectors."""
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
    def unpack(cls, builder: str, packed: bytes, key: str) -> Self:
        """The packed outline. Raises `StoreDamagedError` if the bytes have changed."""
        *structure, ends, ids, counts, lengths = unpack_arrays(packed)
        words, spans, child_ends, children, *runs = (array.astype(np.int64) for array in structure)
        arrays = TreeArrays(words, spans.reshape(-1, 2), child_ends, children, Runs(*runs))
        means = lengths.view(np.float32) if len(lengths) else None
        return cls(builder, arrays, TermCounts(ends, ids, counts), means, key)


def node_id(key: str, node: int) -> str:
    """The id of a node of the tree with this key (`Outline.key`): `Store.chunks` reads it as a passage."""
    return f"{key}.{node}"


def _lengths(tree: TreeArrays, leaves: Vectors) -> NDArray[np.float32]:
    """See `Outline.lengths`."""
    squares = np.zeros(tree.inner)
    for at in range(0, leaves.shape[1], _COLUMNS):
        columns = leaves[:, at : at + _COLUMNS]
        before = np.concatenate([np.zeros_like(columns[:1]), columns]).cumsum(axis=0, dtype=np.float64)
        squares += np.square(tree.below.sums(before)).sum(axis=1)
    return np.sqrt(squares).clip(_SHORTEST).astype(np.float32)


def leaf_runs(tree: RetrievalTree) -> list[list[tuple[int, int]]]:
    """The leaves at or below every node, as runs ``[start, stop)`` of adjacent ones."""
    of: list[list[tuple[int, int]]] = [[(i, i + 1)] for i in range(tree.leaves)]
    for node in tree.nodes[tree.leaves :]:
        merged: list[tuple[int, int]] = []
        for start, stop in sorted(run for child in node.children for run in of[child]):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
            else:
                merged.append((start, stop))
        of.append(merged)
    return of


def _before(counts: Sequence[int]) -> Ints:
    """The sum of the counts before each one."""
    return np.cumsum([0, *counts])[:-1]


def _ints(values: Sequence[int] | Sequence[tuple[int, int]]) -> Ints:
    return np.array(values, dtype=np.int64)
