"""Where an ingest stopped: one SQLite file for each job, which is nobody else's and goes when the job has ended."""

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
"""How long the checkpoints of a job that nobody takes up are kept, in seconds."""
_ATTEMPTS, _PAUSE_S = 3, 0.05
_PLAIN = JsonPlusSerializer(allowed_msgpack_modules=None)
"""Makes no objects of what it reads, which could be code that runs; a state holds JSON values only."""


@asynccontextmanager
async def checkpoints(folder: Path, job: str) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
    """Checkpoints of the job of this name; in memory, if the same job is at work elsewhere.

    Where the block is cancelled, or the process killed, the file stays, and the next block goes on with it.

    Raises:
        StoreError: The disk fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    file, goes = folder / f"checkpoints-{job}.sqlite", False
    connection: aiosqlite.Connection | None = None
    try:
        connection = await _taken(file)
        goes = connection is not None
        yield AsyncSqliteSaver(connection, serde=_PLAIN) if connection else InMemorySaver()
    except sqlite3.DatabaseError as error:
        goes = True
        hint = "Check the disk and run it again: what is stored is not read again."
        raise StoreError(f"{file} cannot be used: {error}.", hint=hint) from error
    except asyncio.CancelledError:
        goes = False
        raise
    finally:
        if goes:
            _remove(file)  # before it is free: whoever takes it then would write into a file that is gone
        if connection:
            await asyncio.shield(_closed(connection))


async def _taken(file: Path) -> aiosqlite.Connection | None:
    """The file, until it is closed; None if somebody else has it. Of two that try at one moment neither may get it."""
    for _ in range(_ATTEMPTS):
        connection = aiosqlite.connect(file, timeout=0)
        try:
            await connection
            if await _is_ours(connection):
                return connection
        except BaseException:
            await asyncio.shield(_closed(connection))
            raise
        await _closed(connection)
        await asyncio.sleep(uniform(0, _PAUSE_S))
    return None


async def _is_ours(connection: aiosqlite.Connection) -> bool:
    """Take the file until it is closed; whether nobody else has it."""
    try:
        await connection.executescript("BEGIN EXCLUSIVE; PRAGMA locking_mode=EXCLUSIVE; COMMIT;")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


async def _closed(connection: aiosqlite.Connection) -> None:
    """A write that was cancelled is undone first: else it holds its lock as long as anybody has its cursor."""
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
