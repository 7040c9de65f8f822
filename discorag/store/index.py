"""What an index does, and documents as the points that it holds.

An index is built from the database, can be built again, and makes searches faster.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discorag.config import StoreSettings
from discorag.schema.document import Scope
from discorag.schema.metadata import Filters, Range, Value, forms_of
from discorag.schema.values import Vectors
from discorag.store.records import Hit
from discorag.text.terms import SparseVector

DENSE, BM25, DOCUMENT = "dense", "bm25", "document"
"""Names of the vectors: a chunk's, its terms, a document's. A search by one of them finds only points that have it."""


class IndexUnusableError(Exception):
    """The index cannot be used, for a reason in a few words; ``lost``: it must be rebuilt."""

    def __init__(self, reason: str, *, lost: bool = False) -> None:
        super().__init__(reason)
        self.lost = lost


@dataclass(frozen=True)
class IndexedDocument:
    """A version (``number``) of a document as an index needs it.

    ``vectors`` has shape (chunks, d); ``term_counts``, shape (chunks,), says how many of ``term_ids`` and
    ``term_weights`` each chunk has. ``passages`` has the readable part of each chunk (`readable_passage`); it is empty
    for an index that does not keep them.
    """

    scope: Scope
    doc_id: str
    number: int
    metadata: Mapping[str, Value]
    chunk_ids: Sequence[str]
    vectors: Vectors
    term_counts: NDArray[np.uint32]
    term_ids: NDArray[np.uint32]
    term_weights: NDArray[np.float32]
    passages: Sequence[Mapping[str, object]] = ()

    @property
    def mean(self) -> Vectors:
        """The direction of the mean of the vectors: a unit vector, shape (d,)."""
        mean = self.vectors.mean(axis=0)
        return mean / max(float(np.linalg.norm(mean)), 1e-12)

    @property
    def terms(self) -> Iterator[SparseVector]:
        """The search terms of each chunk."""
        ends = self.term_counts.cumsum()[:-1]
        for ids, weights in zip(np.split(self.term_ids, ends), np.split(self.term_weights, ends), strict=True):
            yield ids.tolist(), weights.tolist()


class Searcher(Protocol):
    """Ranks the chunks, or the documents, of a scope that match filters."""

    def nearest(
        self, scope: Scope, vector: Vectors | SparseVector, filters: Filters, limit: int, *, space: str = DENSE
    ) -> list[Hit]:
        """The best chunks, best first: by cosine to a dense vector, or by BM25 with a sparse one.

        Inverse document frequencies are those of the scope. In the space `DOCUMENT` these are the documents whose mean
        vectors are nearest; a hit's ``chunk_id`` is then the document's id.
        """
        ...


class Index(Searcher, Protocol):
    """An index. One thread calls it at a time. Once it has raised anything it is not used any more.

    Raises:
        IndexUnusableError: On opening: it is missing, damaged, in use elsewhere, or of another database.
    """

    shared: bool
    """Whether other processes write to it too: then it may have what is not in the database any more."""
    keeps_passages: bool
    """Whether its points carry the readable part of each chunk (`readable_passage`), for people who look at them."""

    def apply(self, doc_id: str, document: IndexedDocument | None) -> None:
        """Bring one document up to date; None removes it. Repeating a call changes nothing."""
        ...

    def count(self) -> int:
        """How many points it holds: chunks and documents."""
        ...

    def flush(self) -> None:
        """Write all that was applied to disk: afterwards it survives the end of this process, and a power failure."""
        ...

    @property
    def is_worn(self) -> bool:
        """Whether deleted points take most of its room, so that it should be built again."""
        ...

    def close(self) -> None:
        """Flush and release it."""
        ...

    def abandon(self, *, damaged: bool) -> None:
        """Release it without flushing: its disk is full, or it failed and is not to be opened again."""
        ...


@dataclass(frozen=True)
class IndexPlace:
    """Where an index is, the id of its database, and the encoder and the length of its vectors."""

    settings: StoreSettings
    folder: Path
    database: str
    encoder: str
    dimension: int


KEYWORDS = ("tenant", "corpus", "doc_id", "version", "meta")
"""Payload fields that filters compare; each has a keyword index."""
VALUES, KEY, NUMBER, DATE = "values", "key", "number", "date"
"""The payload field of numbers and dates, which ranges compare: objects with a key, and a number or a date."""
Conditions: TypeAlias = list[tuple[str, tuple[str, ...] | Range]]
"""Payload fields with values, of which a point must have one, and keys of metadata with ranges."""


@dataclass(frozen=True)
class Point:
    """What an index stores under one UUID. ``space`` names its vector; a chunk has terms too."""

    id: str
    space: str
    vector: Vectors
    payload: Mapping[str, object]
    terms: SparseVector | None = None


def document_points(document: IndexedDocument) -> Iterator[Point]:
    """The points of a document."""
    forms = [(key, form) for key, value in document.metadata.items() for form in forms_of(value)]
    payload: dict[str, object] = {
        "tenant": document.scope.tenant,
        "corpus": document.scope.corpus,
        "doc_id": document.doc_id,
        "version": str(document.number),
        "meta": [_pair(key, form) for key, form in forms if not isinstance(form, datetime)],
        VALUES: [_comparable(key, form) for key, form in forms if not isinstance(form, str)],
    }
    passages = document.passages or [dict[str, object]() for _ in document.chunk_ids]
    own = {"title": passages[0]["title"]} if document.passages else {}
    yield Point(document.doc_id, DOCUMENT, document.mean, {**payload, **own})
    chunks = zip(document.chunk_ids, document.vectors, document.terms, passages, strict=True)
    for chunk, vector, terms, passage in chunks:
        yield Point(chunk, DENSE, vector, {**payload, **passage}, terms)


def readable_passage(chunk: Mapping[str, Any]) -> dict[str, object]:
    """Return the part of a chunk's JSON that people read: title, heading, text, and page if it is known."""
    page = {} if chunk["page"] is None else {"page": chunk["page"]}
    return {"title": chunk["title"], "heading": " > ".join(chunk["headings"]), "text": chunk["text"], **page}


def filter_conditions(scope: Scope, filters: Filters) -> Conditions:
    """A scope and a user's filters as conditions.

    All metadata is in two fields: a field for each key would need an index each, and break on odd keys.
    """
    found: Conditions = [("tenant", (scope.tenant,)), ("corpus", (scope.corpus,))]
    for key, wanted in filters.items():
        if isinstance(wanted, Range):
            found.append((key, wanted))
        elif key == "doc_id":
            found.append((key, tuple(map(str, wanted.values))))
        else:
            found.append(("meta", tuple(_pair(key, value) for value in wanted.values)))
    return found


def _pair(key: str, value: str | float) -> str:
    return json.dumps([key, value], ensure_ascii=False)


def _comparable(key: str, value: float | datetime) -> dict[str, object]:
    return {KEY: key, DATE: value.isoformat()} if isinstance(value, datetime) else {KEY: key, NUMBER: value}
