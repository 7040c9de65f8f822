"""Documents, their manifests and their chunks, in the database."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, bindparam, delete, func, insert, select, update

from discorag.schema.document import Chunk, Document, Scope
from discorag.schema.values import Span, Vectors, unit
from discorag.store import tables
from discorag.store.database import Database, is_in, no_document
from discorag.store.recent import Recent
from discorag.store.records import Corpus, Manifest, check_document
from discorag.store.tables import (
    pack,
    pack_places,
    pack_terms,
    pack_text,
    pack_vectors,
    unpack,
    unpack_places,
    unpack_text,
)
from discorag.text.terms import sparse

_PLACES = 10_000  # documents whose chunks' places are kept in memory
_MANY = 10_000  # ids that one statement names

D, K, C = tables.documents, tables.contents, tables.chunks
_CHUNKS = (
    select(C.c.id, C.c.body, C.c.units)
    .join(D)
    .where(D.c.tenant == bindparam("tenant"), D.c.corpus == bindparam("corpus"))
    .where(C.c.id.in_(bindparam("ids", expanding=True)))
)
"""Made once: every question asks it."""


class Documents:
    """The documents of all tenants. Every change of one is a transaction, and is written down for the index.

    Args:
        database: Where they are.

    Example:
        >>> from discorag.store.documents import Documents
        >>> Documents(store.database).manifests(scope)
        []
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._places = Recent[Sequence[tuple[str, Span]]](_PLACES)

    def put(
        self, scope: Scope, document: Document, manifest: Manifest, chunks: Sequence[Chunk], vectors: Vectors
    ) -> None:
        """Store a document, replacing what was there under its id.

        Its trees stay if the fingerprint is the stored one; else they go with the old document.

        Args:
            scope: Whose.
            document: Its canonical form.
            manifest: Of the document.
            chunks: Its chunks, in order.
            vectors: Unit vectors of the chunks, shape (len(chunks), d).

        Raises:
            InvariantError: These do not belong together; see `discorag.store.records.check_document`.
        """
        check_document(scope, document, manifest, chunks, vectors, self._database.identity.dimension)
        terms = [sparse("\n".join(filter(None, (c.title, *c.headings, c.columns, c.text)))) for c in chunks]
        content = {
            "text": pack_text(document.model_dump_json()),
            "places": pack_places([(c.id, c.span.start, c.span.end) for c in chunks]),
            "vectors": pack_vectors(unit(vectors)),
            "terms": pack_terms(terms),
        }
        rows = [_chunk_row(chunk, at) for at, chunk in enumerate(chunks)]
        with self._database.write() as db:
            number = self._published(db, _document_row(scope, document, manifest))
            db.execute(insert(K), {"document": number, **content})
            db.execute(insert(C), [{"document": number, **row} for row in rows])
            db.execute(insert(tables.outbox), {"doc_id": manifest.doc_id})

    def _published(self, db: Connection, row: Mapping[str, Any]) -> int:
        """Make this the document's row; its number. A document of the same fingerprint keeps its number and trees."""
        old = db.execute(select(D.c.number, D.c.fingerprint).where(D.c.doc_id == row["doc_id"])).one_or_none()
        if old and old.fingerprint == row["fingerprint"]:
            for table in (K, C):
                db.execute(delete(table).where(table.c.document == old.number))
            db.execute(update(D).where(D.c.number == old.number), row)
            return old.number
        if old:
            db.execute(delete(D).where(D.c.number == old.number))
        return db.scalars(insert(D).returning(D.c.number), row).one()

    def delete(self, scope: Scope, doc_id: str) -> bool:
        """Remove a document with all its chunks and trees; whether it was there."""
        with self._database.write() as db:
            found = db.execute(delete(D).where(is_in(scope), D.c.doc_id == doc_id)).rowcount > 0
            if found:
                db.execute(insert(tables.outbox), {"doc_id": doc_id})
        return found

    def manifests(self, scope: Scope, doc_ids: Sequence[str] | None = None) -> list[Manifest]:
        """All documents of the scope, or those of ``doc_ids`` that are stored, by uri."""
        found = rows_of(self._database, scope, select(D.c.manifest, D.c.uri), doc_ids)
        return [manifest_from(row.manifest) for row in sorted(found, key=lambda row: row.uri)]

    def under(self, scope: Scope, folder: str) -> list[Manifest]:
        """The documents of the scope whose uri begins with this."""
        with self._database.read() as db:
            return [manifest_from(m) for m in db.scalars(select(D.c.manifest).where(is_in(scope), _begins(folder)))]

    def has(self, scope: Scope, folder: str = "") -> bool:
        """Whether there is any document in the scope whose uri begins with this."""
        with self._database.read() as db:
            return db.execute(select(D.c.number).where(is_in(scope), _begins(folder)).limit(1)).first() is not None

    def corpora(self, tenant: str) -> list[Corpus]:
        """The corpora in which the tenant has documents, by name."""
        counted = (func.count(), func.sum(D.c.chunks), func.max(D.c.written))
        with self._database.read() as db:
            found = db.execute(select(D.c.corpus, *counted).where(D.c.tenant == tenant).group_by(D.c.corpus)).all()
        return [
            Corpus(name=name, documents=count, chunks=chunks, written=datetime.fromisoformat(at) if at else None)
            for name, count, chunks, at in sorted(row.tuple() for row in found)
        ]

    def manifest(self, scope: Scope, doc_id: str) -> Manifest | None:
        """The manifest of one document, None if it is not stored."""
        return next(iter(self.manifests(scope, [doc_id])), None)

    def document(self, scope: Scope, doc_id: str) -> Document:
        """The canonical document. Raises `NotFoundError`."""
        with self._database.read() as db:
            found = db.scalar(select(K.c.text).join(D).where(is_in(scope), D.c.doc_id == doc_id))
        if found is None:
            raise no_document(scope, doc_id)
        return Document.model_validate_json(unpack_text(found))

    def chunks_of(self, scope: Scope, doc_id: str) -> list[Chunk]:
        """The chunks of a document in order, without their units' vectors. Raises `NotFoundError`."""
        query = select(C.c.body).join(D).where(is_in(scope), D.c.doc_id == doc_id).order_by(C.c.position)
        with self._database.read() as db:
            found = db.scalars(query).all()
        if not found:
            raise no_document(scope, doc_id)
        return [_chunk(body) for body in found]

    def chunk_spans(self, scope: Scope, doc_id: str) -> Sequence[tuple[str, Span]]:
        """Id and characters of each chunk of a document, in order. Raises `NotFoundError`."""
        with self._database.read() as db:
            number = db.scalar(select(D.c.number).where(is_in(scope), D.c.doc_id == doc_id))
            if number is None:
                raise no_document(scope, doc_id)
            if known := self._places.get(str(number)):
                return known
            packed = db.scalars(select(K.c.places).where(K.c.document == number)).one()
        found = [(i, Span.model_construct(start=start, end=end)) for i, start, end in unpack_places(packed)]
        return self._places.put(str(number), found)

    def chunks(self, scope: Scope, ids: Collection[str]) -> dict[str, Chunk]:
        """Those of these ids that are of chunks, with their units' vectors, by id."""
        found: dict[str, Chunk] = {}
        with self._database.read() as db:
            for part in in_parts(set(ids)):
                rows = db.execute(_CHUNKS, {"tenant": scope.tenant, "corpus": scope.corpus, "ids": part})
                found |= {row.id: _chunk(row.body, bytes(unpack(row.units)).decode()) for row in rows}
        return found

    def current(self, scope: Scope, ids: Sequence[str]) -> set[str]:
        """Those of these ids that are of chunks of the scope."""
        with self._database.read() as db:
            parts = (select(C.c.id).join(D).where(is_in(scope), C.c.id.in_(part)) for part in in_parts(ids))
            return {found for part in parts for found in db.scalars(part)}

    def current_documents(self, scope: Scope, doc_ids: Sequence[str]) -> set[str]:
        """Those of these ids that are of documents of the scope."""
        return {row.doc_id for row in rows_of(self._database, scope, select(D.c.doc_id), doc_ids)}


