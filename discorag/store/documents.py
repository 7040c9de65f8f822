"""Documents, their manifests and their chunks, in the database."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from threading import Lock
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, delete, func, insert, or_, select, update

from discorag.schema.document import Chunk, Document, Scope, name_sources, uploaded_name
from discorag.schema.values import Span, Vectors, unit
from discorag.store import tables
from discorag.store.database import Database, is_in, no_document
from discorag.store.index import IndexedDocument, readable_passage
from discorag.store.records import Corpus, Manifest, check_vectors
from discorag.store.tables import (
    pack,
    pack_terms,
    pack_text,
    pack_vectors,
    unpack,
    unpack_terms,
    unpack_text,
    unpack_vectors,
)
from discorag.store.uploads import begin_removal, uploads_of
from discorag.text.terms import sparse

T = TypeVar("T")
_SCOPES = 100  # scopes whose documents' titles are kept in memory
_TITLES = 10_000  # documents of a scope, at most, whose titles are read
_MANY = 10_000  # ids that one statement names
_READ = 100  # documents that an index reads at a time

D, K, C, F = tables.documents, tables.contents, tables.chunks, tables.findings


class Recent(dict[str, T]):
    """The last ``size`` values that were put in, by key. Reading takes no lock, unlike with `cachetools`."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size
        self._lock = Lock()

    def put(self, key: str, value: T) -> T:
        """Put it in, drop the oldest if there are too many, and return the value."""
        with self._lock:
            self[key] = value
            if len(self) > self._size:
                del self[next(iter(self))]
        return value


