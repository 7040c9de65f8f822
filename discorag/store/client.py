"""The same store through qdrant-client: in memory, or on a server."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from itertools import islice
from math import ceil
from typing import cast
from uuid import UUID

import numpy as np
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from discorag.settings import StoreSettings
from discorag.store.base import ShardStore
from discorag.store.identity import Identity
from discorag.store.protocol import Hit
from discorag.store.server.leases import Leases
from discorag.store.server.shared import SharedCatalogue, latest
from discorag.store.server.wire import CONFLICT, Wire
from discorag.store.shard import CHUNKS, FENCE, KEYWORDS, NODES, OWNER, URI, Payload, Point, Space, Where
from discorag.text.terms import SparseVector
from discorag.types.errors import ConfigError
from discorag.types.vectors import Vectors

_PAGE = 1000
_IDENTITY = "identity"
_STRONG = models.WriteOrdering.STRONG


def open_memory(_settings: StoreSettings, dimension: int, encoder_version: str) -> QdrantStore:
    """For the registry."""
    return QdrantStore(QdrantClient(":memory:"), dimension=dimension, encoder_version=encoder_version)


def open_server(
    settings: StoreSettings, dimension: int, encoder_version: str, kind: type[ServerStore] | None = None
) -> ServerStore:
    """For the registry; ``kind`` says of which class. Raises `ConfigError` without a url."""
    if settings.url is None:
        raise ConfigError("A server is asked for, but not where.", hint="Set DISCO_RAG_STORE__URL.")
    return (kind or ServerStore)(
        settings.url,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        prefix=settings.prefix,
        timeout_s=settings.timeout_s,
        dimension=dimension,
        encoder_version=encoder_version,
    )


class QdrantStore(ShardStore):
    """A store in the collections ``docs`` and ``nodes`` of a client in local mode, which nothing else writes to.

    Also a context manager that closes it.

    Args:
        client: Used by this store alone, and closed with it.
        dimension: Length d of a vector.
        encoder_version: `Encoder.version` of the encoder that makes the vectors.

    Raises:
        EncoderMismatchError: The collections were filled by another encoder; nothing was changed.
        StoreError: The collections are not a store's.

    Example:
        >>> from qdrant_client import QdrantClient
        >>> from discorag.store.client import QdrantStore
        >>> with QdrantStore(QdrantClient(":memory:"), dimension=8, encoder_version="example") as store:
        ...     sample_of("tides.md", ["Tides rise."]).put_in(store)
        ...     print([manifest.uri for manifest in store.manifests(sample_of("", ["?"]).scope)])
        ['tides.md']
    """

    def __init__(self, client: QdrantClient, *, dimension: int, encoder_version: str) -> None:
        identity = Identity(encoder_version=encoder_version, dimension=dimension)
        wire = Wire(":memory:")
        docs = ClientPoints(client, "docs", identity, wire, sparse=False, local=True)
        nodes = ClientPoints(client, "nodes", identity, wire, sparse=True, local=True)
        with ExitStack() as stack:
            stack.enter_context(closing(client))
            super().__init__(docs, nodes, dimension=dimension, resources=stack)


class ServerStore(ShardStore):
    """A store on a Qdrant server that any number of processes read and write. Also a context manager that closes it.

    Args:
        url: The server, e.g. ``http://localhost:6333``.
        api_key: Its key; None if it wants none.
        prefix: Put before the names of the collections, ``docs``, ``nodes`` and ``leases``.
        timeout_s: Limit of one request; whole seconds, rounded up.
        dimension: Length d of a vector.
        encoder_version: `Encoder.version` of the encoder that makes the vectors.

    Raises:
        ConfigError: ``url`` or ``api_key`` cannot be such.
        EncoderMismatchError: The collections were filled by another encoder; nothing was changed.
        StoreError: The server does not answer, or refuses; or the collections are not a store's.

    Example:
        >>> from discorag.store.client import ServerStore
        >>> piece = sample_of("tides.md", ["Tides rise."])
        >>> with ServerStore(qdrant_url, prefix="docs-", dimension=8, encoder_version="example") as store:
        ...     piece.put_in(store)
        ...     print([manifest.uri for manifest in store.manifests(piece.scope)])
        ['tides.md']
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        prefix: str = "",
        timeout_s: float = 30.0,
        dimension: int,
        encoder_version: str,
    ) -> None:
        identity = Identity(encoder_version=encoder_version, dimension=dimension)
        wire = Wire(url)
        with ExitStack() as stack:
            client = stack.enter_context(closing(_client(url, api_key, timeout_s)))
            docs = ClientPoints(client, f"{prefix}docs", identity, wire, sparse=False, fields=(*KEYWORDS, URI))
            nodes = ClientPoints(client, f"{prefix}nodes", identity, wire, sparse=True)
            leases = ClientPoints(client, f"{prefix}leases", identity, wire, sparse=False, fields=("doc_id",))
            catalogue = SharedCatalogue(
                docs, nodes, stack.enter_context(closing(Leases(leases, partial(latest, docs))))
            )
            super().__init__(docs, nodes, dimension=dimension, resources=stack, catalogue=catalogue)


