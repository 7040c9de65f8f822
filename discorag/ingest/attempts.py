"""Files that ran into limits when they were converted, or took a process down: they are not tried for ever."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from discorag.settings import StoreSettings
from discorag.types.errors import RefusedFileError, StoreError
from discorag.types.ids import digest

FILE = "attempts.sqlite"
REFUSED_AT = 4
"""What makes a file be refused: two failed attempts, which count 2 each. One in which this whole process ended counts
1: that may have had another reason."""
_CUT_OFF = "the process ended while it was converted"
_TABLE = "CREATE TABLE IF NOT EXISTS attempts (file TEXT PRIMARY KEY, failed INTEGER, cut_off INTEGER, reason TEXT)"
_BEGIN = """INSERT INTO attempts VALUES (?, 0, 1, ?) ON CONFLICT DO UPDATE SET cut_off = cut_off + 1"""
_FAILED = "UPDATE attempts SET cut_off = max(0, cut_off - 1), failed = failed + 1, reason = ? WHERE file = ?"


class Attempts:
    """What is known against files, by their content. An attempt is written down before it is made.

    Args:
        file: The database, made when it is first needed; None: in memory.

    Example:
        >>> from discorag.ingest.attempts import Attempts
        >>> attempts = Attempts(None)
        >>> for _ in range(2):
        ...     attempts.begin("3fa9")
        ...     attempts.failed("3fa9", "it takes more than 60 s")
        >>> attempts.begin("3fa9")
        Traceback (most recent call last):
        ...
        discorag.types.errors.RefusedFileError: Refused after 2 attempts: it takes more than 60 s. Ingest it with \
--refresh to try again.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._database: sqlite3.Connection | None = None
        self._lock = Lock()

    def begin(self, file: str, *, again: bool = False) -> None:
        """Write down that the file is tried.

        Args:
            file: Digest of its content and of what will convert it.
            again: Try it whatever is known.

        Raises:
            RefusedFileError: It failed too often.
            StoreError: The database cannot be read or written; the others raise that too.
        """
        with self._open() as database:
            found = database.execute("SELECT failed, cut_off, reason FROM attempts WHERE file = ?", (file,)).fetchone()
            failed, cut_off, reason = found or (0, 0, "")
            if not again and 2 * failed + cut_off >= REFUSED_AT:
                raise RefusedFileError(
                    f"Refused after {failed + cut_off} attempts: {reason}.",
                    hint="Ingest it with --refresh to try again.",
                )
            database.execute(_BEGIN, (file, _CUT_OFF))

    def failed(self, file: str, reason: str) -> None:
        """The attempt ran into a limit, or took its converter down."""
        with self._open() as database:
            database.execute(_FAILED, (reason, file))

    def cancelled(self, file: str) -> None:
        """The attempt was broken off; that says nothing about the file."""
        with self._open() as database:
            database.execute("UPDATE attempts SET cut_off = max(0, cut_off - 1) WHERE file = ?", (file,))
            database.execute("DELETE FROM attempts WHERE file = ? AND failed + cut_off = 0", (file,))

    def done(self, file: str) -> None:
        """The attempt came to its end; nothing is known against the file any more."""
        with self._open() as database:
            database.execute("DELETE FROM attempts WHERE file = ?", (file,))

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            if self._database:
                self._database.close()
                self._database = None

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        """The database, for one transaction."""
        try:
            with self._lock, self._connected() as database:
                yield database
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"{self._file} cannot be used: {error}.", hint="Remove it: it only holds which files failed before."
            ) from error

    def _connected(self) -> sqlite3.Connection:
        if self._database is None:
            if self._file:
                self._file.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(self._file or ":memory:", check_same_thread=False)
            self._database.execute("PRAGMA synchronous=OFF")  # survives what ends this process; no more is needed
            self._database.execute(_TABLE)
        return self._database


def attempts_file(store: StoreSettings) -> Path | None:
    """Where they are written down: in the store's folder, a server's beside it; None for a store in memory."""
    if store.url is None and store.kind == "memory":
        return None
    server = store.path.parent / "servers" / digest(f"{store.url}\x00{store.prefix}")[:16]
    return (server if store.url else store.path) / FILE
