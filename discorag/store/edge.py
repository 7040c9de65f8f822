"""The embedded store: Qdrant Edge, two shards in a folder of this machine, no server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import qdrant_edge as qe

from discorag.errors import StoreError
from discorag.store.base import ShardStore
from discorag.store.identity import Identity
from discorag.store.lock import owned
from discorag.store.protocol import Hit, Vectors
from discorag.store.shard import BM25, DENSE, KEYWORDS, Payload, Point, Where
from discorag.text.terms import SparseVector

_PAGE = 1000


class EdgeStore(ShardStore):
    """A store in a folder, owned by one process at a time. Also a context manager that closes it.

    Args:
        path: The folder; made if it does not exist.
        dimension: Length d of a vector.
        encoder_version: `Encoder.version` of the encoder that makes the vectors.

    Raises:
        StoreLockedError: Another process, or another store of this one, has it open.
        EncoderMismatchError: It was filled by another encoder; nothing was changed.
        StoreError: The folder cannot be made, is damaged, or holds something else.
    """

    def __init__(self, path: Path, *, dimension: int, encoder_version: str) -> None:
        with ExitStack() as stack:
            try:
                path.mkdir(parents=True, exist_ok=True)
                stack.enter_context(owned(path))
                Identity(encoder_version=encoder_version, dimension=dimension).claim(path)
            except OSError as error:
                raise StoreError(
                    f"Cannot use {path} as a store: {error.strerror or error}.", hint="Check its permissions."
                ) from error
            _check_halves(path)
            docs = stack.enter_context(closing(EdgePoints(path / "docs", dimension, sparse=False)))
            nodes = stack.enter_context(closing(EdgePoints(path / "nodes", dimension, sparse=True)))
            super().__init__(docs, nodes, dimension=dimension, resources=stack)


class EdgePoints:
    """One shard of Qdrant Edge in a folder of its own. Its search is exact."""

    def __init__(self, folder: Path, dimension: int, *, sparse: bool) -> None:
        if not folder.exists():
            _create(folder, dimension, sparse=sparse)
        try:
            self._shard = qe.EdgeShard.load(str(folder))
        except Exception as error:  # the library raises no class of its own
            raise StoreError(f"{folder} is damaged: {error}.", hint="Ingest again into a new folder.") from error

    def upsert(self, points: Sequence[Point]) -> None:
        """See `Shard.upsert`."""
        try:
            self._shard.update(qe.UpdateOperation.upsert_points([_point(p) for p in points]))
        except Exception as error:  # the library raises no class of its own
            raise StoreError(
                f"Storing failed: {error}.", hint="Check the disk; the same command tries again."
            ) from error

    def delete(self, where: Where) -> None:
        """See `Shard.delete`."""
        self._shard.update(qe.UpdateOperation.delete_points_by_filter(_filter(where)))

    def nearest(self, vector: Vectors | SparseVector, where: Where, *, corpus: Where, limit: int) -> list[Hit]:
        """See `Shard.nearest`."""
        if isinstance(vector, tuple):
            query = qe.Query.Nearest(qe.SparseVector(*vector), using=BM25)
            params = qe.SearchParams(idf=qe.IdfParams(corpus=_filter(corpus)))
        else:
            query = qe.Query.Nearest(vector.tolist(), using=DENSE)
            params = qe.SearchParams(exact=True)
        request = qe.QueryRequest(limit=limit, query=query, filter=_filter(where), params=params)
        return [Hit(chunk_id=str(found.id), score=found.score) for found in self._shard.query(request)]

    def scroll(self, where: Where, fields: Sequence[str]) -> list[Payload]:
        """See `Shard.scroll`."""
        return list(self._pages(where, list(fields)))

    def _pages(self, where: Where, fields: list[str]) -> Iterator[Payload]:
        offset: qe.PointId | None = None
        while True:
            request = qe.ScrollRequest(offset=offset, limit=_PAGE, filter=_filter(where), with_payload=fields)
            records, offset = self._shard.scroll(request)
            yield from (r.payload or {} for r in records)
            if offset is None:
                return

    def retrieve(self, ids: Sequence[str]) -> dict[str, Payload]:
        """See `Shard.retrieve`."""
        return {str(r.id): r.payload or {} for r in self._shard.retrieve(list(ids), True, False)}

    def close(self) -> None:
        """Flush and release."""
        self._shard.flush()
        self._shard.close()


def _check_halves(path: Path) -> None:
    """Refuse half a store: opening it would take the other half for leftovers. ``docs`` is made before ``nodes``."""
    if (path / "nodes").exists() and not (path / "docs").exists():
        raise StoreError(f"{path} has lost its documents.", hint="Restore the folder, or ingest into a new one.")


def _create(folder: Path, dimension: int, *, sparse: bool) -> None:
    """Make an empty shard, whole or not at all."""
    draft = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    dense = {DENSE: qe.EdgeVectorParams(size=dimension, distance=qe.Distance.Cosine)}
    bm25 = {BM25: qe.EdgeSparseVectorParams(modifier=qe.Modifier.Idf)}
    config = qe.EdgeConfig(vectors=dense, sparse_vectors=bm25 if sparse else None, wal_enabled=True)
    shard = qe.EdgeShard.create(str(draft), config)
    for field in KEYWORDS:
        index = qe.KeywordIndexParams(is_tenant=field == "tenant")
        shard.update(qe.UpdateOperation.create_field_index(field, index))
    shard.flush()
    shard.close()
    draft.rename(folder)


def _point(point: Point) -> qe.Point:
    vectors: dict[str, qe.NamedVector] = {DENSE: point.dense.tolist()}
    if point.sparse is not None:
        vectors[BM25] = qe.SparseVector(*point.sparse)
    return qe.Point(point.id, vectors, dict(point.payload))


def _filter(where: Where) -> qe.Filter:
    return qe.Filter(must=_conditions(where.each), must_not=_conditions(where.none))


def _conditions(pairs: tuple[tuple[str, tuple[str, ...]], ...]) -> list[qe.ConditionType]:
    return [qe.FieldCondition(field, match=qe.MatchAny(list(values))) for field, values in pairs]
