"""What a store needs of Qdrant: a few operations on one set of points, whichever way they are reached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Protocol

from discorag.store.protocol import Hit
from discorag.text.terms import SparseVector
from discorag.types.vectors import Vectors

Payload = Mapping[str, Any]

BUILDER = "builder"
"""Payload field of nodes only: the builder of their tree."""
LEAF = "leaf_of"
"""Payload field of leaves only, and only where the vectors of inner nodes are means: their tree's ``version``."""
KEYWORDS = ("tenant", "corpus", "doc_id", "version", "meta", BUILDER, LEAF)
"""Payload fields that are filtered, each with a keyword index."""
OWNER = ("tenant", "corpus")
URI = "uri"
"""Payload field of documents: what it begins with is looked for, with an index on a server."""
FENCE = "fence"
"""Payload field on a server only: the number of the lease that a point was written under, see `store.server.leases`."""
BATCH = 256


@dataclass(frozen=True)
class Space:
    """Names of the vectors of one kind of points: a search for chunks meets, ranks and counts no nodes.

    Example:
        >>> from discorag.store.shard import CHUNKS, NODES
        >>> CHUNKS.dense, NODES.dense
        ('dense', 'node_dense')
    """

    dense: str
    bm25: str


CHUNKS = Space("dense", "bm25")
"""Chunks; in the shard of the documents, documents."""
NODES = Space("node_dense", "node_bm25")
"""Nodes of retrieval trees."""


@dataclass(frozen=True)
class Where:
    """A filter: a point has one of the values of every pair in ``each``, and none in ``none``.

    Args:
        each: Keyword fields with the values of which a point has one.
        none: Keyword fields with values that it does not have.
        below: What its ``uri`` begins with.
        fence: It was written under no later lease than this one (`FENCE`), or under none.

    Example:
        >>> from discorag.store.shard import Where
        >>> Where().also(("tenant", ("ann",))).without(("v1",))
        Where(each=(('tenant', ('ann',)),), none=(('version', ('v1',)),), below='', fence=None)
    """

    each: tuple[tuple[str, tuple[str, ...]], ...] = ()
    none: tuple[tuple[str, tuple[str, ...]], ...] = ()
    below: str = ""
    fence: int | None = None

    def also(self, *each: tuple[str, tuple[str, ...]]) -> Where:
        """The same with further conditions."""
        return replace(self, each=self.each + each)

    def without(self, versions: tuple[str, ...]) -> Where:
        """The same without these versions of documents."""
        return replace(self, none=(*self.none, ("version", versions))) if versions else self


@dataclass(frozen=True)
class Point:
    """What is stored under one id.

    ``dense`` has shape (d,), or (0,) where there is none; ``sparse`` is None where there is no BM25.

    Example:
        >>> from discorag.store.shard import Point
        >>> point = Point("id", np.ones(8, dtype=np.float32), {"tenant": "ann"})
        >>> point.space.dense, point.sparse
        ('dense', None)
    """

    id: str
    dense: Vectors
    payload: Payload
    sparse: SparseVector | None = None
    space: Space = CHUNKS


class Shard(Protocol):
    """One set of points. A change is readable, and survives the end of the process, when its call returns."""

    exact: bool
    """Whether unit vectors come back as they were written, bit by bit; else they may be made of length 1 once more."""

    def upsert(self, points: Sequence[Point]) -> None:
        """Write points, replacing those with the same ids."""
        ...

    def set_payload(self, id: str, payload: Payload) -> None:
        """Replace these payload fields of one point, all at once."""
        ...

    def delete(self, where: Where, space: Space | None = None) -> None:
        """Remove every point that matches, or every one of this space."""
        ...

    def nearest(self, vector: Vectors | SparseVector, where: Where, *, corpus: Where, limit: int) -> list[Hit]:
        """The best points but nodes, best first: by cosine to a dense vector, or by BM25 with a sparse one.

        BM25 takes the inverse document frequencies from the points of ``corpus``.
        """
        ...

    def cosines(self, vector: Vectors, where: Where, limit: int) -> tuple[bytes, list[float]]:
        """The nodes that match, at most ``limit``, each compared with a dense vector.

        Returns:
            Their ids, 16 bytes each, and in the same order their cosines.
        """
        ...

    def scroll(self, where: Where, fields: Sequence[str], limit: int | None = None) -> list[Payload]:
        """These payload fields of every point that matches, or of ``limit`` of them, in no order."""
        ...

    def points(self, where: Where) -> Iterator[Point]:
        """Every point that matches, whole, in no order."""
        ...

    def retrieve(self, ids: Sequence[str], fields: Sequence[str] | None = None) -> dict[str, Payload]:
        """Payloads of the points that exist, or these fields of them, by id. Every id is a UUID."""
        ...

    def vectors(self, ids: Sequence[str]) -> dict[str, tuple[Payload, Vectors]]:
        """Of the points that exist the fields that say whose they are, and the dense vector, by id."""
        ...

    def optimise(self) -> None:
        """Make searches fast after many writes, unless that happens by itself. Nothing else is called meanwhile."""
        ...


class SharedShard(Shard, Protocol):
    """A shard that others write to as well: a change can have a condition, which is looked at in one step with it."""

    def upsert_where(self, points: Sequence[Point], where: Where | None, *, there: bool = False) -> None:
        """Write points where what has their ids matches.

        Args:
            points: To write.
            where: What must hold of a point that is there; None: none may be there.
            there: Write only those that are there; else also those that are not.
        """
        ...

    def set_payload_where(self, payload: Payload, where: Where) -> None:
        """Replace these payload fields of every point that matches."""
        ...

    def agreed(self, ids: Sequence[str], fields: Sequence[str]) -> dict[str, Payload]:
        """`retrieve`, as most replicas have it: what a change did can be read back."""
        ...


class VersionedShard(SharedShard, Protocol):
    """A shared shard of chunks."""

    def nearest_versions(
        self, vector: Vectors | SparseVector, where: Where, *, corpus: Where, limit: int
    ) -> list[tuple[str, Hit]]:
        """`nearest`, each hit with the ``version`` in its payload."""
        ...


def write(shard: Shard, points: Iterator[Point], lock: AbstractContextManager[object]) -> None:
    """Write points in batches, holding ``lock`` for one batch at a time."""
    while batch := list(islice(points, BATCH)):
        with lock:
            shard.upsert(batch)
