"""Checkpoints of an ingest: taken up after a cancel, and in nobody's way."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint

from discorag.schema.errors import StoreError
from graphs.checkpoints import checkpoints

THREAD: Any = {"configurable": {"thread_id": "ingest", "checkpoint_ns": ""}}


def left(folder: Path) -> list[Path]:
    return sorted(folder.glob("checkpoints*"))


async def put(saver: BaseCheckpointSaver[Any]) -> None:
    await saver.aput(THREAD, empty_checkpoint(), {}, {})


async def stopped(folder: Path) -> None:
    """A job that is cancelled after it has written a checkpoint."""

    async def run() -> None:
        async with checkpoints(folder, "job") as saver:
            await put(saver)
            written.set()
            await asyncio.sleep(3600)

    written = asyncio.Event()
    task = asyncio.create_task(run())
    await written.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_job_that_was_cancelled_is_taken_up_and_leaves_nothing_when_it_has_ended(tmp_path: Path) -> None:
    await stopped(tmp_path)
    async with checkpoints(tmp_path, "job") as saver:
        assert await saver.aget_tuple(THREAD)
    assert left(tmp_path) == []


async def test_a_write_that_is_cancelled_holds_no_lock(tmp_path: Path) -> None:
    for steps in range(20):  # of the event loop, before it is cancelled
        async with checkpoints(tmp_path, "job") as saver:
            writing = asyncio.create_task(put(saver))
            for _ in range(steps):
                await asyncio.sleep(0)
            writing.cancel()
            kept = await asyncio.gather(writing, return_exceptions=True)  # and the traceback with it
        async with checkpoints(tmp_path, "job") as saver:
            await put(saver)
            assert await saver.aget_tuple(THREAD), kept


async def test_damaged_checkpoints_end_one_run_and_the_next_starts_anew(tmp_path: Path) -> None:
    (tmp_path / "checkpoints-job.sqlite").write_bytes(b"garbage" * 1000)
    with pytest.raises(StoreError, match="run it again"):
        async with checkpoints(tmp_path, "job"):
            pass
    async with checkpoints(tmp_path, "job") as saver:
        await put(saver)


async def test_a_run_that_fails_leaves_no_checkpoints(tmp_path: Path) -> None:
    async def fails() -> None:
        async with checkpoints(tmp_path, "job") as saver:
            await put(saver)
            raise sqlite3.OperationalError("disk I/O error")

    with pytest.raises(StoreError, match="disk I/O"):
        await fails()
    assert left(tmp_path) == []


async def test_checkpoints_that_nobody_takes_up_are_removed_after_a_week(tmp_path: Path) -> None:
    await stopped(tmp_path)
    week = time.time() - 8 * 86_400
    for file in left(tmp_path):
        os.utime(file, (week, week))
    async with checkpoints(tmp_path, "other"):
        assert [file for file in left(tmp_path) if "job" in file.name] == []