def _client(url: str, api_key: str | None, timeout_s: float) -> QdrantClient:
    """The key goes as a header: given as a key, the client warns of http and takes a bare host for https."""
    headers = {} if api_key is None else {"api-key": api_key}
    try:
        return QdrantClient(url=url, timeout=ceil(timeout_s), headers=headers, check_compatibility=False)
    except ValueError as error:
        raise ConfigError(
            f"No Qdrant server can be reached at {url!r}: {error}.",
            hint="Check DISCO_RAG_STORE__URL (http://host:6333) and DISCO_RAG_STORE__API_KEY.",
        ) from error


class ClientPoints:
    """One collection, made if it does not exist.

    Args:
        client: The way to it.
        name: Its name.
        identity: What it is filled by.
        wire: Around every call.
        sparse: Whether its points have BM25 vectors, and may be nodes.
        fields: Payload fields with an index.
        local: In memory every search is exact, and the client warns of asking for it.

    Example:
        >>> from qdrant_client import QdrantClient
        >>> from discorag.store.client import ClientPoints
        >>> from discorag.store.identity import Identity
        >>> from discorag.store.shard import Where
        >>> from discorag.store.server.wire import Wire
        >>> of = Identity(encoder_version="example", dimension=8)
        >>> points = ClientPoints(QdrantClient(":memory:"), "docs", of, Wire(":memory:"), sparse=False, local=True)
        >>> points.scroll(Where(), ["uri"])
        []
    """

    exact = False

    def __init__(
        self,
        client: QdrantClient,
        name: str,
        identity: Identity,
        wire: Wire,
        *,
        sparse: bool,
        fields: Sequence[str] = KEYWORDS,
        local: bool = False,
    ) -> None:
        self._client = client
        self._local = local
        self._name = name
        self._wire = wire
        if not wire(client.collection_exists, name):
            wire(self._create, identity, sparse=sparse)
        found = wire(client.get_collection, name)
        identity.check(str((found.config.metadata or {}).get(_IDENTITY, "")), f"Collection {name!r}")
        self._index([field for field in fields if field not in found.payload_schema])
        if sparse and NODES.bm25 not in (found.config.params.sparse_vectors or {}):
            self._make_room_for_nodes(identity)

    def _create(self, identity: Identity, *, sparse: bool) -> None:
        spaces = (CHUNKS, NODES) if sparse else (CHUNKS,)
        dense = models.VectorParams(size=identity.dimension, distance=models.Distance.COSINE)
        bm25 = models.SparseVectorParams(modifier=models.Modifier.IDF)
        try:
            self._client.create_collection(
                self._name,
                vectors_config=dict.fromkeys((s.dense for s in spaces), dense),
                sparse_vectors_config=dict.fromkeys((s.bm25 for s in spaces), bm25) if sparse else None,
                metadata={_IDENTITY: identity.model_dump_json()},
            )
        except UnexpectedResponse as error:
            if error.status_code != CONFLICT:  # another process was faster
                raise

    def _make_room_for_nodes(self, identity: Identity) -> None:
        """Collections that are older than trees have no vectors for nodes. Doing it again does nothing."""
        dense = models.DenseVectorConfig(size=identity.dimension, distance=models.Distance.COSINE)
        bm25 = models.SparseVectorConfig(modifier=models.Modifier.IDF)
        make = self._client.create_vector_name
        self._wire(make, self._name, NODES.dense, models.DenseVectorNameConfig(dense=dense))
        self._wire(make, self._name, NODES.bm25, models.SparseVectorNameConfig(sparse=bm25))

    def _index(self, fields: Sequence[str]) -> None:
        with warnings.catch_warnings():  # in memory there are no indexes, which the client warns of
            warnings.filterwarnings("ignore", message="Payload indexes have no effect")
            for field in fields:
                kind = models.KeywordIndexType.KEYWORD
                index = models.KeywordIndexParams(type=kind, is_tenant=field == "tenant", prefix=field == URI or None)
                self._wire(self._client.create_payload_index, self._name, field, index, wait=True)

    def upsert(self, points: Sequence[Point]) -> None:
        """See `Shard.upsert`."""
        made = [_point(p) for p in points]
        self._wire(lambda: _completed(self._client.upsert(self._name, made, wait=True)))

    def set_payload(self, id: str, payload: Payload) -> None:
        """See `Shard.set_payload`."""
        self._wire(lambda: _completed(self._client.set_payload(self._name, dict(payload), [id], wait=True)))

    def upsert_where(self, points: Sequence[Point], where: Where | None, *, there: bool = False) -> None:
        """See `SharedShard.upsert_where`. All replicas of a point take such changes in one order."""
        mode = models.UpdateMode.UPDATE_ONLY if there else models.UpdateMode.UPSERT
        conditional = partial(
            self._client.upsert,
            self._name,
            [_point(p) for p in points],
            wait=True,
            ordering=_STRONG,
            update_filter=_filter(where) if where else None,
            update_mode=mode if where else models.UpdateMode.INSERT_ONLY,
        )
        self._wire(lambda: _completed(conditional()))

    def set_payload_where(self, payload: Payload, where: Where) -> None:
        """See `SharedShard.set_payload_where`. All replicas of a point take such changes in one order."""
        change = partial(self._client.set_payload, self._name, dict(payload), _filter(where), wait=True)
        self._wire(lambda: _completed(change(ordering=_STRONG)))

    def delete(self, where: Where, space: Space | None = None) -> None:
        """See `Shard.delete`."""
        selector = models.FilterSelector(filter=_filter(where, space))
        remove = partial(self._client.delete, self._name, selector, wait=True)
        self._wire(lambda: _completed(remove(ordering=None if where.fence is None else _STRONG)))

    def nearest(self, vector: Vectors | SparseVector, where: Where, *, corpus: Where, limit: int) -> list[Hit]:
        """See `Shard.nearest`."""
        return [hit for _, hit in self.nearest_versions(vector, where, corpus=corpus, limit=limit)]

    def nearest_versions(
        self, vector: Vectors | SparseVector, where: Where, *, corpus: Where, limit: int
    ) -> list[tuple[str, Hit]]:
        """See `VersionedShard.nearest_versions`."""
        sparse = isinstance(vector, tuple)
        idf = models.IdfCorpusParams(corpus=_filter(corpus)) if sparse else None
        found = self._wire(
            self._client.query_points,
            self._name,
            models.SparseVector(indices=vector[0], values=vector[1]) if isinstance(vector, tuple) else vector.tolist(),
            using=CHUNKS.bm25 if sparse else CHUNKS.dense,
            query_filter=_filter(where),
            search_params=models.SearchParams(idf=idf) if sparse else None,
            limit=limit,
            with_payload=["version"],
        )
        return [((p.payload or {})["version"], Hit(chunk_id=str(p.id), score=p.score)) for p in found.points]

    def cosines(self, vector: Vectors, where: Where, limit: int) -> tuple[bytes, list[float]]:
        """See `Shard.cosines`."""
        found = self._wire(
            self._client.query_points,
            self._name,
            vector.tolist(),
            using=NODES.dense,
            query_filter=_filter(where),
            search_params=None if self._local else models.SearchParams(exact=True),
            limit=limit,
            with_payload=False,
        ).points
        return b"".join([UUID(str(p.id)).bytes for p in found]), [p.score for p in found]

    def scroll(self, where: Where, fields: Sequence[str], limit: int | None = None) -> list[Payload]:
        """See `Shard.scroll`."""
        return list(islice(self._pages(where, list(fields), limit or _PAGE), limit))

    def _pages(self, where: Where, fields: list[str], size: int) -> Iterator[Payload]:
        offset: models.ExtendedPointId | None = None
        while True:
            records, following = self._wire(
                self._client.scroll, self._name, _filter(where), limit=size, offset=offset, with_payload=fields
            )
            yield from (r.payload or {} for r in records)
            if following is None:
                return
            offset = cast("models.ExtendedPointId", following)

    def points(self, where: Where) -> Iterator[Point]:
        """See `Shard.points`."""
        offset: models.ExtendedPointId | None = None
        while True:
            records, following = self._wire(
                self._client.scroll,
                self._name,
                _filter(where),
                limit=_PAGE,
                offset=offset,
                with_payload=True,
                with_vectors=True,
            )
            yield from map(_read, records)
            if following is None:
                return
            offset = cast("models.ExtendedPointId", following)

    def retrieve(self, ids: Sequence[str], fields: Sequence[str] | None = None) -> dict[str, Payload]:
        """See `Shard.retrieve`."""
        wanted = True if fields is None else list(fields)
        asked = [list(ids[at : at + _PAGE]) for at in range(0, len(ids), _PAGE)]
        found = [r for some in asked for r in self._wire(self._client.retrieve, self._name, some, wanted)]
        return {str(r.id): r.payload or {} for r in found}

    def agreed(self, ids: Sequence[str], fields: Sequence[str]) -> dict[str, Payload]:
        """See `SharedShard.agreed`."""
        most = models.ReadConsistencyType.MAJORITY
        found = self._wire(self._client.retrieve, self._name, list(ids), list(fields), consistency=most)
        return {str(r.id): r.payload or {} for r in found}

    def vectors(self, ids: Sequence[str]) -> dict[str, tuple[Payload, Vectors]]:
        """See `Shard.vectors`."""
        found = self._wire(self._client.retrieve, self._name, list(ids), list(OWNER), with_vectors=True)
        return {point.id: (point.payload, point.dense) for point in map(_read, found)}

    def optimise(self) -> None:
        """Nothing to do: a server does it by itself, and in memory there is nothing to be done."""


