"""Where an ingest stopped: one SQLite file for each job, which is nobody else's and goes when the job has ended."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import time
from typing import Any

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from discorag.types.errors import StoreError

KEPT_S = 7 * 86_400
"""How long the checkpoints of a job that nobody takes up are kept, in seconds."""
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
    file = folder / f"checkpoints-{job}.sqlite"
    connection, goes = aiosqlite.connect(file, timeout=0), False
    try:
        await connection
        goes = await _is_ours(connection)
        yield AsyncSqliteSaver(connection, serde=_PLAIN) if goes else InMemorySaver()
    except sqlite3.DatabaseError as error:
        goes = True
        hint = "Check the disk and run it again: what is stored is not read again."
        raise StoreError(f"{file} cannot be used: {error}.", hint=hint) from error
    except asyncio.CancelledError:
        goes = False
        raise
    finally:
        await asyncio.shield(_closed(connection))
        if goes:
            _remove(file)


async def _is_ours(connection: aiosqlite.Connection) -> bool:
    """Take the file until it is closed; whether nobody else has it."""
    try:
        await connection.executescript("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;")
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
