"""The database that is the truth: how it is opened, read and written. Indexes are made from it."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import local
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, Table, and_, insert, inspect, select

from discorag.models.loops import FairLock
from discorag.schema.document import Scope
from discorag.schema.errors import (
    EncoderMismatchError,
    NotFoundError,
    ReadOnlyStoreError,
    StoreFormatError,
    StoreFullError,
)
from discorag.store import tables
from discorag.store.sqlite import WRITES, database_errors, open_database

FILE = "documents.sqlite"
STALE = "It may have been deleted or replaced: search again."


@dataclass(frozen=True)
class Identity:
    """A database's random id, to which indexes belong, and version and dimension of the encoder that filled it."""

    id: str
    encoder: str
    dimension: int


class Database:
    """One database, of all tenants. Any number of threads and processes may read while one writes.

    Writers wait for each other. A change is one transaction: every reader sees a document whole, old or new.

    Args:
        file: The SQLite file; created if it does not exist.
        encoder: `Encoder.version` and dimension of the encoder in use. None: that of the database.
        safe: Whether what was committed survives a power failure.
        min_free: With fewer bytes free its disk counts as nearly full.

    Raises:
        EncoderMismatchError: Another encoder filled it.
        StoreFormatError: Another version of this package made it.
        StoreDamagedError: It is not a database, or damaged. By all methods.
        StoreError: The disk fails; `StoreFullError`, `StoreLockedError`. By all methods.
    """

    def __init__(
        self, file: Path, encoder: tuple[str, int] | None = None, *, safe: bool = True, min_free: int = 0
    ) -> None:
        self.file, self._min_free = file, min_free
        if encoder is None and not file.is_file():
            raise NotFoundError(f"There is no store in {file.parent}.", hint="Check DISCO_RAG_STORE__PATH.")
        self._engine, self.read_only = open_database(file, safe=safe)
        self._writers = FairLock()
        self._thread = local()
        try:
            self.identity = self._identified(encoder)
        except BaseException:
            self.close()
            raise

    def _identified(self, encoder: tuple[str, int] | None) -> Identity:
        with database_errors(self.file), self._engine.connect() as db:
            there = inspect(db).has_table(tables.about.name)
        if not there and encoder:
            with self.write() as db:
                tables.metadata.create_all(db)
                row = {"id": uuid4().hex, "format": tables.FORMAT, "encoder": encoder[0], "dimension": encoder[1]}
                db.execute(insert(tables.about), row)
        with self.read() as db:
            about = db.execute(select(tables.about)).one()
        if about.format != tables.FORMAT:
            message = f"{self.file} has format {about.format}, this version writes {tables.FORMAT}."
            raise StoreFormatError(message, hint="Ingest again into a new place (DISCO_RAG_STORE__PATH).")
        if encoder and encoder != (about.encoder, about.dimension):
            raise EncoderMismatchError(
                f"{self.file} was filled by encoder {about.encoder!r} ({about.dimension} numbers per vector); "
                f"the one configured is {encoder[0]!r} ({encoder[1]}).",
                hint="Switch the encoder back, or ingest again into a new place (DISCO_RAG_STORE__PATH).",
            )
        return Identity(about.id, about.encoder, about.dimension)

    @property
    def is_nearly_full(self) -> bool:
        """Whether its disk is."""
        return shutil.disk_usage(self.file.parent).free < self._min_free

    def check_room(self) -> None:
        """Raise `StoreFullError` if the disk is nearly full."""
        if (free := shutil.disk_usage(self.file.parent).free) < self._min_free:
            raise StoreFullError(
                f"The disk of {self.file.parent} is nearly full ({free / 1e6:.0f} MB free, "
                f"{self._min_free / 1e6:.0f} MB must stay free): nothing is stored.",
                hint="Free disk space; writing then resumes by itself. DISCO_RAG_STORE__MIN_FREE_MB sets the limit.",
            )

    @contextmanager
    def read(self) -> Generator[Connection]:
        """A connection that sees one state of the database; within `write` or another `read` the one of that block."""
        current: Connection | None = getattr(self._thread, "current", None)
        with database_errors(self.file):
            if current is not None:
                yield current
                return
            with self._engine.connect() as db:
                self._thread.current = db
                try:
                    yield db
                finally:
                    self._thread.current = None

    @contextmanager
    def write(self) -> Generator[Connection]:
        """A transaction, committed at the end of the block; an error in it undoes it."""
        if self.read_only:
            kind = StoreFullError if "full" in self.read_only else ReadOnlyStoreError
            raise kind(f"{self.read_only}: nothing can be stored.", hint="Make room, or check the permissions.")
        with database_errors(self.file), self._writers, self._engine.execution_options(**{WRITES: True}).begin() as db:
            self._thread.current = db
            try:
                yield db
            finally:
                self._thread.current = None

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def is_in(scope: Scope, table: Table = tables.documents) -> ColumnElement[bool]:
    """Whether a row is one of the scope's."""
    return and_(table.c.tenant == scope.tenant, table.c.corpus == scope.corpus)


def named(scope: Scope) -> str:
    """A scope in a message."""
    return f"tenant {scope.tenant!r}, corpus {scope.corpus!r}"


def no_document(scope: Scope, doc_id: str) -> NotFoundError:
    """What is raised where a document is missing."""
    return NotFoundError(f"There is no document {doc_id!r} in {named(scope)}.", hint=STALE)
