"""Disks for diskcache that hold no pickles: its own unpickles what a row asks it to, and a pickle runs code."""

from __future__ import annotations

from typing import Any

from diskcache import UNKNOWN, Disk, JSONDisk
from diskcache.core import MODE_PICKLE

from discorag.types.errors import InvariantError


class PlainDisk(Disk):
    """Text, bytes and numbers as they are; nothing is pickled, and a pickle that somebody put there is not read.

    Reading one raises `InvariantError`.

    Example:
        >>> from diskcache import Cache
        >>> from discorag.models.disk import PlainDisk
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
        >>> from discorag.models.disk import PlainJSONDisk
        >>> cache = Cache(str(tmp_path / "json"), disk=PlainJSONDisk)
        >>> cache.set("key", ["Tides", "rise"])
        True
        >>> cache.get("key")
        ['Tides', 'rise']
    """
