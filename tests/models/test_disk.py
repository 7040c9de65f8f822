"""A cache on disk runs no code: no pickle is written, and one that somebody planted is not read."""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from diskcache import Cache, Disk
from diskcache.core import MODE_PICKLE

from discorag.models.cache import PlainDisk, PlainJSONDisk, ReplyCache
from discorag.schema.errors import InvariantError


class Bomb:
    """Unpickled, it makes a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return open, (str(self.file), "w")


def plant(folder: Path, column: str, value: object) -> None:
    with sqlite3.connect(folder / "cache.db") as rows:
        rows.execute(f"UPDATE Cache SET {column} = ?", (value,))
    rows.close()


def test_diskcache_by_itself_runs_what_is_planted(tmp_path: Path) -> None:
    cache = Cache(str(tmp_path / "cache"))
    cache.set("key", Bomb(tmp_path / "pwned"))
    cache.get("key")
    assert (tmp_path / "pwned").exists()


@pytest.mark.parametrize("disk", [PlainDisk, PlainJSONDisk])
def test_a_planted_value_is_an_error_and_is_not_run(disk: type[Disk], tmp_path: Path) -> None:
    cache = Cache(str(tmp_path / "cache"), disk=disk)
    cache.set("key", "value")
    plant(tmp_path / "cache", "value", pickle.dumps(Bomb(tmp_path / "pwned")))
    plant(tmp_path / "cache", "mode", MODE_PICKLE)
    with pytest.raises(InvariantError, match="pickle"):
        cache.get("key")
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("disk", [PlainDisk, PlainJSONDisk])
def test_a_planted_file_and_a_planted_key_are_not_run(disk: type[Disk], tmp_path: Path) -> None:
    cache = Cache(str(tmp_path / "cache"), disk=disk)
    cache.set("key", "value")
    bomb = pickle.dumps(Bomb(tmp_path / "pwned"))
    (tmp_path / "cache" / "planted.val").write_bytes(bomb)
    for column, value in {"value": None, "filename": "planted.val", "mode": MODE_PICKLE}.items():
        plant(tmp_path / "cache", column, value)
    with pytest.raises(InvariantError):
        cache.get("key")
    plant(tmp_path / "cache", "key", bomb)
    plant(tmp_path / "cache", "raw", 0)
    with pytest.raises(InvariantError):
        list(cache.iterkeys())
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("value", [["a list"], {"a": 1}, None, 2**70])
def test_what_would_be_pickled_is_refused(value: object, tmp_path: Path) -> None:
    cache = Cache(str(tmp_path), disk=PlainDisk)
    with pytest.raises(InvariantError):
        cache.set("key", value)
    assert cache.get("key") is None
    for plain in ("text", b"bytes", 7, 0.5, "x" * 100_000):
        cache.set("key", plain)
        assert cache.get("key") == plain


async def test_in_the_reply_cache_a_planted_row_is_a_miss(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "cache")
    await cache.put("key", "reply")
    plant(tmp_path / "cache", "value", pickle.dumps(Bomb(tmp_path / "pwned")))
    plant(tmp_path / "cache", "mode", MODE_PICKLE)
    assert await cache.get("key") is None
    assert not (tmp_path / "pwned").exists()
