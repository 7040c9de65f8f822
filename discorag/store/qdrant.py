"""The index on a Qdrant server, through qdrant-client."""

from math import ceil
from typing import Any

from qdrant_client import QdrantClient, models

from discorag.config import StoreSettings
from discorag.schema.document import Scope
from discorag.schema.errors import ConfigError
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
    Index,
    IndexedDocument,
    IndexPlace,
    IndexUnusableError,
    Point,
    document_points,
    filter_conditions,
)
from discorag.store.records import Hit
from discorag.text.terms import SparseVector

_BATCH = 256  # points in one request
_FORMAT = 3  # 1: points without what a person can read; 2: points whose numbers and dates no range can compare


def open_server(place: IndexPlace, *, fresh: bool) -> Index:
    """The index on the server that the settings name. Raises `ConfigError` for an invalid address, and for
    a collection that is not this store's.
    """
    client = _client(place.settings)
    try:
        return ServerIndex(client, place, fresh=fresh)
    except (IndexUnusableError, ConfigError):
        client.close()
        raise
    except Exception as error:
        client.close()
        raise IndexUnusableError(f"{place.settings.url} does not answer: {error}") from error


class ServerIndex:
    """One collection, whose metadata names the store that it belongs to; the client is closed with it.

    Raises:
        IndexUnusableError: The collection is missing, or another version made it, and ``fresh`` does not ask for a new
            one.
        ConfigError: The collection belongs to another store or program.
    """

    shared = True
    keeps_passages = True

    def __init__(self, client: QdrantClient, place: IndexPlace, *, fresh: bool) -> None:
        self._client = client
        self._name = place.settings.collection or f"disco-rag-{place.database[:12]}"
        exists = client.collection_exists(self._name)
        about = self._about(place) if exists else {}
        if fresh:
            if exists:
                client.delete_collection(self._name)
            self._create(place)
        elif not exists:
            raise IndexUnusableError("it is missing", lost=True)
        elif about.get("format") != _FORMAT:
            raise IndexUnusableError("another version of disco-rag made it", lost=True)

    def _about(self, place: IndexPlace) -> dict[str, object]:
        """Return the collection's metadata. Raises `ConfigError` unless the collection is this store's."""
        about = self._client.get_collection(self._name).config.metadata or {}
        if place.settings.collection is None or about.get("database") == place.database:
            return about  # the default name has the database's id in it
        if "database" not in about:
            owner = "was not made by disco-rag"
        elif (about.get("encoder"), about.get("dimension")) != (place.encoder, place.dimension):
            theirs = f"{about.get('encoder')!r} ({about.get('dimension')} numbers per vector)"
            owner = f"was made for encoder {theirs}; this store's is {place.encoder!r} ({place.dimension})"
        else:
            owner = "belongs to another store"
        raise ConfigError(
            f"The collection {self._name!r} on {place.settings.url} {owner}.",
            hint="Choose another name (DISCO_RAG_STORE__COLLECTION), or delete that collection in Qdrant.",
        )

    def _create(self, place: IndexPlace) -> None:
        dense = models.VectorParams(size=place.dimension, distance=models.Distance.COSINE)
        bm25 = models.SparseVectorParams(modifier=models.Modifier.IDF)
        self._client.create_collection(
            self._name,
            vectors_config={DENSE: dense, DOCUMENT: dense},
            sparse_vectors_config={BM25: bm25},
            metadata={
                "format": _FORMAT,
                "database": place.database,
                "encoder": place.encoder,
                "dimension": place.dimension,
            },
        )
        for field in KEYWORDS:
            kind = models.KeywordIndexType.KEYWORD
            index = models.KeywordIndexParams(type=kind, is_tenant=field == "tenant" or None)
            self._client.create_payload_index(self._name, field, index, wait=True)
        for field, kind in ((NUMBER, models.PayloadSchemaType.FLOAT), (DATE, models.PayloadSchemaType.DATETIME)):
            self._client.create_payload_index(self._name, f"{VALUES}[].{field}", kind, wait=True)

    def apply(self, doc_id: str, document: IndexedDocument | None) -> None:
        """See `discorag.store.index.Index.apply`."""
        points = [_point(point) for point in document_points(document)] if document else []
        for at in range(0, len(points), _BATCH):
            _completed(self._client.upsert(self._name, points[at : at + _BATCH], wait=True))
        others = [] if document is None else _conditions([("version", (str(document.number),))])
        old = models.Filter(must=_conditions([("doc_id", (doc_id,))]), must_not=others)
        _completed(self._client.delete(self._name, models.FilterSelector(filter=old), wait=True))

    def nearest(
        self, scope: Scope, vector: Vectors | SparseVector, filters: Filters, limit: int, *, space: str = DENSE
    ) -> list[Hit]:
        """See `discorag.store.index.Searcher.nearest`."""
        where = filter_conditions(scope, filters)
        if not isinstance(vector, tuple):
            return self._query(vector.tolist(), space, where, limit)
        corpus = models.Filter(
            must=[*_conditions(filter_conditions(scope, {})), models.HasVectorCondition(has_vector=BM25)]
        )
        terms = models.SparseVector(indices=vector[0], values=vector[1])
        params = models.SearchParams(idf=models.IdfCorpusParams(corpus=corpus))
        return self._query(terms, BM25, where, limit, params)

    def _query(
        self,
        query: models.SparseVector | list[float],
        using: str,
        where: Conditions,
        limit: int,
        params: models.SearchParams | None = None,
    ) -> list[Hit]:
        found = self._client.query_points(
            self._name,
            query,
            using=using,
            query_filter=models.Filter(must=_conditions(where)),
            search_params=params,
            limit=limit,
            with_payload=False,
        )
        return [Hit(str(point.id), point.score) for point in found.points]

    def count(self) -> int:
        """See `discorag.store.index.Index.count`."""
        return self._client.count(self._name, exact=True).count

    def flush(self) -> None:
        """Nothing to do: a server writes what it accepts to disk."""

    @property
    def is_worn(self) -> bool:
        """Never: a server removes deleted points by itself."""
        return False

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def abandon(self, *, damaged: bool) -> None:
        """Close the connection; the server's collection stays as it is."""
        self._client.close()


