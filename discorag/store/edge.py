"""The index in the store's folder: Qdrant Edge, one shard on this machine, no server."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import qdrant_edge as qe
from xxhash import xxh3_64

from discorag.schema.document import Scope
from discorag.schema.metadata import Filters, Range
from discorag.schema.values import Vectors
from discorag.store.index import (
    BM25,
    DATE,
    DENSE,
    DOCUMENT,
    KEY,
    KEYWORDS,
    NUMBER,
    VALUES,
    Conditions,
    IndexedDocument,
    IndexPlace,
    IndexUnusableError,
    Point,
    document_points,
    filter_conditions,
)
from discorag.store.records import Hit
from discorag.store.sqlite import make_private_folder
from discorag.text.terms import SparseVector

FOLDER, LOCK = "index", "index.lock"
_WORN = 10_000  # deleted points from which on an index is worn, if they are more than the others
_EXACT = qe.SearchParams(exact=True)
_FORMAT = 2  # 1: points whose numbers and dates no range can compare
_POINTS, _ABOUT = "points", "about.json"
_COMMON = ("tenant", "corpus")
_BLOCK = 1 << 16
_ZEROS = bytes(_BLOCK)


def open_edge(place: IndexPlace, *, fresh: bool) -> EdgeIndex:
    """The index in the store's folder; ``fresh``: an empty one that replaces what is there."""
    folder = place.folder / FOLDER
    lock = _acquire_lock(place.folder / LOCK)
    try:
        if fresh:
            shutil.rmtree(folder, ignore_errors=True)
            make_private_folder(folder)
            _create(folder / _POINTS, place.dimension)
            _write_about(folder, place, "")
        return EdgeIndex(folder, place, lock, _check(folder, place))
    except BaseException:
        os.close(lock)
        raise


