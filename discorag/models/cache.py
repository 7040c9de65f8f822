"""Replies on disk: the same request to the same model is paid for once; and disks for diskcache without pickles.

diskcache's own unpickles what a row asks it to, and a pickle runs code.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import threading
import zlib
from pathlib import Path
from typing import Any

from diskcache import UNKNOWN, Cache, Disk, JSONDisk, Timeout
from diskcache.core import MODE_PICKLE

from discorag.models.protocol import Request
from discorag.schema.errors import ConfigError, InvariantError
from discorag.schema.values import digest

_LOG = logging.getLogger(__name__)
_FAULTS = (OSError, sqlite3.Error, Timeout, zlib.error, ValueError)


class PlainDisk(Disk):
    """Text, bytes and numbers as they are; nothing is pickled, and a pickle that somebody put there is not read.

    Reading one raises `InvariantError`.

    Example:
        >>> from diskcache import Cache
        >>> from discorag.models.cache import PlainDisk
        >>> cache = Cache(str(tmp_path / "records"), disk=PlainDisk)
        >>> cache.set("key", "Tides rise.")
        True
        >>> cache.get("key")
        'Tides rise.'
    """

    def put(self, key: Any) -> tuple[Any, bool]:
        """A key's form in the database."""
        made, raw = super().put(key)
        return made, self._checked(raw)

    def get(self, key: Any, raw: bool) -> Any:
        """A key from its form in the database."""
        return super().get(key, self._checked(raw))

    def store(self, value: Any, read: bool, key: Any = UNKNOWN) -> tuple[int, int, str | None, Any]:
        """A value's form in the database."""
        row = super().store(value, read, key=key)
        self._checked(row[1] != MODE_PICKLE)
        return row

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        """A value from its form in the database."""
        self._checked(mode != MODE_PICKLE)
        return super().fetch(mode, filename, value, read)

    def _checked(self, is_plain: bool) -> bool:
        if not is_plain:
            raise InvariantError(
                f"A row in {self._directory} is, or would be, a pickle, which runs code when it is read.",
                hint="Nothing of ours is stored so: find out who writes there, and delete the folder.",
            )
        return is_plain


class PlainJSONDisk(JSONDisk, PlainDisk):
    """Anything that JSON can write, compressed; a `PlainDisk` in all else.

    Example:
        >>> from diskcache import Cache
        >>> from discorag.models.cache import PlainJSONDisk
        >>> cache = Cache(str(tmp_path / "json"), disk=PlainJSONDisk)
        >>> cache.set("key", ["Tides", "rise"])
        True
        >>> cache.get("key")
        ['Tides', 'rise']
    """


def reply_key(model: str, base_url: str, request: Request[Any]) -> str:
    """SHA-256 over everything that shapes the output: model, endpoint, conversation, schema and parameters."""
    conversation = [(m.role, m.content) for m in request.messages]
    parameters = (request.max_tokens, request.temperature, request.beam_width)
    return digest(json.dumps([model, base_url, conversation, request.schema, parameters], sort_keys=True))


class ReplyCache:
    """Checked output texts by key, as JSON in a diskcache folder (SQLite; safe for several processes).

    A cache that fails later on is a miss, logged: it must not cost an answer that the model could give.

    Args:
        folder: Made on first use.

    Example:
        >>> from discorag.models.cache import ReplyCache
        >>> cache = ReplyCache(tmp_path / "replies")
        >>> asyncio.run(cache.put("key", "Tides rise."))
        >>> asyncio.run(cache.get("key"))
        'Tides rise.'
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._cache: Cache | None = None

    async def get(self, key: str) -> str | None:
        """The stored text, or None.

        Raises:
            ConfigError: The folder cannot be opened.
        """
        return await asyncio.to_thread(self._get, key)

    async def put(self, key: str, text: str) -> None:
        """Store a text.

        Raises:
            ConfigError: The folder cannot be opened.
        """
        await asyncio.to_thread(self._put, key, text)

    def _get(self, key: str) -> str | None:
        cache = self._opened()
        try:
            text = cache.get(key)
        except _FAULTS as error:
            _LOG.warning("The reply cache in %s cannot be read: %s", self._folder, error)
            return None
        return text if isinstance(text, str) else None

    def _put(self, key: str, text: str) -> None:
        cache = self._opened()
        try:
            cache.set(key, text)
        except _FAULTS as error:
            _LOG.warning("The reply cache in %s cannot be written: %s", self._folder, error)

    def _opened(self) -> Cache:
        with self._lock:
            if self._cache is None:
                try:
                    self._cache = Cache(str(self._folder), disk=PlainJSONDisk)
                except _FAULTS as error:
                    raise ConfigError(
                        f"The reply cache in {self._folder} cannot be opened: {error}",
                        hint="Set DISCO_RAG_LLM__CACHE to a folder that can be written.",
                    ) from error
            return self._cache