def rows_of(
    database: Database, scope: Scope, query: Select[*tuple[Any, ...]], doc_ids: Collection[str] | None = None
) -> list[Row[*tuple[Any, ...]]]:
    """The rows of a query over documents: of the whole scope, or of these documents of it."""
    with database.read() as db:
        if doc_ids is None:
            return list(db.execute(query.where(is_in(scope))))
        parts = (query.where(is_in(scope), D.c.doc_id.in_(part)) for part in in_parts(doc_ids))
        return [row for part in parts for row in db.execute(part)]


def in_parts(ids: Collection[str]) -> Iterator[list[str]]:
    """Ids, as many at a time as one statement may name."""
    every = list(ids)
    return (every[at : at + _MANY] for at in range(0, len(every), _MANY))


def manifest_from(packed: bytes) -> Manifest:
    """A manifest as it was stored."""
    return Manifest.model_validate_json(bytes(unpack(packed)))


def _begins(folder: str) -> ColumnElement[bool]:
    """Whether the uri begins with this: it lies between it and the next text of its length."""
    if not folder:
        return D.c.uri >= ""
    last = ord(folder[-1]) + 1
    return and_(D.c.uri >= folder, D.c.uri < folder[:-1] + chr(0xE000 if last == 0xD800 else last))


def _document_row(scope: Scope, document: Document, manifest: Manifest) -> dict[str, Any]:
    return {
        "doc_id": manifest.doc_id,
        "tenant": scope.tenant,
        "corpus": scope.corpus,
        "uri": manifest.uri,
        "fingerprint": manifest.fingerprint,
        "chunks": manifest.chunks,
        "written": manifest.written.isoformat() if manifest.written else "",
        "filters": pack_text(json.dumps(document.metadata)),
        "manifest": pack(manifest.model_dump_json().encode()),
    }


def _chunk_row(chunk: Chunk, position: int) -> dict[str, Any]:
    return {
        "position": position,
        "id": chunk.id,
        "body": pack_text(chunk.model_dump_json(exclude={"stands_for", "also_in"})),
        "units": pack(chunk.unit_vectors.encode()),
    }


def _chunk(body: bytes, units: str = "") -> Chunk:
    chunk = Chunk.model_validate_json(unpack_text(body))
    return chunk.model_copy(update={"unit_vectors": units}) if units else chunk