class EdgeIndex:
    """An index in a folder that one process has open at a time: a second one would damage its journal.

    Search compares all points: at 100,000 it takes 7 ms. The checksum of its files is stored when it is closed and
    compared when it is opened; it is empty while it is not known. A process that only searched stores the one that it
    found, so damage done meanwhile is noticed at the next start. ``lock`` is the file descriptor of its lock, which
    this process holds.

    Raises:
        IndexUnusableError: It cannot be loaded.
    """

    shared = False
    keeps_passages = False  # people cannot look at its points; the texts are in the database next to it

    def __init__(self, folder: Path, place: IndexPlace, lock: int, checksum: str) -> None:
        self._folder, self._place, self._lock = folder, place, lock
        self._checksum = checksum
        _write_about(folder, place, "")
        self._shard = _load(folder / _POINTS)
        self._common = {field: _values(self._shard, field) for field in _COMMON}
        trackers = folder.glob(f"{_POINTS}/segments/*/mutable_id_tracker.versions")
        self._slots = sum(file.stat().st_size // 8 for file in trackers)  # points, also those that were deleted
        self._intact = bool(checksum) and self._slots == self._shard.info().points_count

    def apply(self, doc_id: str, document: IndexedDocument | None) -> None:
        """See `discorag.store.index.Index.apply`."""
        self._checksum = ""
        before = self._shard.info().points_count
        added = [_point(point) for point in document_points(document)] if document else []
        if document:
            for field, value in zip(_COMMON, (document.scope.tenant, document.scope.corpus), strict=True):
                self._common[field].add(value)
            self._shard.update(qe.UpdateOperation.upsert_points(added))
        others = [] if document is None else _conditions([("version", (str(document.number),))])
        old = qe.Filter(must=_conditions([("doc_id", (doc_id,))]), must_not=others)
        self._shard.update(qe.UpdateOperation.delete_points_by_filter(old))
        self._intact = self._intact and self._shard.info().points_count == before + len(added)
        self._slots += len(added)

    def nearest(
        self, scope: Scope, vector: Vectors | SparseVector, filters: Filters, limit: int, *, space: str = DENSE
    ) -> list[Hit]:
        """See `discorag.store.index.Searcher.nearest`."""
        needed = self._needed(filter_conditions(scope, filters))
        if isinstance(vector, tuple):
            query = qe.Query.Nearest(qe.SparseVector(*vector), using=BM25)
            return self._query(query, needed, self._frequencies(scope), limit)
        return self._query(qe.Query.Nearest(vector.tolist(), using=space), needed, _EXACT, limit)

    def _query(self, query: qe.Query, where: Conditions, params: qe.SearchParams | None, limit: int) -> list[Hit]:
        where_filter = qe.Filter(must=_conditions(where)) if where else None
        request = qe.QueryRequest(limit=limit, query=query, filter=where_filter, params=params)
        return [Hit(str(point.id), point.score) for point in self._shard.query(request)]

    def _frequencies(self, scope: Scope) -> qe.SearchParams | None:
        """The document frequencies that BM25 uses. None: the library's, which are fastest but count deleted points."""
        needed = self._needed(filter_conditions(scope, {}))
        if not needed and self._intact:
            return None
        having: list[qe.ConditionType] = [qe.HasVectorCondition(BM25)]
        return qe.SearchParams(idf=qe.IdfParams(corpus=qe.Filter(must=[*_conditions(needed), *having])))

    def _needed(self, where: Conditions) -> Conditions:
        """The conditions that not every point meets: each costs time for each point."""
        met = [field for field, values in self._common.items() if len(values) == 1]
        return [(f, v) for f, v in where if f not in met or isinstance(v, Range) or not self._common[f].issubset(v)]

    def count(self) -> int:
        """See `discorag.store.index.Index.count`."""
        return self._shard.count(qe.CountRequest(exact=True))

    def flush(self) -> None:
        """See `discorag.store.index.Index.flush`."""
        self._shard.flush()

    @property
    def is_worn(self) -> bool:
        """See `discorag.store.index.Index.is_worn`."""
        return self._slots > 2 * self._shard.info().points_count + _WORN

    def close(self) -> None:
        """See `discorag.store.index.Index.close`."""
        try:
            self._shard.flush()
            self._shard.close()
            if not self._checksum:
                _load(self._folder / _POINTS).close()  # journals are merged in
                self._checksum = _checksum(self._folder / _POINTS)
            _write_about(self._folder, self._place, self._checksum)
        finally:
            os.close(self._lock)

    def abandon(self, *, damaged: bool) -> None:
        """Close the index without flushing; a ``damaged`` one is built again when it is next opened."""
        if damaged:
            with suppress(OSError):
                (self._folder / _ABOUT).unlink(missing_ok=True)
        os.close(self._lock)


def _acquire_lock(file: Path) -> int:
    """The lock's file descriptor; the system frees it if the process dies."""
    try:
        lock = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise IndexUnusableError(f"it cannot be locked: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise IndexUnusableError("another process has it open") from error
    return lock


def _check(folder: Path, place: IndexPlace) -> str:
    """The stored checksum; empty if the last process did not close the index.

    Raises:
        IndexUnusableError: The index is missing, belongs to another database, or its files have changed.
    """
    if not (folder / _POINTS).is_dir():
        raise IndexUnusableError("it is missing", lost=True)
    try:
        about = json.loads((folder / _ABOUT).read_text("utf-8"))
        belongs = (about["format"], about["database"], about["dimension"])
        checksum = str(about["checksum"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IndexUnusableError("it is damaged", lost=True) from error
    if belongs != (_FORMAT, place.database, place.dimension):
        raise IndexUnusableError("it is of another database or version", lost=True)
    if checksum and checksum != _checksum(folder / _POINTS):
        raise IndexUnusableError("it is damaged", lost=True)
    return checksum


def _write_about(folder: Path, place: IndexPlace, checksum: str) -> None:
    """Record which database the index belongs to; ``checksum`` is empty while it is open."""
    belongs = {"format": _FORMAT, "database": place.database, "dimension": place.dimension}
    draft = folder / f"{_ABOUT}.new"
    draft.write_text(json.dumps({**belongs, "checksum": checksum}), "utf-8")
    draft.replace(folder / _ABOUT)


def _checksum(folder: Path) -> str:
    """A checksum of the names, lengths and bytes of all files, which are mostly holes: zeros do not count.

    JSON counts by its content: the library writes it again when it only reads, with its keys in another order.
    """
    found = xxh3_64()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        found.update(f"{file.relative_to(folder)}\0{file.stat().st_size}\0".encode())
        for at, block in [(0, _sorted_json(file))] if file.suffix == ".json" else _blocks(file):
            if block != _ZEROS[: len(block)]:
                found.update(at.to_bytes(8))
                found.update(block)
    return found.hexdigest()


def _sorted_json(file: Path) -> bytes:
    """The file's content with sorted keys; its bytes if it is not JSON."""
    content = file.read_bytes()
    try:
        return json.dumps(json.loads(content), sort_keys=True).encode()
    except ValueError:
        return content


def _blocks(file: Path) -> Iterator[tuple[int, bytes]]:
    """The parts of a file that are not holes, in blocks, each with its place."""
    handle, at = os.open(file, os.O_RDONLY), 0
    try:
        while True:
            at = os.lseek(handle, at, os.SEEK_DATA) // _BLOCK * _BLOCK
            end = os.lseek(handle, os.lseek(handle, at, os.SEEK_DATA), os.SEEK_HOLE)
            while at < end:
                yield at, os.pread(handle, _BLOCK, at)
                at += _BLOCK
    except OSError as error:
        if error.errno != errno.ENXIO:  # nothing but a hole is left
            raise
    finally:
        os.close(handle)


def _load(folder: Path) -> qe.EdgeShard:
    try:
        return qe.EdgeShard.load(str(folder))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # the library panics, or raises no class of its own
        raise IndexUnusableError("it is damaged", lost=True) from error


def _create(folder: Path, dimension: int) -> None:
    dense = {name: qe.EdgeVectorParams(size=dimension, distance=qe.Distance.Cosine) for name in (DENSE, DOCUMENT)}
    bm25 = {BM25: qe.EdgeSparseVectorParams(modifier=qe.Modifier.Idf)}
    shard = qe.EdgeShard.create(str(folder), qe.EdgeConfig(vectors=dense, sparse_vectors=bm25, wal_enabled=True))
    for field in KEYWORDS:
        index = qe.KeywordIndexParams(is_tenant=field == "tenant")
        shard.update(qe.UpdateOperation.create_field_index(field, index))
    shard.flush()
    shard.close()


def _values(shard: qe.EdgeShard, field: str) -> set[str]:
    """Up to two of the field's values."""
    return {str(hit.value) for hit in shard.facet(qe.FacetRequest(field, limit=2, exact=True)).hits}


def _point(point: Point) -> qe.Point:
    vectors: dict[str, qe.NamedVector] = {point.space: point.vector.tolist()}
    if point.terms is not None:
        vectors[BM25] = qe.SparseVector(*point.terms)
    return qe.Point(point.id, vectors, dict(point.payload))


def _conditions(where: Conditions) -> list[qe.ConditionType]:
    found: list[qe.ConditionType] = []
    for field, values in where:
        if isinstance(values, Range):
            found.append(_within(field, values))
        else:  # one value is compared faster than a list of one
            match = qe.MatchValue(values[0]) if len(values) == 1 else qe.MatchAny(list(values))
            found.append(qe.FieldCondition(field, match=match))
    return found


def _within(key: str, wanted: Range) -> qe.NestedCondition:
    """The condition that a number or date of a key is within bounds."""
    field, kind = (DATE, qe.RangeDateTime) if wanted.is_of_dates else (NUMBER, qe.RangeFloat)
    bounds: dict[str, Any] = {
        name: bound.isoformat() if isinstance(bound, datetime) else bound for name, bound in wanted.bounds.items()
    }
    own: list[qe.ConditionType] = [
        qe.FieldCondition(KEY, match=qe.MatchValue(key)),
        qe.FieldCondition(field, range=kind(**bounds)),
    ]
    return qe.NestedCondition(VALUES, qe.Filter(must=own))
