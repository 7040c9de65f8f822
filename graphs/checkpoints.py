"""Where an ingest stopped: one SQLite file for each job, locked while the job runs and removed when it has ended."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import uniform
from time import time
from typing import Any

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from discorag.schema.errors import StoreError

KEPT_S = 7 * 86_400
"""Checkpoints of a job that is not resumed are removed after so many seconds."""
_ATTEMPTS, _PAUSE_S = 3, 0.05
_PLAIN = JsonPlusSerializer(allowed_msgpack_modules=None)
"""Creates no objects from what it reads, since they could run code; a state holds JSON values only."""


@asynccontextmanager
async def checkpoints(folder: Path, job: str) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
    """Checkpoints of the job of this name; in memory, if the same job is running elsewhere.

    When the block is cancelled, or the process killed, the file stays, and the next block resumes from it.

    Raises:
        StoreError: The disk fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    file, is_over = folder / f"checkpoints-{job}.sqlite", False
    connection: aiosqlite.Connection | None = None
    try:
        connection = await _open_exclusively(file)
        is_over = connection is not None
        yield AsyncSqliteSaver(connection, serde=_PLAIN) if connection else InMemorySaver()
    except sqlite3.DatabaseError as error:
        is_over = True
        hint = "Check the disk and run it again: what is stored is not read again."
        raise StoreError(f"{file} cannot be used: {error}.", hint=hint) from error
    except asyncio.CancelledError:
        is_over = False
        raise
    finally:
        if is_over:
            _remove(file)  # before the lock is released: the next owner would write into a file that is gone
        if connection:
            await asyncio.shield(_close(connection))


async def _open_exclusively(file: Path) -> aiosqlite.Connection | None:
    """The file, locked until it is closed; None if another run has it. Of two that try at once, neither may get it."""
    for _ in range(_ATTEMPTS):
        connection = aiosqlite.connect(file, timeout=0)
        try:
            await connection
            if await _lock(connection):
                return connection
        except BaseException:
            await asyncio.shield(_close(connection))
            raise
        await _close(connection)
        await asyncio.sleep(uniform(0, _PAUSE_S))
    return None


async def _lock(connection: aiosqlite.Connection) -> bool:
    """Lock the file until it is closed; False if another run has it."""
    try:
        await connection.executescript("BEGIN EXCLUSIVE; PRAGMA locking_mode=EXCLUSIVE; COMMIT;")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


async def _close(connection: aiosqlite.Connection) -> None:
    """Roll back first: a write that was cancelled holds its lock as long as its cursor lives."""
    with suppress(ValueError, sqlite3.Error):  # it was never open, or the disk fails
        await connection.rollback()
    await connection.close()


def _sweep(folder: Path) -> None:
    for file in folder.glob("checkpoints*.sqlite*"):
        with suppress(OSError):
            if time() - file.stat().st_mtime > KEPT_S:
                file.unlink()


def _remove(file: Path) -> None:
    for part in file.parent.glob(f"{file.name}*"):
        with suppress(OSError):
            part.unlink()