class Documents:
    """The documents of all tenants. A change of one is one transaction, which also puts it into the index's outbox."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._titles = Recent[tuple[dict[str, str], int]](_SCOPES)

    def put(
        self, scope: Scope, document: Document, manifest: Manifest, chunks: Sequence[Chunk], vectors: Vectors
    ) -> None:
        """Store a document with its chunks and their unit vectors, shape (len(chunks), d), replacing what has its id.

        Its trees stay if the fingerprint is the stored one; else they go with the old document.

        Raises:
            InvariantError: These are not unit vectors of this shape.
            StoreFullError: The disk is nearly full.
        """
        self.database.place.check_room()
        check_vectors(vectors, len(chunks), self.database.identity.dimension, document.uri)
        terms = [sparse("\n".join(filter(None, (c.title, *c.headings, c.columns, c.text)))) for c in chunks]
        content = {
            "text": pack_text(document.model_dump_json(exclude={"lines"})),  # its chunks have them
            "places": pack_text(json.dumps([(c.id, c.span.start, c.span.end) for c in chunks])),
            "vectors": pack_vectors(unit(vectors)),
            "terms": pack_terms(terms),
        }
        rows = [_chunk_row(chunk, at) for at, chunk in enumerate(chunks)]
        with self.database.write(manifest.doc_id) as db:
            number = self._put_row(db, _document_row(scope, document, manifest))
            db.execute(insert(K), {"document": number, **content})
            db.execute(insert(C), [{"document": number, **row} for row in rows])
            db.execute(insert(tables.outbox), {"doc_id": manifest.doc_id})
        self.changed()

    def changed(self) -> None:
        """Subclasses override this hook; it runs after each change."""

    def _put_row(self, db: Connection, row: Mapping[str, Any]) -> int:
        """Write the document's row; its number. A document of the same fingerprint keeps its number and trees."""
        old = db.execute(select(D.c.number, D.c.fingerprint).where(D.c.doc_id == row["doc_id"])).one_or_none()
        if old and old.fingerprint == row["fingerprint"]:
            for table in (K, C):
                db.execute(delete(table).where(table.c.document == old.number))
            db.execute(update(D).where(D.c.number == old.number), row)
            return old.number
        if old:
            db.execute(delete(D).where(D.c.number == old.number))
        return db.scalars(insert(D).returning(D.c.number), row).one()

    def count_documents(self) -> int:
        """How many documents all tenants have."""
        with self.database.read() as db:
            return db.scalar(select(func.count()).select_from(D)) or 0

    def delete(self, scope: Scope, doc_id: str) -> bool:
        """Remove a document with its chunks and trees, and the answers in threads that read it.

        Its uploaded file is noted for `JobTable.finish_removals`. Returns whether the document was there.
        """
        with self.database.write(doc_id, uploads_of(scope.tenant)) as db:
            _forget_answers(db, scope, doc_id)
            uri = db.scalar(delete(D).where(is_in(scope), D.c.doc_id == doc_id).returning(D.c.uri))
            if uri is not None:
                db.execute(insert(tables.outbox), {"doc_id": doc_id})
                db.execute(delete(F).where(or_(F.c.left_doc == doc_id, F.c.right_doc == doc_id)))  # they quote it
                if name := uploaded_name(uri):
                    begin_removal(db, scope, name)
        if uri is None:
            return False
        self.changed()
        return True

    def manifests(self, scope: Scope, doc_ids: Sequence[str] | None = None) -> list[Manifest]:
        """All documents of the scope, or those of ``doc_ids`` that are stored, by uri."""
        found = self._rows(scope, select(D.c.manifest, D.c.uri), doc_ids)
        return [manifest_from(row.manifest) for row in sorted(found, key=lambda row: row.uri)]

    def page(self, scope: Scope, offset: int, limit: int) -> tuple[list[Manifest], int]:
        """Some documents of the scope, by uri, and how many it has."""
        every = select(D.c.manifest).where(is_in(scope)).order_by(D.c.uri)
        with self.database.read() as db:
            total = db.scalar(select(func.count()).select_from(D).where(is_in(scope))) or 0
            return [manifest_from(m) for m in db.scalars(every.offset(offset).limit(limit))], total

    def under(self, scope: Scope, folder: str) -> list[Manifest]:
        """The documents of the scope whose URI begins with ``folder``."""
        with self.database.read() as db:
            return [manifest_from(m) for m in db.scalars(select(D.c.manifest).where(is_in(scope), _begins(folder)))]

    def has(self, scope: Scope, folder: str = "") -> bool:
        """Whether the scope has a document whose URI begins with ``folder``."""
        with self.database.read() as db:
            return db.execute(select(D.c.number).where(is_in(scope), _begins(folder)).limit(1)).first() is not None

    def corpora(self, tenant: str) -> list[Corpus]:
        """The corpora in which the tenant has documents, by name."""
        counted = (func.count(), func.sum(D.c.chunks), func.max(D.c.written))
        with self.database.read() as db:
            found = db.execute(select(D.c.corpus, *counted).where(D.c.tenant == tenant).group_by(D.c.corpus)).all()
        return [
            Corpus(name=name, documents=count, chunks=chunks, written=datetime.fromisoformat(at) if at else None)
            for name, count, chunks, at in sorted(row.tuple() for row in found)
        ]

    def source_names(self, scope: Scope, sources: Iterable[Chunk | Manifest]) -> dict[str, str]:
        """What to call these documents, or those of these chunks, by URI; see `discorag.schema.document.name_sources`.

        They are compared with all documents of the scope; if there are too many, with each other.
        """
        titles = {source.uri: source.title for source in sources}
        known, newest = self._titles.get(scope.folder, (dict[str, str](), 0))
        query = select(D.c.number, D.c.uri, D.c.manifest).where(is_in(scope))
        with self.database.read() as db:
            count = db.scalar(select(func.count()).select_from(D).where(is_in(scope))) or 0
            if count > _TITLES:
                return name_sources(titles, titles)
            rows = db.execute(query.where(D.c.number > newest)).all()
            if len(known) + sum(row.uri not in known for row in rows) != count:  # documents were deleted
                known, rows = dict[str, str](), db.execute(query).all()
        if rows:
            known = known | {row.uri: manifest_from(row.manifest).title for row in rows}
            self._titles.put(scope.folder, (known, max(row.number for row in rows)))
        return name_sources(titles, known)

    def manifest(self, scope: Scope, doc_id: str) -> Manifest | None:
        """The manifest of one document, None if it is not stored."""
        return next(iter(self.manifests(scope, [doc_id])), None)

    def ids_at(self, scope: Scope, uris: Sequence[str]) -> list[str]:
        """The ids of the documents of these uris, or those that they would get; an older store made them otherwise."""
        query, stored = select(D.c.uri, D.c.doc_id).where(is_in(scope)), dict[str, str]()
        with self.database.read() as db:
            for part in in_parts(uris):
                stored |= {row.uri: row.doc_id for row in db.execute(query.where(D.c.uri.in_(part)))}
        return [stored.get(uri) or scope.id_of(uri) for uri in uris]

    def document(self, scope: Scope, doc_id: str) -> Document:
        """The canonical document, with the lines that its chunks are on. Raises `NotFoundError`."""
        query = select(K.c.text, D.c.uri).join(D).where(is_in(scope), D.c.doc_id == doc_id)
        with self.database.read() as db:
            found = db.execute(query).one_or_none()
        if found is None:
            raise no_document(scope, doc_id)
        document = Document.model_validate_json(unpack_text(found.text)).model_copy(update={"uri": found.uri})
        if not document.pages:
            return document
        lines = {line for chunk in self.chunks_of(scope, doc_id) for line in chunk.lines}
        return document.model_copy(update={"lines": tuple(sorted(lines))})

    def chunks_of(self, scope: Scope, doc_id: str) -> list[Chunk]:
        """The chunks of a document in order, without their units' vectors. Raises `NotFoundError`."""
        query = select(C.c.body, D.c.uri).join(D).where(is_in(scope), D.c.doc_id == doc_id).order_by(C.c.position)
        with self.database.read() as db:
            found = db.execute(query).all()
        if not found:
            raise no_document(scope, doc_id)
        return [_chunk(row.body, row.uri) for row in found]

    def chunk_spans(self, scope: Scope, doc_id: str) -> list[tuple[str, Span]]:
        """Id and characters of each chunk of a document, in order. Raises `NotFoundError`."""
        with self.database.read() as db:
            packed = db.scalar(select(K.c.places).join(D).where(is_in(scope), D.c.doc_id == doc_id))
        if packed is None:
            raise no_document(scope, doc_id)
        return [(i, Span.model_construct(start=start, end=end)) for i, start, end in json.loads(unpack_text(packed))]

    def known_chunks(self, scope: Scope, ids: Collection[str]) -> set[str]:
        """Which of these ids are chunks of stored documents."""
        query = select(C.c.id).join(D).where(is_in(scope))
        with self.database.read() as db:
            return {i for part in in_parts(set(ids)) for i in db.scalars(query.where(C.c.id.in_(part)))}

    def _chunks(self, scope: Scope, ids: Collection[str]) -> dict[str, Chunk]:
        """The chunks with these ids, with their units' vectors, by id; an unknown id is left out."""
        query = select(C.c.id, C.c.body, C.c.units, D.c.uri).join(D).where(is_in(scope))
        with self.database.read() as db:
            rows = [row for part in in_parts(set(ids)) for row in db.execute(query.where(C.c.id.in_(part)))]
        return {row.id: _chunk(row.body, row.uri, bytes(unpack(row.units)).decode()) for row in rows}

    def _rows(
        self, scope: Scope, query: Select[*tuple[Any, ...]], doc_ids: Collection[str] | None
    ) -> list[Row[*tuple[Any, ...]]]:
        """The rows of a query over documents: of the whole scope, or of these documents."""
        query = query.where(is_in(scope))
        with self.database.read() as db:
            if doc_ids is None:
                return list(db.execute(query))
            return [row for part in in_parts(doc_ids) for row in db.execute(query.where(D.c.doc_id.in_(part)))]

    def owners(self, scope: Scope, ids: Collection[str], *, of_documents: bool = False) -> dict[str, Manifest]:
        """The documents that these chunks belong to, by the chunk's id; what is not stored is left out.

        ``of_documents``: the ids are those of documents.
        """
        column, rows = (D.c.doc_id, D) if of_documents else (C.c.id, C.join(D))
        query = select(column, D.c.number, D.c.manifest).select_from(rows).where(is_in(scope))
        with self.database.read() as db:
            found = [tuple(row) for part in in_parts(set(ids)) for row in db.execute(query.where(column.in_(part)))]
        manifests = {number: manifest_from(packed) for number, packed in {n: m for _, n, m in found}.items()}
        return {i: manifests[number] for i, number, _ in found}


