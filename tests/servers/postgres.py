"""A PostgreSQL server for tests: a cluster in a temporary folder, reached by a Unix socket.

    with PostgresServer() as server, server.databases() as new_database:
        url = new_database()

``initdb`` refuses root: as root it runs as the user ``postgres``, whom Debian's package creates.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Self

_PROGRAMS = Path("/usr/lib/postgresql")  # where Debian puts its versions
_FAST = "-c fsync=off -c listen_addresses= -c max_connections=200"


def programs() -> Path | None:
    """The folder of PostgreSQL's programs, the newest version; None if they or the driver are not installed."""
    if find_spec("psycopg") is None:
        return None
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    return max(_PROGRAMS.glob("*/bin"), default=None, key=lambda folder: int(folder.parent.name))


class PostgresServer:
    """A server that runs between ``with`` and its end."""

    def __init__(self, *, options: str = _FAST) -> None:
        self._options, self._names = options, count()
        self._free: list[str] = []
        self._folder = Path(mkdtemp(prefix="disco-rag-postgres-"))
        self._data = self._folder / "data"

    def __enter__(self) -> Self:
        if os.getuid() == 0:
            shutil.chown(self._folder, "postgres", "postgres")
        encoding = ("--encoding=UTF8", "--locale=C", "--auth=trust", "--username=postgres")
        self._run("initdb", "--no-sync", *encoding, str(self._data))
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def start(self) -> None:
        """Start it, and wait until it accepts connections."""
        options = f"{self._options} -k {self._folder}"
        self._run("pg_ctl", "start", "-w", "-D", str(self._data), "-o", options, "-l", str(self._folder / "log"))

    def stop(self, mode: str = "immediate") -> None:
        """Stop it; ``immediate`` is as if it were killed."""
        self._run("pg_ctl", "stop", "-D", str(self._data), "-m", mode)

    @contextmanager
    def databases(self) -> Generator[Callable[[], str]]:
        """Makes empty databases and returns their URLs; after the block they are emptied, and used again."""
        used: list[str] = []

        def new() -> str:
            if not self._free:
                self._free.append(f"test{next(self._names)}")
                self._execute("postgres", f"CREATE DATABASE {self._free[-1]}")
            used.append(self._free.pop())
            return f"postgresql+psycopg://postgres@/{used[-1]}?host={self._folder}"

        yield new
        for name in used:
            self._execute(name, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        self._free += used

    def _execute(self, database: str, statements: str) -> None:
        self._run("psql", "-h", str(self._folder), "-U", "postgres", "-d", database, "-q", "-c", statements)

    def _run(self, program: str, *arguments: str) -> None:
        folder = programs()
        assert folder, "PostgreSQL is not installed"
        user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        command = [*user, str(folder / program), *arguments]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