def _completed(result: models.UpdateResult) -> None:
    """What the server has only queued is not yet readable."""
    if result.status == models.UpdateStatus.WAIT_TIMEOUT:
        raise TimeoutError


def _point(point: Point) -> models.PointStruct:
    vectors: dict[str, models.Vector] = {point.space.dense: point.dense.tolist()} if point.dense.size else {}
    if point.sparse is not None:
        vectors[point.space.bm25] = models.SparseVector(indices=point.sparse[0], values=point.sparse[1])
    return models.PointStruct(id=point.id, vector=vectors, payload=dict(point.payload))


def _read(record: models.Record) -> Point:
    found = cast("dict[str, models.Vector]", record.vector)
    space = NODES if NODES.dense in found else CHUNKS
    bm25 = found.get(space.bm25)
    sparse = (bm25.indices, bm25.values) if isinstance(bm25, models.SparseVector) else None
    return Point(str(record.id), np.asarray(found[space.dense], np.float32), record.payload or {}, sparse, space)


def _filter(where: Where, space: Space | None = None) -> models.Filter:
    within: list[models.Condition] = [models.HasVectorCondition(has_vector=space.dense)] if space else []
    if where.below:
        within.append(models.FieldCondition(key=URI, match=models.MatchPrefix(prefix=where.below)))
    later: list[models.Condition] = []
    if where.fence is not None:
        later.append(models.FieldCondition(key=FENCE, range=models.Range(gt=where.fence)))
    return models.Filter(must=_conditions(where.each) + within, must_not=_conditions(where.none) + later)


def _conditions(pairs: tuple[tuple[str, tuple[str, ...]], ...]) -> list[models.Condition]:
    return [models.FieldCondition(key=field, match=models.MatchAny(any=list(values))) for field, values in pairs]