def _client(settings: StoreSettings) -> QdrantClient:
    """The key goes as a header: given as a key, the client warns of http and takes a bare host for https."""
    headers = {} if settings.api_key is None else {"api-key": settings.api_key.get_secret_value()}
    try:
        return QdrantClient(
            url=settings.url, timeout=ceil(settings.timeout_s), headers=headers, check_compatibility=False
        )
    except ValueError as error:
        raise ConfigError(
            f"No Qdrant server can be reached at {settings.url!r}: {error}.",
            hint="Check DISCO_RAG_STORE__URL (http://host:6333) and DISCO_RAG_STORE__API_KEY.",
        ) from error


def _completed(result: models.UpdateResult) -> None:
    """What the server has only queued is not yet readable."""
    if result.status == models.UpdateStatus.WAIT_TIMEOUT:
        raise TimeoutError("the server did not finish a change in time")


def _point(point: Point) -> models.PointStruct:
    vectors: dict[str, models.Vector] = {point.space: point.vector.tolist()}
    if point.terms is not None:
        vectors[BM25] = models.SparseVector(indices=point.terms[0], values=point.terms[1])
    return models.PointStruct(id=point.id, vector=vectors, payload=dict(point.payload))


def _conditions(where: Conditions) -> list[models.Condition]:
    return [
        _within(field, values)
        if isinstance(values, Range)
        else models.FieldCondition(key=field, match=models.MatchAny(any=list(values)))
        for field, values in where
    ]


def _within(key: str, wanted: Range) -> models.NestedCondition:
    """The condition that a number or date of a key is within bounds."""
    field, kind = (DATE, models.DatetimeRange) if wanted.is_of_dates else (NUMBER, models.Range)
    bounds: dict[str, Any] = dict(wanted.bounds)
    own: list[models.Condition] = [
        models.FieldCondition(key=KEY, match=models.MatchValue(value=key)),
        models.FieldCondition(key=field, range=kind(**bounds)),
    ]
    return models.NestedCondition(nested=models.Nested(key=VALUES, filter=models.Filter(must=own)))
