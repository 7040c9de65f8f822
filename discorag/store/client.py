"""The same store through qdrant-client."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from typing import cast

from qdrant_client import QdrantClient, models

from discorag.store.base import ShardStore
from discorag.store.identity import Identity
from discorag.store.protocol import Hit, Vectors
from discorag.store.shard import BM25, DENSE, KEYWORDS, Payload, Point, Where
from discorag.text.terms import SparseVector

_PAGE = 1000
_IDENTITY = "identity"


class QdrantStore(ShardStore):
    """A store in the collections ``docs`` and ``nodes`` of a Qdrant client. Also a context manager that closes it.

    Args:
        client: Used by this store alone, and closed with it.
        dimension: Length d of a vector.
        encoder_version: `Encoder.version` of the encoder that makes the vectors.

    Raises:
        EncoderMismatchError: The collections were filled by another encoder; nothing was changed.
        StoreError: The collections are not a store's.
    """

    def __init__(self, client: QdrantClient, *, dimension: int, encoder_version: str) -> None:
        identity = Identity(encoder_version=encoder_version, dimension=dimension)
        docs = ClientPoints(client, "docs", identity, sparse=False)
        nodes = ClientPoints(client, "nodes", identity, sparse=True)
        with ExitStack() as stack:
            stack.enter_context(closing(client))
            super().__init__(docs, nodes, dimension=dimension, resources=stack)


class ClientPoints:
    """One collection."""

    def __init__(self, client: QdrantClient, name: str, identity: Identity, *, sparse: bool) -> None:
        self._client = client
        self._name = name
        if client.collection_exists(name):
            metadata = client.get_collection(name).config.metadata or {}
            identity.check(str(metadata.get(_IDENTITY, "")), f"Collection {name!r}")
        else:
            self._create(identity, sparse=sparse)

    def _create(self, identity: Identity, *, sparse: bool) -> None:
        bm25 = {BM25: models.SparseVectorParams(modifier=models.Modifier.IDF)}
        self._client.create_collection(
            self._name,
            vectors_config={DENSE: models.VectorParams(size=identity.dimension, distance=models.Distance.COSINE)},
            sparse_vectors_config=bm25 if sparse else None,
            metadata={_IDENTITY: identity.model_dump_json()},
        )
        with warnings.catch_warnings():  # in memory there are no indexes, which the client warns of
            warnings.filterwarnings("ignore", message="Payload indexes have no effect")
            for field in KEYWORDS:
                kind = models.KeywordIndexType.KEYWORD
                index = models.KeywordIndexParams(type=kind, is_tenant=field == "tenant")
                self._client.create_payload_index(self._name, field, index, wait=True)

    def upsert(self, points: Sequence[Point]) -> None:
        """See `Shard.upsert`."""
        self._client.upsert(self._name, [_point(p) for p in points], wait=True)

    def delete(self, where: Where) -> None:
        """See `Shard.delete`."""
        self._client.delete(self._name, models.FilterSelector(filter=_filter(where)), wait=True)

    def nearest(self, vector: Vectors | SparseVector, where: Where, *, corpus: Where, limit: int) -> list[Hit]:
        """See `Shard.nearest`."""
        sparse = isinstance(vector, tuple)
        idf = models.IdfCorpusParams(corpus=_filter(corpus))
        found = self._client.query_points(
            self._name,
            models.SparseVector(indices=vector[0], values=vector[1]) if isinstance(vector, tuple) else vector.tolist(),
            using=BM25 if sparse else DENSE,
            query_filter=_filter(where),
            search_params=models.SearchParams(idf=idf) if sparse else None,
            limit=limit,
            with_payload=False,
        )
        return [Hit(chunk_id=str(p.id), score=p.score) for p in found.points]

    def scroll(self, where: Where, fields: Sequence[str]) -> list[Payload]:
        """See `Shard.scroll`."""
        return list(self._pages(where, list(fields)))

    def _pages(self, where: Where, fields: list[str]) -> Iterator[Payload]:
        offset: models.ExtendedPointId | None = None
        while True:
            records, following = self._client.scroll(
                self._name, _filter(where), limit=_PAGE, offset=offset, with_payload=fields
            )
            yield from (r.payload or {} for r in records)
            if following is None:
                return
            offset = cast("models.ExtendedPointId", following)

    def retrieve(self, ids: Sequence[str]) -> dict[str, Payload]:
        """See `Shard.retrieve`."""
        return {str(r.id): r.payload or {} for r in self._client.retrieve(self._name, list(ids))}


def _point(point: Point) -> models.PointStruct:
    vectors: dict[str, models.Vector] = {DENSE: point.dense.tolist()}
    if point.sparse is not None:
        vectors[BM25] = models.SparseVector(indices=point.sparse[0], values=point.sparse[1])
    return models.PointStruct(id=point.id, vector=vectors, payload=dict(point.payload))


def _filter(where: Where) -> models.Filter:
    return models.Filter(must=_conditions(where.each), must_not=_conditions(where.none))


def _conditions(pairs: tuple[tuple[str, tuple[str, ...]], ...]) -> list[models.Condition]:
    return [models.FieldCondition(key=field, match=models.MatchAny(any=list(values))) for field, values in pairs]
