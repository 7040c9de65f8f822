"""Files whose conversion ran into a limit, or ended its process: they are tried twice."""

from __future__ import annotations

from sqlalchemy import delete, insert, select, update

from discorag.schema.errors import RefusedFileError
from discorag.store import tables
from discorag.store.database import Database

TRIES = 2
_T = tables.conversions


class Conversions:
    """How often the conversion of each file failed, by its content.

    Args:
        database: Where that is written down.

    Example:
        >>> for _ in range(2):
        ...     store.conversions.failed("3fa9", "it takes more than 60 s")
        >>> store.conversions.check("3fa9")
        Traceback (most recent call last):
        discorag.schema.errors.RefusedFileError: Refused after 2 attempts: it takes more than 60 s. Ingest it with \
--refresh to try again.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def check(self, file: str) -> None:
        """Raises `RefusedFileError` for a file that failed too often.

        Args:
            file: Digest of its content and of what will convert it.
        """
        with self._database.read() as db:
            found = db.execute(select(_T).where(_T.c.file == file)).one_or_none()
        if found and found.failures >= TRIES:
            said = f"Refused after {found.failures} attempts: {found.reason}."
            raise RefusedFileError(said, hint="Ingest it with --refresh to try again.")

    def failed(self, file: str, reason: str) -> None:
        """Count a failure."""
        with self._database.write() as db:
            counted = update(_T).where(_T.c.file == file).values(failures=_T.c.failures + 1, reason=reason)
            if not db.execute(counted).rowcount:
                db.execute(insert(_T), {"file": file, "failures": 1, "reason": reason})

    def succeeded(self, file: str) -> None:
        """Forget what was counted."""
        with self._database.read() as db:
            known = db.scalar(select(_T.c.file).where(_T.c.file == file))
        if known:
            with self._database.write() as db:
                db.execute(delete(_T).where(_T.c.file == file))
