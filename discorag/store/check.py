"""Whether all that is stored can be read, and whether the index has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from sqlalchemy import Connection, LargeBinary, Row, Table, func, select

from discorag.schema.document import Scope
from discorag.schema.errors import StoreDamagedError
from discorag.schema.report import Difference, Part, Report
from discorag.store import tables
from discorag.store.database import Database
from discorag.store.sqlite import integrity
from discorag.store.tables import unpack

D, C, T = tables.documents, tables.chunks, tables.trees
_PARTS: Final[Mapping[Table, Part]] = {D: "document", tables.contents: "document", C: "chunks", T: "tree"}


def check_store(database: Database, points: int | None) -> Report:
    """Read everything.

    Args:
        database: The store's.
        points: How many the index has; None if it cannot be used, which does not count as a difference.

    Returns:
        Counts, and every document, chunk or tree that is not as it was written.
    """
    with database.read() as db:
        counts = {table: db.scalar(select(func.count()).select_from(table)) or 0 for table in (D, C, T)}
        nodes = db.scalar(select(func.sum(T.c.nodes))) or 0
        found = [Difference(part="database", note=line) for line in integrity(db)]
        found += [*_damages(db), *_miscounted(db)]
    if points is not None and points != counts[D] + counts[C]:
        found.append(Difference(part="index", note=f"it has {points} of {counts[D] + counts[C]} points"))
    return Report(documents=counts[D], chunks=counts[C], trees=counts[T], nodes=nodes, differences=tuple(found))


def _damages(db: Connection) -> Iterator[Difference]:
    """Values that are not what their checksums say."""
    owner = (D.c.tenant, D.c.corpus, D.c.doc_id, D.c.uri)
    for table, part in _PARTS.items():
        columns = [c for c in table.c if isinstance(c.type, LargeBinary)]
        query = select(*owner, *columns)
        query = query if table is D else query.join(table)
        for row in db.execute(query.execution_options(yield_per=100)):
            if _is_damaged(row[len(owner) :]):
                yield _difference(row, part, "not as it was written")


def _is_damaged(values: tuple[Any, ...]) -> bool:
    try:
        for value in values:
            unpack(value)
    except (StoreDamagedError, TypeError):
        return True
    return False


def _miscounted(db: Connection) -> Iterator[Difference]:
    """Documents under another's id, without their text, or with another number of chunks than they had."""
    chunks = select(func.count()).where(C.c.document == D.c.number).scalar_subquery()
    texts = select(func.count()).where(tables.contents.c.document == D.c.number).scalar_subquery()
    wrong: list[tuple[Callable[[Row[*tuple[Any, ...]]], bool], Part, str]] = [
        (lambda row: Scope(tenant=row.tenant, corpus=row.corpus).id_of(row.uri) != row.doc_id, "document", "moved"),
        (lambda row: row.texts != 1, "document", "its text is missing"),
        (lambda row: row.found != row.chunks, "chunks", "some are missing"),
    ]
    query = select(D.c.tenant, D.c.corpus, D.c.doc_id, D.c.uri, D.c.chunks, chunks.label("found"), texts.label("texts"))
    for row in db.execute(query.order_by(D.c.tenant, D.c.corpus, D.c.uri)):
        yield from (_difference(row, part, note) for is_wrong, part, note in wrong if is_wrong(row))


def _difference(row: Row[*tuple[Any, ...]], part: Part, note: str) -> Difference:
    return Difference(part=part, tenant=row.tenant, corpus=row.corpus, doc_id=row.doc_id, uri=row.uri, note=note)