def in_parts(ids: Iterable[T], size: int = _MANY) -> Iterator[list[T]]:
    """Ids, as many at a time as one statement may name."""
    every = list(ids)
    return (every[at : at + size] for at in range(0, len(every), size))


def indexed_documents(
    database: Database, numbers: Iterable[int], *, with_passages: bool = False
) -> Iterator[IndexedDocument]:
    """The documents with these numbers as an index needs them; those that are gone by then are left out.

    ``with_passages`` fills in `IndexedDocument.passages`.
    """
    columns = (D.c.number, D.c.doc_id, D.c.tenant, D.c.corpus, D.c.filters, K.c.places, K.c.vectors, K.c.terms)
    query = select(*columns).join(K)
    for part in in_parts(numbers, _READ):
        with database.read() as db:
            rows = db.execute(query.where(D.c.number.in_(part))).all()
            passages = _passages(db, part) if with_passages else {}
        for row in rows:
            yield IndexedDocument(
                Scope(tenant=row.tenant, corpus=row.corpus),
                row.doc_id,
                row.number,
                json.loads(unpack_text(row.filters)),
                [chunk_id for chunk_id, _, _ in json.loads(unpack_text(row.places))],
                unpack_vectors(row.vectors, database.identity.dimension),
                *unpack_terms(row.terms),
                passages.get(row.number, ()),
            )


def _passages(db: Connection, numbers: Sequence[int]) -> dict[int, list[dict[str, object]]]:
    """Return the readable parts of the chunks of each document, in their order."""
    query = select(C.c.document, C.c.body).where(C.c.document.in_(numbers)).order_by(C.c.document, C.c.position)
    found: dict[int, list[dict[str, object]]] = {}
    for number, body in db.execute(query):
        found.setdefault(number, []).append(readable_passage(json.loads(unpack_text(body))))
    return found


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


def _chunk(body: bytes, uri: str, units: str = "") -> Chunk:
    return Chunk.model_validate_json(unpack_text(body)).model_copy(update={"uri": uri, "unit_vectors": units})


def _forget_answers(db: Connection, scope: Scope, doc_id: str) -> None:
    """Remove the answers that read a document from the threads of its tenant: their replies name its chunks."""
    threads, turns = tables.threads, tables.turns
    own = select(threads.c.id).where(threads.c.tenant == scope.tenant)
    ids = select(C.c.id).join(D).where(is_in(scope), D.c.doc_id == doc_id, turns.c.reply.contains(C.c.id))
    db.execute(delete(turns).where(turns.c.thread.in_(own), ids.correlate(turns).exists()))
