"""Whether all that is stored can be read, and whether the index has it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel
from sqlalchemy import Connection, LargeBinary, Row, ScalarSelect, Table, func, select

from discorag.schema.document import Scope, uploaded_name
from discorag.schema.errors import StoreDamagedError
from discorag.store import tables
from discorag.store.database import Database
from discorag.store.documents import manifest_from
from discorag.store.tables import unpack

Part = Literal["document", "chunks", "tree", "database", "index"]


class Difference(BaseModel, frozen=True):
    """One thing that is wrong, and what it is; if it is not about a document, the document's fields are empty."""

    part: Part
    tenant: str = ""
    corpus: str = ""
    doc_id: str = ""
    uri: str = ""
    note: str

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.corpus, self.uri, self.part, self.note)))


class Report(BaseModel, frozen=True):
    """Counts of what is stored, and everything that differs from what was written."""

    documents: int
    chunks: int
    trees: int
    nodes: int
    differences: tuple[Difference, ...] = ()


D, K, C, T = tables.documents, tables.contents, tables.chunks, tables.trees
_PARTS: Final[Mapping[Table, Part]] = {D: "document", K: "document", C: "chunks", T: "tree"}
_OWNER = (D.c.tenant, D.c.corpus, D.c.doc_id, D.c.uri)


def check_store(database: Database, points: int | None) -> Report:
    """Read everything: counts, and every document, chunk or tree that is missing or not as it was written.

    ``points`` is how many the index has; None if it cannot be used, which does not count as a difference.
    """
    with database.read() as db:
        documents, chunks, trees = (db.scalar(select(func.count()).select_from(table)) or 0 for table in (D, C, T))
        nodes = db.scalar(select(func.sum(T.c.nodes))) or 0
        found = [Difference(part="database", note=line) for line in database.place.integrity(db)]
        found += [*_damages(db), *_miscounted(db)]
    if points is not None and points != documents + chunks:
        found.append(Difference(part="index", note=f"it has {points} of {documents + chunks} points"))
    return Report(documents=documents, chunks=chunks, trees=trees, nodes=nodes, differences=tuple(found))


def _damages(db: Connection) -> Iterator[Difference]:
    """Values that are not what their checksums say."""
    for table, part in _PARTS.items():
        query = select(*_OWNER, *(c for c in table.c if isinstance(c.type, LargeBinary)))
        query = query if table is D else query.join(table)
        for row in db.execute(query.execution_options(yield_per=100)):
            try:
                for value in row[len(_OWNER) :]:
                    unpack(value)
                if table is D and _is_moved(row):
                    yield _difference(row, part, "moved")
            except (StoreDamagedError, TypeError):
                yield _difference(row, part, "not as it was written")


def _is_moved(row: Row[*tuple[Any, ...]]) -> bool:
    """Whether a document is under another's id, uri or scope. An upload of an older store has the id of its path."""
    manifest = manifest_from(row.manifest)
    if (manifest.doc_id, manifest.uri) != (row.doc_id, row.uri):
        return True
    return not uploaded_name(row.uri) and Scope(tenant=row.tenant, corpus=row.corpus).id_of(row.uri) != row.doc_id


def _miscounted(db: Connection) -> Iterator[Difference]:
    """Documents without their text, or with another number of chunks or trees than they had."""

    def rows_of(table: Table) -> ScalarSelect[int]:
        return select(func.count()).where(table.c.document == D.c.number).scalar_subquery()

    query = select(*_OWNER, D.c.chunks, D.c.trees, rows_of(K), rows_of(C), rows_of(T))
    for row in db.execute(query.order_by(D.c.tenant, D.c.corpus, D.c.uri)):
        chunks, trees, found_texts, found_chunks, found_trees = row[len(_OWNER) :]
        if found_texts != 1:
            yield _difference(row, "document", "its text is missing")
        if found_chunks != chunks:
            yield _difference(row, "chunks", f"{found_chunks} of {chunks} are there")
        if found_trees != trees:
            yield _difference(row, "tree", f"{found_trees} of {trees} are there")


def _difference(row: Row[*tuple[Any, ...]], part: Part, note: str) -> Difference:
    return Difference(part=part, tenant=row.tenant, corpus=row.corpus, doc_id=row.doc_id, uri=row.uri, note=note)
