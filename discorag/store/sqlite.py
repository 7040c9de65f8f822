"""The database as a SQLite file: how it is opened, even if nothing can be written, and what its errors mean.

Everything specific to SQLite is in this module; what is specific to PostgreSQL is in `discorag.store.postgres`.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Delete, Engine, QueuePool, Select, Table, create_engine, event
from sqlalchemy.exc import DatabaseError

from discorag.models.loops import FairLock
from discorag.schema.errors import ReadOnlyStoreError, StoreDamagedError, StoreError, StoreFullError
from discorag.store.tables import DAMAGED

BUSY_S = 60.0
"""How long a writer waits for another one, in seconds."""
WRITES = "writes"
"""Execution option of connections that will write: their transactions take the lock when they begin."""
_PRIVATE_FILE, _PRIVATE_FOLDER = 0o600, 0o700
_SHARED = 32_768  # bytes of SQLite's file of shared memory, at least
_ROOM = 1_000_000  # bytes free that it takes to make it, with something to spare
_READ_ONLY_HINT = "Nothing can be written here: check the folder's permissions and its disk."


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its user may read; one that exists stays as it is."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(_PRIVATE_FOLDER)


class FileHold:
    """A row that is held until `end`."""

    def __init__(self, place: SqliteFile) -> None:
        self._place = place

    def end(self, last: Delete | None = None) -> None:
        """Release the row, after a last statement."""
        if last is not None:
            with self._place.errors(), self._place.writing() as db:
                db.execute(last)


class SqliteFile:
    """A database file, created if it does not exist. Any number of processes may read while one writes.

    Args:
        file: The file.
        safe: Whether what was committed survives a power failure.
        min_free: With fewer bytes free its disk counts as nearly full.

    ``is_shared``: whether other processes may serve it at the same time.

    Raises:
        StoreError: It can neither be created nor read; `StoreFullError` where the disk is full.
        StoreDamagedError: It is not a database.
    """

    is_shared = False

    def __init__(self, file: Path, *, safe: bool = True, min_free: int = 0) -> None:
        self.file, self.name, self._min_free = file, str(file), min_free
        self._writers = FairLock()
        with self.errors():
            _create(file)
            self.read_only = _read_only_because(file)
            if self.read_only:
                self.engine = _read_only(file)
            else:
                self.engine = _engine(lambda: _connect(f"{file.absolute().as_uri()}?mode=rw", safe=safe))

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """A connection that sees one state of the database."""
        with self.engine.connect() as db:
            yield db

    @contextmanager
    def writing(self, *what: str) -> Generator[Connection]:
        """A transaction; all others wait for its end, whatever they change."""
        with self._writers, self.engine.execution_options(**{WRITES: True}).begin() as db:
            yield db

    def hold(self, row: Select[Any]) -> FileHold:
        """Hold a row: one process serves a folder, and knows itself which rows it holds."""
        return FileHold(self)

    @contextmanager
    def lock(self, name: str, wait_s: float = 0.0) -> Generator[bool]:
        """Always granted: one process serves a folder."""
        yield True

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @property
    def room(self) -> int:
        """Bytes free on its disk beyond those that must stay free."""
        return shutil.disk_usage(self.file.parent).free - self._min_free

    def check_room(self) -> None:
        """Raise `StoreFullError` if the disk is nearly full."""
        if (room := self.room) < 0:
            raise StoreFullError(
                f"The disk of {self.file.parent} is nearly full ({(room + self._min_free) / 1e6:.0f} MB free, "
                f"{self._min_free / 1e6:.0f} MB must stay free): nothing is stored.",
                hint="Free disk space; writing then resumes by itself. DISCO_RAG_STORE__MIN_FREE_MB sets the limit.",
            )

    @contextmanager
    def errors(self) -> Generator[None]:
        """Raise what SQLite or the system raises as an error of ours."""
        try:
            yield
        except (DatabaseError, sqlite3.DatabaseError) as error:
            raise _translate(error, self.file) from error
        except OSError as error:
            message = f"{self.file} cannot be used: {error.strerror or error}."
            raise StoreError(message, hint=_READ_ONLY_HINT) from error

    def number_after(self, connection: Connection, table: Table) -> None:
        """Does nothing: SQLite never reuses a number."""

    def integrity(self, connection: Connection) -> list[str]:
        """What SQLite itself finds wrong with the file."""
        lines = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check")]
        strays = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
        return [line for line in lines if line != "ok"] + [
            f"a row of {row[0]} belongs to no document" for row in strays
        ]


def _create(file: Path) -> None:
    """Make an empty database with a write-ahead log."""
    if file.exists():
        return
    try:
        make_private_folder(file.parent)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, _PRIVATE_FILE))
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
    except (OSError, sqlite3.Error):
        with suppress(OSError):
            if not file.stat().st_size:
                file.unlink()
        raise


def _read_only_because(file: Path) -> str:
    """Why nothing can be written; empty if it can. Readers too need a file of shared memory.

    This is found without trying: a connection that fails to write keeps its locks for some time after it was closed.
    """
    if not (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)):
        return f"{file.parent} is read-only"
    shared = file.with_name(f"{file.name}-shm")
    if shutil.disk_usage(file.parent).free < _ROOM and not (shared.exists() and shared.stat().st_size >= _SHARED):
        return f"The disk of {file.parent} is full"
    return ""


def _read_only(file: Path) -> Engine:
    """Read without making any other file.

    A log that a killed process left behind is part of the database. It is read under a lock, or on a read-only disk
    with the file of shared memory that was left with it.
    """
    uri, log = file.absolute().as_uri(), file.with_name(f"{file.name}-wal")
    if not (log.exists() and log.stat().st_size):
        return _engine(lambda: _connect(f"{uri}?mode=ro&immutable=1"))
    if os.access(file, os.W_OK):
        return _engine(lambda: _connect(f"{uri}?mode=rw", alone=True), pool_size=1, max_overflow=0)
    return _engine(lambda: _connect(f"{uri}?mode=ro"))


def _engine(connect: Callable[[], sqlite3.Connection], pool_size: int = 8, max_overflow: int = -1) -> Engine:
    """An engine with as many connections as there are threads that use it."""
    pool: dict[str, Any] = {"pool_size": pool_size, "max_overflow": max_overflow}
    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool, **pool)
    event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: Connection) -> None:
    """A transaction that will write takes the lock first: it could not later, if another one wrote after it read."""
    writes = connection.get_execution_options().get(WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _connect(uri: str, *, safe: bool = True, alone: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, timeout=BUSY_S, isolation_level=None, check_same_thread=False, uri=True)
    if alone:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute(f"PRAGMA synchronous={'FULL' if safe else 'OFF'}")
    return connection


def _code(error: DatabaseError | sqlite3.DatabaseError) -> int:
    """SQLite's primary result code."""
    cause = error.orig if isinstance(error, DatabaseError) else error
    return getattr(cause, "sqlite_errorcode", 0) & 0xFF


def _translate(error: DatabaseError | sqlite3.DatabaseError, file: Path) -> StoreError:
    message, code = str(error.orig if isinstance(error, DatabaseError) else error), _code(error)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreDamagedError(f"{file} is damaged: {message}.", hint=DAMAGED)
    if code == sqlite3.SQLITE_FULL:
        return StoreFullError(f"The disk of {file.parent} is full.", hint="Free disk space, and run it again.")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreError(
            f"{file} has been written by another process for {BUSY_S:.0f} seconds.",
            hint="Wait until that is done, or stop it.",
        )
    if code == sqlite3.SQLITE_READONLY:
        return ReadOnlyStoreError(f"{file} is read-only.", hint=_READ_ONLY_HINT)
    return StoreError(f"{file} cannot be used: {message}.", hint="Check the disk and the folder's permissions.")
