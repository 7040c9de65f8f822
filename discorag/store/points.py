"""Documents as points of Qdrant: one point for each chunk, and one for the document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from discorag.schema.document import Scope
from discorag.schema.vectors import Vectors
from discorag.store.index import Filters, IndexedDocument
from discorag.text.terms import SparseVector

DENSE, BM25, DOCUMENT = "dense", "bm25", "document"
"""Names of the vectors: of chunks, their terms, and of documents. A search by one meets no points without it."""
KEYWORDS = ("tenant", "corpus", "doc_id", "version", "meta")
"""Payload fields, which filters look at, each with a keyword index."""
Conditions: TypeAlias = list[tuple[str, tuple[str, ...]]]
"""Payload fields with the values of which a point must have one."""


@dataclass(frozen=True)
class Point:
    """What is stored under one id.

    Args:
        id: A UUID.
        space: Name of its dense vector.
        vector: Shape (d,).
        payload: `KEYWORDS`.
        terms: Of a chunk.

    Example:
        >>> from discorag.store.points import DOCUMENT, Point
        >>> Point("id", DOCUMENT, np.ones(8, np.float32), {"tenant": "ann"}).terms is None
        True
    """

    id: str
    space: str
    vector: Vectors
    payload: Mapping[str, object]
    terms: SparseVector | None = None


def document_points(document: IndexedDocument) -> Iterator[Point]:
    """The points of a document."""
    payload = {
        "tenant": document.scope.tenant,
        "corpus": document.scope.corpus,
        "doc_id": document.doc_id,
        "version": str(document.number),
        "meta": [_pair(key, value) for key, value in document.metadata.items()],
    }
    yield Point(document.doc_id, DOCUMENT, document.mean, payload)
    for chunk, vector, terms in zip(document.chunk_ids, document.vectors, document.terms, strict=True):
        yield Point(chunk, DENSE, vector, payload, terms)


def filter_conditions(scope: Scope, filters: Filters) -> Conditions:
    """A scope and a user's filters as conditions.

    All metadata is one field: a field for each key would need an index each, and break on odd keys.
    """
    found: Conditions = [("tenant", (scope.tenant,)), ("corpus", (scope.corpus,))]
    for key, values in filters.items():
        own = ("doc_id", tuple(values)) if key == "doc_id" else ("meta", tuple(_pair(key, v) for v in values))
        found.append(own)
    return found


def _pair(key: str, value: str) -> str:
    return json.dumps([key, value], ensure_ascii=False)
