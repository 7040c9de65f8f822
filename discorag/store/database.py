"""The database that is the truth: how it is opened, read and written. Indexes are made from it."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import local
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, Table, and_, insert, inspect, select

from discorag.schema.document import Scope
from discorag.schema.errors import (
    NotFoundError,
    ReadOnlyStoreError,
    StoreError,
    StoreFullError,
)
from discorag.store import tables
from discorag.store.postgres import PostgresServer
from discorag.store.sqlite import SqliteFile

FILE = "documents.sqlite"
STALE = "It may have been deleted or replaced: search again."


@dataclass(frozen=True)
class Identity:
    """A database's random id, to which indexes belong, and version and dimension of the encoder that filled it."""

    id: str
    encoder: str
    dimension: int


class Database:
    """The database of all tenants: a SQLite file, or one on a PostgreSQL server.

    Any number of threads and processes may use it. A change is one transaction: every reader sees a document whole,
    old or new.

    Args:
        place: Where it is; its tables are created if they do not exist.
        encoder: `Encoder.version` and dimension of the encoder in use. None: that of the database.

    Raises:
        StoreError: Another encoder filled it, or another version of this package made it. By all methods: the disk or
            the server fails (`StoreFullError` if the disk is full), or another process has been writing for too long.
        StoreDamagedError: It is not a database, or damaged. By all methods.
    """

    def __init__(self, place: SqliteFile | PostgresServer, encoder: tuple[str, int] | None = None) -> None:
        self.place, self.read_only = place, place.read_only
        self._thread = local()
        try:
            self.identity = self._identified(encoder)
        except BaseException:
            self.close()
            raise

    def _identified(self, encoder: tuple[str, int] | None) -> Identity:
        missing = self._missing_tables()
        if encoder is None and tables.about.name in missing:
            raise NotFoundError(f"There is no store in {self.place.name} yet.", hint="Ingest documents first.")
        if missing and not self.read_only:
            with self.write("tables") as db:
                tables.metadata.create_all(db)
                if encoder and not db.execute(select(tables.about)).first():
                    row = {"id": uuid4().hex, "format": tables.FORMAT, "encoder": encoder[0], "dimension": encoder[1]}
                    db.execute(insert(tables.about), row)
        with self.read() as db:
            about = db.execute(select(tables.about)).one()
        if about.format != tables.FORMAT:
            message = f"{self.place.name} has format {about.format}, this version writes {tables.FORMAT}."
            raise StoreError(message, hint="Ingest again into a new place (DISCO_RAG_STORE__PATH).")
        if encoder and encoder != (about.encoder, about.dimension):
            raise StoreError(
                f"{self.place.name} was filled by encoder {about.encoder!r} ({about.dimension} numbers per vector); "
                f"the one configured is {encoder[0]!r} ({encoder[1]}).",
                hint="Switch the encoder back, or ingest again into a new place (DISCO_RAG_STORE__PATH).",
            )
        return Identity(about.id, about.encoder, about.dimension)

    def _missing_tables(self) -> set[str]:
        with self.read() as db:
            return tables.metadata.tables.keys() - set(inspect(db).get_table_names())

    @property
    def file(self) -> Path | None:
        """The database's file; None if the database is a server."""
        return self.place.file if isinstance(self.place, SqliteFile) else None

    @contextmanager
    def read(self) -> Generator[Connection]:
        """A connection that sees one state of the database; inside `write` or another `read`, the connection of that
        block.
        """
        current: Connection | None = getattr(self._thread, "current", None)
        with self.place.errors():
            if current is not None:
                yield current
                return
            with self.place.reading() as db:
                self._thread.current = db
                try:
                    yield db
                finally:
                    self._thread.current = None

    @contextmanager
    def write(self, *what: str) -> Generator[Connection]:
        """A transaction, committed at the end of the block; an error in it undoes it.

        ``what`` names what is changed, such as a document's id. Changes of the same wait for each other; so do all
        changes of a SQLite file. A document comes before its tenant's uploads, so that no two wait for each other.
        """
        if self.read_only:
            kind = StoreFullError if "full" in self.read_only else ReadOnlyStoreError
            raise kind(f"{self.read_only}: nothing can be stored.", hint="Make room, or check the permissions.")
        with self.place.errors(), self.place.writing(*what) as db:
            self._thread.current = db
            try:
                yield db
            finally:
                self._thread.current = None

    def close(self) -> None:
        """Close all connections."""
        self.place.close()


def is_in(scope: Scope, table: Table = tables.documents) -> ColumnElement[bool]:
    """The condition that a row belongs to the scope."""
    return and_(table.c.tenant == scope.tenant, table.c.corpus == scope.corpus)


def named(scope: Scope) -> str:
    """A scope in a message."""
    return f"tenant {scope.tenant!r}, corpus {scope.corpus!r}"


def no_document(scope: Scope, doc_id: str) -> NotFoundError:
    """The error for a missing document."""
    return NotFoundError(f"There is no document {doc_id!r} in {named(scope)}.", hint=STALE)
