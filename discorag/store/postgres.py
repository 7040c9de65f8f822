"""The database on a PostgreSQL server: how it is reached, who waits for whom, and what its errors mean.

All that is PostgreSQL's own is in this module; what is SQLite's own in `discorag.store.sqlite`.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from pydantic import SecretStr
from sqlalchemy import Connection, Table, create_engine, func, make_url, select, text
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from discorag.extras import extra
from discorag.schema.errors import ConfigError, ReadOnlyStoreError, StoreError, StoreFullError, StoreLockedError

DRIVER = "postgresql+psycopg"
BUSY_S = 60
"""How long a change waits for another one of the same, in seconds."""
CONNECTIONS = 16
"""Of one process, at most; PostgreSQL has 100 by default."""
_LOCK: Final = text("SELECT pg_advisory_xact_lock(hashtextextended(:what, 0))")


class PostgresServer:
    """A database on a PostgreSQL server.

    Readers never wait; changes of the same thing wait for each other (`Database.write`), all others do not.

    Raises:
        ConfigError: The URL is not one of PostgreSQL; `MissingExtraError` where its driver is not installed.
    """

    read_only = ""

    def __init__(self, url: SecretStr) -> None:
        try:
            parsed = make_url(url.get_secret_value())
        except ArgumentError:
            raise ConfigError("The database's URL cannot be read.", hint=_URL_HINT) from None
        if parsed.drivername != DRIVER:
            raise ConfigError(f"The database's URL begins with {parsed.drivername}://.", hint=_URL_HINT)
        self.url, self.name = parsed, parsed.render_as_string()
        with extra("postgres"):
            self.engine = create_engine(
                parsed,
                pool_size=CONNECTIONS // 2,
                max_overflow=CONNECTIONS // 2,
                pool_timeout=BUSY_S,
                pool_pre_ping=True,  # a server that was restarted has closed the connections
                connect_args={"options": f"-c lock_timeout={BUSY_S}s", "connect_timeout": 10},
            )

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """A connection that sees one state of the database."""
        with self.engine.connect() as db:
            yield db.execution_options(isolation_level="REPEATABLE READ")

    @contextmanager
    def writing(self, what: str) -> Generator[Connection]:
        """A transaction; those that change the same wait, and then see what this one wrote."""
        with self.engine.begin() as db:
            db.execute(_LOCK, {"what": what})
            yield db

    @contextmanager
    def errors(self) -> Generator[None]:
        """Raise what the server or its driver raises as an error of ours."""
        try:
            yield
        except DBAPIError as error:
            raise self._translated(error) from error
        except PoolTimeoutError as error:
            hint = "Ask less at a time, or start more workers."
            raise StoreLockedError(f"All {CONNECTIONS} connections to {self.name} are in use.", hint=hint) from error

    def _translated(self, error: DBAPIError) -> StoreError:
        message = str(error.orig).strip().partition("\n")[0]
        state: str = getattr(error.orig, "sqlstate", None) or ""
        if state == _LOCK_NOT_AVAILABLE:
            hint = "Wait until that is done, or stop it."
            return StoreLockedError(f"{self.name} has been written by another process for {BUSY_S} seconds.", hint=hint)
        if state == _DISK_FULL:
            return StoreFullError(f"The disk of {self.name} is full.", hint="Free disk space, and run it again.")
        if state == _READ_ONLY:
            return ReadOnlyStoreError(f"{self.name} is read-only.", hint="Connect to the primary server.")
        return StoreError(f"{self.name} cannot be used: {message}.", hint="Check that the server runs, and its log.")

    def integrity(self, connection: Connection) -> list[str]:
        """Nothing: PostgreSQL tests its pages itself when it reads them (data checksums), and foreign keys always."""
        del connection
        return []

    def number_after(self, connection: Connection, table: Table) -> None:
        """Let the next row of a table get a number above all that were copied into it."""
        number = table.c.number
        sequence = func.pg_get_serial_sequence(table.name, number.name)
        connection.execute(select(func.setval(sequence, func.coalesce(func.max(number), 0) + 1, False)))


_LOCK_NOT_AVAILABLE, _DISK_FULL, _READ_ONLY = "55P03", "53100", "25006"
_URL_HINT = f"Write DISCO_RAG_DATABASE_URL={DRIVER}://USER:PASSWORD@HOST/DATABASE."
