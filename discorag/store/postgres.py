"""The database on a PostgreSQL server: how it is reached, who waits for whom, and what its errors mean.

Everything specific to PostgreSQL is in this module; what is specific to SQLite is in `discorag.store.sqlite`.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from time import monotonic, sleep
from typing import Any, Final

from pydantic import SecretStr
from sqlalchemy import Connection, Delete, Select, Table, create_engine, func, make_url, select, text
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from discorag.extras import extra
from discorag.schema.errors import (
    ConfigError,
    DiscoRagError,
    InputError,
    ReadOnlyStoreError,
    StoreError,
    StoreFullError,
)

DRIVER = "postgresql+psycopg"
BUSY_S = 60
"""Seconds that a change waits for another change of the same thing."""
CONNECTIONS = 16
"""The most of one process; PostgreSQL has 100 by default."""
_PAUSE_S = 0.05
_DEFAULTS: Final = {"connect_timeout": 10, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
"""Parameters of connections, unless the URL says otherwise; a server that is cut off is noticed after a minute."""
_OPTIONS: Final = f"-c lock_timeout={BUSY_S}s -c idle_in_transaction_session_timeout=0 -c idle_session_timeout=0"
"""Options of sessions, before the URL's: a connection that holds a row or lock is idle until the work is done."""
_LOCK: Final = text("SELECT pg_advisory_xact_lock(hashtextextended(:what, 0))")
_TRY_LOCK: Final = text("SELECT pg_try_advisory_xact_lock(hashtextextended(:what, 1))")


class RowHold:
    """A row that is held until `end`."""

    def __init__(self, place: PostgresServer, connection: Connection) -> None:
        self._place, self._connection = place, connection

    def end(self, last: Delete | None = None) -> None:
        """Release the row, after a last statement in the same transaction. Raises `StoreError`."""
        with self._place.errors(), closing(self._connection) as db:
            if last is not None:
                db.execute(last)
                db.commit()


class PostgresServer:
    """A database on a PostgreSQL server.

    Readers never wait; changes of the same thing wait for each other (`Database.write`), all others do not.

    Raises:
        ConfigError: The URL is not one of PostgreSQL, or its driver is not installed.
    """

    read_only = ""
    is_shared = True
    room = 0
    """The server knows how full its disk is, and says so when it is full (`StoreFullError`)."""

    def __init__(self, url: SecretStr) -> None:
        try:
            parsed = make_url(url.get_secret_value())
        except ArgumentError:
            raise ConfigError("The database's URL cannot be read.", hint=_URL_HINT) from None
        if parsed.drivername != DRIVER:
            raise ConfigError(f"The database's URL begins with {parsed.drivername}://.", hint=_URL_HINT)
        self.url, self.name = parsed, f"Database {parsed.database!r} on {parsed.host or 'this machine'}"
        options = " ".join(parsed.normalized_query.get("options", ()))
        with extra("postgres"):
            self.engine = create_engine(
                parsed,
                pool_size=CONNECTIONS // 2,
                max_overflow=CONNECTIONS // 2,
                pool_timeout=BUSY_S,
                pool_pre_ping=True,  # a server that was restarted has closed the connections
                connect_args=_DEFAULTS | dict(parsed.query) | {"options": f"{_OPTIONS} {options}"},
            )

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """A connection that sees one state of the database."""
        with self.engine.connect() as db:
            yield db.execution_options(isolation_level="REPEATABLE READ")

    @contextmanager
    def writing(self, *what: str) -> Generator[Connection]:
        """A transaction. Others that change the same thing wait for its end, and then see what it wrote."""
        with self.engine.begin() as db:
            for one in what:
                db.execute(_LOCK, {"what": one})
            yield db

    def hold(self, row: Select[Any]) -> RowHold | None:
        """Lock a row in an open connection of its own; None if another connection has it, or it is gone.

        When this process dies, PostgreSQL releases the row.
        """
        with self.errors():
            db = self.engine.connect()
            try:
                if db.execute(row.with_for_update(skip_locked=True)).first():
                    return RowHold(self, db)
            except BaseException:
                db.close()
                raise
            db.close()
        return None

    @contextmanager
    def lock(self, name: str, wait_s: float = 0.0) -> Generator[bool]:
        """Whether this block alone, of all processes, gets the lock of this name within the time given."""
        with self.errors():
            db = self.engine.connect()  # the lock ends with its transaction, also when this process dies
        try:
            with self.errors():
                until = monotonic() + wait_s
                while not (taken := bool(db.scalar(_TRY_LOCK, {"what": name}))) and monotonic() < until:
                    sleep(_PAUSE_S)
            yield taken
        finally:
            with suppress(DBAPIError):  # the connection broke: the server has released the lock
                db.close()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def errors(self) -> Generator[None]:
        """Raise what the server or its driver raises as an error of ours."""
        try:
            yield
        except DBAPIError as error:
            raise self._translate(error) from error
        except PoolTimeoutError as error:
            hint = "Ask less at a time, or start more workers."
            raise StoreError(
                f"{self.name}: all {CONNECTIONS} connections of this process are in use.", hint=hint
            ) from error

    def _translate(self, error: DBAPIError) -> DiscoRagError:
        message = str(error.orig).strip().partition("\n")[0]
        state: str = getattr(error.orig, "sqlstate", None) or ""
        if isinstance(error, DataError):
            return InputError(f"A value cannot be stored: {message}.", hint="Leave out such characters and numbers.")
        if state == _LOCK_NOT_AVAILABLE:
            hint = "Wait until that is done, or stop it."
            return StoreError(f"{self.name} has been written by another process for {BUSY_S} seconds.", hint=hint)
        if state == _DISK_FULL:
            return StoreFullError(f"{self.name}: its disk is full.", hint="Free disk space, and run it again.")
        if state == _READ_ONLY:
            return ReadOnlyStoreError(f"{self.name} is read-only.", hint="Connect to the primary server.")
        return StoreError(f"{self.name} cannot be used: {message}.", hint="Check that the server runs, and its log.")

    def check_room(self) -> None:
        """Does nothing: see `room`."""

    def integrity(self, connection: Connection) -> list[str]:
        """Always empty: PostgreSQL checks its pages (data checksums) and foreign keys itself."""
        return []

    def number_after(self, connection: Connection, table: Table) -> None:
        """Number the next row of a table above all that were copied into it."""
        number = table.c.number
        sequence = func.pg_get_serial_sequence(table.name, number.name)
        connection.execute(select(func.setval(sequence, func.coalesce(func.max(number), 0) + 1, False)))


_LOCK_NOT_AVAILABLE, _DISK_FULL, _READ_ONLY = "55P03", "53100", "25006"
_URL_HINT = f"Write DISCO_RAG_DATABASE_URL={DRIVER}://USER:PASSWORD@HOST/DATABASE."
