"""One shard of Qdrant Edge in a folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, cast
from uuid import UUID

import numpy as np
import qdrant_edge as qe

from discorag.store.disk.optimise import optimised
from discorag.store.protocol import Hit
from discorag.store.shard import BUILDER, CHUNKS, KEYWORDS, NODES, OWNER, Payload, Point, Space, Where
from discorag.text.terms import SparseVector
from discorag.types.errors import StoreDamagedError, StoreError
from discorag.types.vectors import Vectors

HNSW_EF = 128
"""Candidates kept while the graph is searched: recall@10 0.98 at 100,000 nodes (``bench/search.py``)."""
UNINDEXED = 20_000
"""Chunks that are searched exactly before it is worth while to index them; nodes of trees always are."""
_FLUSHED = 2_000
"""Points written after which they are flushed: what was not is read from the journal on opening."""
_COMMON = ("tenant", "corpus", BUILDER)
_PAGE = 1000
DAMAGED = "disco-rag check says what differs, disco-rag repair makes it right."


def _nothing() -> None:
    """What is done before a change, by default."""


class _Scored(Protocol):
    """A point with an id of our form, thousands in a question."""

    id: UUID
    score: float


class EdgePoints:
    """One shard of Qdrant Edge in a folder of its own.

    Search is exact over points that `optimise` has not indexed; over the others it goes through an HNSW graph.

    Args:
        folder: The shard's; made if it does not exist.
        dimension: Length d of a vector.
        sparse: Whether its points have a BM25 vector.
        lock: File descriptor of the store's lock, which a process that indexes the shard holds as well.
        guard: Called before every change; what it raises keeps the change from being made.

    Raises:
        StoreDamagedError: The folder holds no shard that can be loaded.
        StoreError: By any method: the disk fails.

    Example:
        >>> from contextlib import closing
        >>> from discorag.store.disk.points import EdgePoints
        >>> from discorag.store.disk.lock import owned
        >>> from discorag.store.shard import Where
        >>> with owned(tmp_path) as lock, closing(EdgePoints(tmp_path / "docs", 8, sparse=False, lock=lock)) as shard:
        ...     print(shard.scroll(Where(), ["uri"]))
        []
    """

    exact = True

    def __init__(
        self, folder: Path, dimension: int, *, sparse: bool, lock: int, guard: Callable[[], None] = _nothing
    ) -> None:
        if not folder.exists():
            guard()
            _create(folder, dimension, sparse=sparse)
        self._guard = guard
        self._folder = folder
        self._lock = lock
        self._dimension = dimension
        self._shard = _load(folder)
        _index(self._shard, guard)
        self._common = {field: _values(self._shard, field) for field in _COMMON}
        self._intact = self._found_intact()
        self._written = 0  # points, since the last flush
        waiting = self._unindexed()
        self._new = waiting and min(waiting, self._having(CHUNKS.dense))  # chunks to be indexed, at most

    def upsert(self, points: Sequence[Point]) -> None:
        """See `Shard.upsert`."""
        spaces = {point.space for point in points}
        if NODES in spaces and not self._common[BUILDER]:
            self._make_room_for_nodes()
        for field, values in self._common.items():
            values.update(str(point.payload[field]) for point in points if field in point.payload)
        with self._counted(len(points)) if CHUNKS in spaces else nullcontext():
            self._update(qe.UpdateOperation.upsert_points([_point(p) for p in points]))
        self._new += sum(point.space == CHUNKS for point in points)
        self._written += len(points)
        if self._written >= _FLUSHED:  # a flush holds up every thread of this process, so little at a time
            self._flush()

    def _flush(self) -> None:
        try:
            self._shard.flush()
        except Exception as error:  # the library raises no class of its own
            raise StoreError(f"What was written is not safe: {error}.", hint="Check the disk.") from error
        self._written = 0

    def _make_room_for_nodes(self) -> None:
        """Nodes have vectors of their own, which a shard without nodes need not have. Doing it again does nothing."""
        self._update(qe.UpdateOperation.create_dense_vector(NODES.dense, self._dimension, qe.Distance.Cosine))
        self._update(qe.UpdateOperation.create_sparse_vector(NODES.bm25, modifier=qe.Modifier.Idf))

    def _update(self, operation: qe.UpdateOperation) -> None:
        self._guard()
        try:
            self._shard.update(operation)
        except Exception as error:  # the library raises no class of its own
            raise StoreError(
                f"Storing failed: {error}.", hint="Check the disk; the same command tries again."
            ) from error

    def set_payload(self, id: str, payload: Payload) -> None:
        """See `Shard.set_payload`."""
        self._update(qe.UpdateOperation.set_payload([id], dict(payload)))

    def delete(self, where: Where, space: Space | None = None) -> None:
        """See `Shard.delete`."""
        if space == NODES and not self._common[BUILDER]:
            return
        with nullcontext() if space == NODES else self._counted(0):
            self._update(qe.UpdateOperation.delete_points_by_filter(_filter(where, space)))

    @contextmanager
    def _counted(self, added: int) -> Generator[None]:
        """Around a change that nodes are not alone in: unless it adds exactly so many points, it removed some."""
        before, intact = self._shard.info().points_count, self._intact
        self._intact = False
        yield
        if self._shard.info().points_count == before + added:
            self._intact = intact

    def nearest(self, vector: Vectors | SparseVector, where: Where, *, corpus: Where, limit: int) -> list[Hit]:
        """See `Shard.nearest`."""
        if isinstance(vector, tuple):
            query = qe.Query.Nearest(qe.SparseVector(*vector), using=CHUNKS.bm25)
            params = self._frequencies(self._needed(corpus))
        else:
            query = qe.Query.Nearest(vector.tolist(), using=CHUNKS.dense)
            params = qe.SearchParams(hnsw_ef=max(HNSW_EF, limit))
        needed = self._needed(where)
        request = qe.QueryRequest(
            limit=limit, query=query, filter=None if needed == Where() else _filter(needed), params=params
        )
        return [Hit(str(point.id), point.score) for point in self._shard.query(request)]

    def cosines(self, vector: Vectors, where: Where, limit: int) -> tuple[bytes, list[float]]:
        """See `Shard.cosines`."""
        if not self._common[BUILDER]:
            return b"", []
        query = qe.Query.Nearest(vector.tolist(), using=NODES.dense)
        request = qe.QueryRequest(
            limit=limit, query=query, filter=_filter(self._needed(where)), params=qe.SearchParams(exact=True)
        )
        found = cast(Sequence[_Scored], self._shard.query(request))
        return b"".join([p.id.int.to_bytes(16) for p in found]), [p.score for p in found]

    def _frequencies(self, corpus: Where) -> qe.SearchParams | None:
        """Whose document frequencies BM25 takes. The library's own are fastest, but count what was deleted."""
        if corpus == Where() and self._intact:
            return None
        return qe.SearchParams(idf=qe.IdfParams(corpus=_filter(corpus)))

    def _needed(self, where: Where) -> Where:
        """The same without the conditions that every point meets: each costs time for each point."""
        met = [field for field, values in self._common.items() if len(values) == 1]
        each = tuple((f, values) for f, values in where.each if f not in met or not self._common[f].issubset(values))
        return replace(where, each=each)

    def scroll(self, where: Where, fields: Sequence[str], limit: int | None = None) -> list[Payload]:
        """See `Shard.scroll`."""
        return list(islice(self._pages(where, list(fields), limit or _PAGE), limit))

    def _pages(self, where: Where, fields: list[str], size: int) -> Iterator[Payload]:
        offset: qe.PointId | None = None
        while True:
            request = qe.ScrollRequest(offset=offset, limit=size, filter=_filter(where), with_payload=fields)
            records, offset = self._shard.scroll(request)
            yield from (r.payload or {} for r in records)
            if offset is None:
                return

    def points(self, where: Where) -> Iterator[Point]:
        """See `Shard.points`."""
        offset: qe.PointId | None = None
        while True:
            request = qe.ScrollRequest(
                offset=offset, limit=_PAGE, filter=_filter(where), with_payload=True, with_vector=True
            )
            records, offset = self._shard.scroll(request)
            yield from map(_read, records)
            if offset is None:
                return

    def retrieve(self, ids: Sequence[str], fields: Sequence[str] | None = None) -> dict[str, Payload]:
        """See `Shard.retrieve`."""
        wanted = True if fields is None else list(fields)
        return {str(r.id): r.payload or {} for r in self._shard.retrieve(list(ids), wanted, False)}

    def vectors(self, ids: Sequence[str]) -> dict[str, tuple[Payload, Vectors]]:
        """See `Shard.vectors`."""
        found = map(_read, self._shard.retrieve(list(ids), list(OWNER), True))
        return {point.id: (point.payload, point.dense) for point in found}

    def optimise(self) -> None:
        """See `Shard.optimise`. Does nothing below `UNINDEXED` chunks that are new since the last time.

        Raises:
            StoreError: It failed; every point is where it was.
        """
        if self._new < UNINDEXED:
            return
        self._guard()
        self._flush()
        self._shard.close()
        try:
            optimised(self._folder, lock=self._lock)
        finally:
            self._shard = _load(self._folder)
            self._intact = self._found_intact()
        self._new = 0

    def _having(self, vector: str) -> int:
        return self._shard.count(qe.CountRequest(filter=qe.Filter(must=[qe.HasVectorCondition(vector)])))

    def _unindexed(self) -> int:
        """How many points were written to the segment that is not indexed, as flushed: 8 bytes each in this file."""
        return sum(f.stat().st_size // 8 for f in self._folder.glob("segments/*/mutable_id_tracker.versions"))

    def _found_intact(self) -> bool:
        """Whether no indexed segment holds deleted points, as far as that can be told."""
        if self._unindexed():
            return False
        info = self._shard.info()
        return info.indexed_vectors_count == info.points_count + self._having(CHUNKS.bm25) + self._having(NODES.bm25)

    def close(self) -> None:
        """Flush and release."""
        try:
            self._flush()
        finally:
            self._shard.close()


def settle(folder: Path) -> None:
    """Load a closed shard once, after which reading it changes its files no more: journals are merged in."""
    _load(folder).close()


def _load(folder: Path) -> qe.EdgeShard:
    try:
        return qe.EdgeShard.load(str(folder))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # the library panics, or raises no class of its own
        said = f"{folder.name} cannot be read: {error}"
        raise StoreDamagedError(f"{folder} is damaged: {error}.", hint=DAMAGED, differences=(said,)) from error


def _values(shard: qe.EdgeShard, field: str) -> set[str]:
    """Up to two of the field's values."""
    return {str(hit.value) for hit in shard.facet(qe.FacetRequest(field, limit=2, exact=True)).hits}


def _create(folder: Path, dimension: int, *, sparse: bool) -> None:
    """Make an empty shard, whole or not at all."""
    draft = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    dense = {CHUNKS.dense: qe.EdgeVectorParams(size=dimension, distance=qe.Distance.Cosine)}
    bm25 = {CHUNKS.bm25: qe.EdgeSparseVectorParams(modifier=qe.Modifier.Idf)}
    config = qe.EdgeConfig(vectors=dense, sparse_vectors=bm25 if sparse else None, wal_enabled=True)
    shard = qe.EdgeShard.create(str(draft), config)
    _index(shard, _nothing)
    shard.flush()
    shard.close()
    draft.rename(folder)


def _index(shard: qe.EdgeShard, guard: Callable[[], None]) -> None:
    """Make the indexes that are missing: folders that are older than trees have none for builders."""
    there = shard.info().payload_schema
    for field in (f for f in KEYWORDS if f not in there):
        guard()
        index = qe.KeywordIndexParams(is_tenant=field == "tenant")
        shard.update(qe.UpdateOperation.create_field_index(field, index))


def _point(point: Point) -> qe.Point:
    vectors: dict[str, qe.NamedVector] = {point.space.dense: point.dense.tolist()}
    if point.sparse is not None:
        vectors[point.space.bm25] = qe.SparseVector(*point.sparse)
    return qe.Point(point.id, vectors, dict(point.payload))


def _read(record: qe.Record) -> Point:
    found = cast("dict[str, Any]", record.vector)
    space = NODES if NODES.dense in found else CHUNKS
    bm25 = found.get(space.bm25)
    sparse = (bm25.indices, bm25.values) if bm25 else None
    return Point(str(record.id), np.asarray(found[space.dense], np.float32), record.payload or {}, sparse, space)


def _filter(where: Where, space: Space | None = None) -> qe.Filter:
    within: list[qe.ConditionType] = [qe.HasVectorCondition(space.dense)] if space else []
    return qe.Filter(must=_conditions(where.each) + within, must_not=_conditions(where.none))


def _conditions(pairs: tuple[tuple[str, tuple[str, ...]], ...]) -> list[qe.ConditionType]:
    return [qe.FieldCondition(field, match=_match(values)) for field, values in pairs]


def _match(values: tuple[str, ...]) -> qe.MatchType:
    """One value is compared faster than a list of one."""
    return qe.MatchValue(values[0]) if len(values) == 1 else qe.MatchAny(list(values))
