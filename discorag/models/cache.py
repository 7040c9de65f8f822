"""Replies on disk: the same request to the same model is paid for once."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from discorag.models.protocol import Request
from discorag.schema.errors import ConfigError
from discorag.schema.values import digest

_LOG = logging.getLogger(__name__)
_PATIENCE_S = 30.0
"""How long a process waits while another one writes."""


def reply_key(model: str, base_url: str, request: Request[Any]) -> str:
    """SHA-256 over everything that shapes the output: model, endpoint, conversation, schema and parameters."""
    conversation = [(m.role, m.content) for m in request.messages]
    parameters = (request.max_tokens, request.temperature, request.beam_width)
    return digest(json.dumps([model, base_url, conversation, request.schema, parameters], sort_keys=True))


class ReplyCache:
    """Checked output texts by key, in an SQLite file that several processes may use.

    A cache that fails later on is a miss, logged: it must not cost an answer that the model could give.

    Args:
        folder: Made on first use.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "replies.sqlite"

    async def get(self, key: str) -> str | None:
        """The stored text, or None. Raises `ConfigError` if the folder cannot be opened."""
        return await asyncio.to_thread(self._get, key)

    async def put(self, key: str, text: str) -> None:
        """Store a text. Raises `ConfigError` if the folder cannot be opened."""
        await asyncio.to_thread(self._put, key, text)

    def _get(self, key: str) -> str | None:
        try:
            with self._open() as database:
                row = database.execute("SELECT text FROM replies WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            _LOG.warning("The reply cache %s cannot be read: %s", self._file, error)
            return None
        return row[0] if row and isinstance(row[0], str) else None

    def _put(self, key: str, text: str) -> None:
        try:
            with self._open() as database:
                database.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, text))
        except sqlite3.Error as error:
            _LOG.warning("The reply cache %s cannot be written: %s", self._file, error)

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(self._file, timeout=_PATIENCE_S)
        except (OSError, sqlite3.OperationalError) as error:
            raise ConfigError(
                f"The reply cache in {self._file.parent} cannot be opened: {error}",
                hint="Set DISCO_RAG_LLM__CACHE to a folder that can be written.",
            ) from error
        with closing(database), database:
            database.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, text TEXT NOT NULL)")
            yield database
