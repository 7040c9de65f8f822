"""What the store gives to its callers, and how it is searched: manifests, corpora, hits, queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

from discorag.schema.vectors import Vectors

Retrieval = Literal["dense", "hybrid"]


class Manifest(BaseModel):
    """What is stored of one document.

    Args:
        doc_id: `Document.id_in` of the scope.
        uri: Where it was read.
        title: Its title.
        content_hash: `Document.content_hash`.
        text_hash: `Document.text_hash`: of copies under other names too.
        fingerprint: Content and versions together (`discorag.schema.ids.fingerprint`).
        versions: Stage name -> version that made what is stored.
        chunks: Number of chunks.
        written: When an ingest stored it.

    Example:
        >>> piece = sample_of("tides.md", ["The moon pulls the sea.", "Tides rise."])
        >>> piece.put_in(store)
        >>> manifest = store.manifest(piece.scope, piece.doc_id)
        >>> manifest.uri, manifest.chunks, manifest.versions
        ('tides.md', 2, {'encoder': 'test-encoder/1'})
    """

    model_config = ConfigDict(frozen=True)

    doc_id: str
    uri: str
    title: str
    content_hash: str
    fingerprint: str
    versions: dict[str, str]
    chunks: int
    written: datetime | None = None
    text_hash: str = ""


class Corpus(BaseModel):
    """What is stored of one corpus.

    Args:
        name: The corpus.
        documents: How many it has.
        chunks: How many these have together.
        written: When one of them was last stored; None if that is not known.

    Example:
        >>> piece = sample_of("tides.md", ["The moon pulls the sea.", "Tides rise."])
        >>> piece.put_in(store)
        >>> [(corpus.documents, corpus.chunks) for corpus in store.corpora(piece.scope.tenant)]
        [(1, 2)]
    """

    model_config = ConfigDict(frozen=True)

    name: str
    documents: int
    chunks: int
    written: datetime | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved chunk id with its score (cosine, or the fused RRF score): higher is better.

    A dataclass, not a pydantic model: a hybrid search makes hundreds of them for its ten.

    Example:
        >>> from discorag.store.records import SearchQuery
        >>> piece = sample_of("tides.md", ["The moon pulls the sea.", "Tides rise."])
        >>> piece.put_in(store)
        >>> hit = store.search(piece.scope, SearchQuery(vector=piece.vectors[1], top_k=1))[0]
        >>> hit.chunk_id == piece.ids[1], round(hit.score, 3)
        (True, 1.0)
    """

    chunk_id: str
    score: float


class SearchQuery(BaseModel):
    """A search for chunks or documents.

    Args:
        vector: Query embedding, unit length, shape (d,).
        text: The query itself, for BM25; used by ``hybrid`` only.
        retrieval: ``dense``, or ``hybrid``: dense and BM25 fused by reciprocal ranks, k = 60.
        top_k: Number of hits wanted, at least 1.
        filters: Metadata key -> accepted values; all keys must match. ``doc_id`` filters by document.

    Example:
        >>> from discorag.store.records import SearchQuery
        >>> piece = sample_of("tides.md", ["The moon pulls the sea.", "Tides rise."])
        >>> piece.put_in(store)
        >>> query = SearchQuery(vector=piece.vectors[0], text="Do tides rise?", retrieval="hybrid", top_k=1)
        >>> store.search(piece.scope, query)[0].chunk_id in piece.ids
        True
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    vector: Vectors
    text: str = ""
    retrieval: Retrieval = "dense"
    top_k: int = 10
    filters: Mapping[str, Sequence[str]] = {}
