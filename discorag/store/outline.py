"""Retrieval trees as arrays, without their texts: what choosing evidence needs, quick to read, join and score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Self, TypeAlias, cast, overload

import numpy as np
from numpy.typing import NDArray
from pydantic import PrivateAttr

from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import Span, Vectors
from discorag.store.tables import pack_arrays, unpack_arrays
from discorag.text.bm25 import Runs, TermCounts

Ints: TypeAlias = NDArray[np.int64]
_BARE = RetrievalNode.model_construct()
"""An empty node: copying it takes less time than constructing one."""
_COLUMNS = 8  # coordinates that are summed at a time: there may be many more inner nodes than leaves
_SHORTEST = 1e-5
"""Of a sum of vectors that is not zero but for rounding."""


@dataclass(frozen=True)
class Shape:
    """The structure of a tree.

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
    def of(cls, tree: RetrievalTree) -> Shape:
        """The structure of any tree."""
        if isinstance(tree, LazyTree):
            return tree.shape
        inner = tree.nodes[tree.leaves :]
        spans = [(n.spans[0].start, n.spans[0].end) for n in tree.nodes[: tree.leaves]]
        children = [c for n in inner for c in n.children]
        ends = [0, *accumulate(len(n.children) for n in inner)]
        return cls(tree.words, _ints(spans), _ints(ends), _ints(children), _below(tree))

    @classmethod
    def joined(cls, shapes: Sequence[Shape]) -> Shape:
        """That of several documents: first all leaves, then each document's inner nodes."""
        leaves = _before([s.leaves for s in shapes])
        inner = _before([s.inner for s in shapes]) + sum(s.leaves for s in shapes)
        edges = _before([len(s.children) for s in shapes])
        moved: list[Ints] = [
            np.where(s.children < s.leaves, s.children + at, s.children + up - s.leaves)
            for s, at, up in zip(shapes, leaves, inner, strict=True)
        ]
        return cls(
            np.concatenate([*(s.words[: s.leaves] for s in shapes), *(s.words[s.leaves :] for s in shapes)]),
            np.concatenate([s.spans for s in shapes]),
            np.concatenate([_ints([0]), *(s.child_ends[1:] + at for s, at in zip(shapes, edges, strict=True))]),
            np.concatenate(moved),
            Runs.joined([s.below for s in shapes], leaves),
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

    def node(self, index: int) -> RetrievalNode:
        """A leaf with its span, or an inner node with its children. Its other attributes do not exist."""
        if index < self.leaves:
            start, end = self.spans[index].tolist()
            return _BARE.model_copy(update={"spans": (Span.model_construct(start=start, end=end),)})
        start, end = self.child_ends[index - self.leaves : index - self.leaves + 2].tolist()
        return _BARE.model_copy(update={"children": tuple(self.children[start:end].tolist())})

    @property
    def arrays(self) -> tuple[NDArray[np.integer], ...]:
        """All of it, for `from_arrays`."""
        b = self.below
        return self.words, self.spans.ravel(), self.child_ends, self.children, b.first, b.starts, b.stops

    @classmethod
    def from_arrays(cls, arrays: Sequence[NDArray[np.uint32]]) -> Shape:
        """The structure with these `arrays`."""
        words, spans, ends, children, *runs = (array.astype(np.int64) for array in arrays)
        return cls(words, spans.reshape(-1, 2), ends, children, Runs(*runs))


def leaf_terms(tree: RetrievalTree) -> TermCounts:
    """The search terms of a tree's leaves and of the headings above them."""
    return TermCounts.of([f"{node.context}\n{node.text}" for node in tree.nodes[: tree.leaves]])


@dataclass(frozen=True)
class Outline:
    """A stored tree without its texts.

    Args:
        builder: Name of the builder.
        shape: Its structure.
        terms: The search terms of its leaves.
        lengths: If only the leaves' vectors are stored, and that of an inner node is the direction of the mean of
            those below it: the length of their sum, shape (inner,). Else None.
        key: Names this state of the tree in the store; empty where it is not stored.
    """

    builder: str
    shape: Shape
    terms: TermCounts
    lengths: NDArray[np.float32] | None
    key: str = ""

    @classmethod
    def of(cls, tree: RetrievalTree, vectors: Vectors) -> Outline:
        """That of a tree with the unit vectors of all its nodes or of its leaves alone, see `lengths`."""
        shape = Shape.of(tree)
        lengths = _lengths(shape, vectors) if len(vectors) == shape.leaves else None
        return cls(tree.builder, shape, leaf_terms(tree), lengths)

    @cached_property
    def tree(self) -> RetrievalTree:
        """The tree; its nodes have no texts, inner ones no spans: see `Shape.node`."""
        return LazyTree.made(self.builder, self.shape, self.shape.node)

    def cosines(self, stored: Vectors) -> Vectors:
        """Of all nodes, shape (nodes,), from those of the stored vectors."""
        if self.lengths is None:
            return stored
        before = np.concatenate([[0.0], np.cumsum(stored, dtype=np.float64)])
        return np.concatenate([stored, (self.shape.below.sums(before) / self.lengths).astype(np.float32)])

    def pack(self) -> bytes:
        """The outline as bytes, for `unpack`."""
        lengths = np.zeros(0, np.float32) if self.lengths is None else self.lengths
        integers = [*self.shape.arrays, self.terms.ends, self.terms.ids, self.terms.counts]
        return pack_arrays([*(array.astype(np.uint32) for array in integers), lengths])

    @classmethod
    def unpack(cls, builder: str, packed: bytes, key: str) -> Outline:
        """The packed outline. Raises `StoreDamagedError` if the bytes have changed."""
        *shape, ends, ids, counts, lengths = unpack_arrays(packed)
        means = lengths.view(np.float32) if len(lengths) else None
        return cls(builder, Shape.from_arrays(shape), TermCounts(ends, ids, counts), means, key)


def node_id(key: str, node: int) -> str:
    """The id of a node of the tree with this key (`Outline.key`): `Store.chunks` reads it as a passage."""
    return f"{key}.{node}"


class LazyTree(RetrievalTree):
    """A tree that constructs its nodes when they are read; what its shape has is not computed from nodes again."""

    _shape: Shape = PrivateAttr()

    @classmethod
    def made(cls, builder: str, shape: Shape, node: Callable[[int], RetrievalNode]) -> Self:
        """A tree of this shape; ``node`` gives its nodes."""
        nodes = cast("tuple[RetrievalNode, ...]", _Nodes(len(shape.words), node))
        tree = cls.model_construct(builder=builder, nodes=nodes)
        tree._shape = shape
        return tree

    @property
    def shape(self) -> Shape:
        """Its structure."""
        return self._shape

    @cached_property
    def leaves(self) -> int:
        """See `RetrievalTree.leaves`."""
        return self._shape.leaves

    @cached_property
    def first_leaf(self) -> Ints:
        """See `RetrievalTree.first_leaf`."""
        groups = self._shape.groups
        return groups.starts[groups.first].astype(np.int64)

    @cached_property
    def words(self) -> Ints:
        """See `RetrievalTree.words`."""
        return self._shape.words

    @property
    def roots(self) -> tuple[int, ...]:
        """See `RetrievalTree.roots`."""
        below = np.zeros(len(self.nodes), np.bool_)
        below[self._shape.children] = True
        return tuple(np.flatnonzero(~below).tolist())


class _Nodes(Sequence[RetrievalNode]):
    """Nodes that are constructed when they are read."""

    def __init__(self, count: int, node: Callable[[int], RetrievalNode]) -> None:
        self._count, self._node = count, node

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> RetrievalNode: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[RetrievalNode, ...]: ...
    def __getitem__(self, at: int | slice) -> RetrievalNode | tuple[RetrievalNode, ...]:
        if isinstance(at, slice):
            return tuple(map(self._node, range(self._count)[at]))
        return self._node(range(self._count)[at])


def _lengths(shape: Shape, leaves: Vectors) -> NDArray[np.float32]:
    """See `Outline.lengths`."""
    squares = np.zeros(shape.inner)
    for at in range(0, leaves.shape[1], _COLUMNS):
        columns = leaves[:, at : at + _COLUMNS]
        before = np.concatenate([np.zeros_like(columns[:1]), columns]).cumsum(axis=0, dtype=np.float64)
        squares += np.square(shape.below.sums(before)).sum(axis=1)
    return np.sqrt(squares).clip(_SHORTEST).astype(np.float32)


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
