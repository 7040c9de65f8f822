"""Replies on disk: the same request to the same model is paid for once."""

import logging
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from stat import S_IMODE
from typing import Any

_LOG = logging.getLogger(__name__)
MOST = 100_000
"""Replies that are stored; the oldest give way."""
_PRIVATE = 0o600
_PATIENCE_S = 30.0
"""Seconds that a process waits while another one writes."""


class ReplyCache:
    """Checked output texts by key, in an SQLite file that several processes of one user may use. All methods block.

    A cache that fails is a miss, logged once: it must not cost an answer that the model could give.

    Args:
        folder: Created on first use.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "replies.sqlite"
        self._warned = False

    def get(self, key: str) -> tuple[str, bool] | None:
        """The stored text, and whether it was cut off at its limit; None if there is none."""
        row = self._execute("SELECT text, cut FROM texts WHERE key = ?", key)
        return (row[0], bool(row[1])) if row else None

    def put(self, key: str, text: str, cut: bool) -> None:
        """Store a text."""
        self._execute("INSERT OR REPLACE INTO texts VALUES (?, ?, ?)", key, text, cut)
        self._execute("DELETE FROM texts WHERE rowid <= (SELECT max(rowid) FROM texts) - ?", MOST)

    def _execute(self, statement: str, *values: object) -> Any:
        """The first row that a statement gives."""
        try:
            if not self._file.exists():
                self._file.parent.mkdir(parents=True, exist_ok=True)
                self._file.touch(_PRIVATE)  # replies quote documents
            found = self._file.stat()
            if found.st_uid == os.geteuid() and S_IMODE(found.st_mode) != _PRIVATE:
                self._file.chmod(_PRIVATE)
            with closing(sqlite3.connect(self._file, timeout=_PATIENCE_S)) as database, database:
                database.execute("CREATE TABLE IF NOT EXISTS texts (key TEXT PRIMARY KEY, text TEXT, cut INTEGER)")
                return database.execute(statement, values).fetchone()
        except (OSError, sqlite3.Error) as error:
            if not self._warned:
                _LOG.warning("The cache of replies (DISCO_RAG_LLM__CACHE) cannot be used: %s: %s", self._file, error)
            self._warned = True
            return None
