"""Threads stop when the run that they work for has ended."""

from __future__ import annotations

import asyncio
import threading

import pytest

from discorag.models.loops import cancel_scope, raise_if_cancelled


async def test_a_thread_goes_on_while_its_run_does_and_stops_when_it_was_cancelled() -> None:
    steps, stopped = list[int](), threading.Event()

    def work() -> None:
        try:
            while True:
                raise_if_cancelled()
                steps.append(1)
                threading.Event().wait(0.001)
        finally:
            stopped.set()

    async def run() -> None:
        with cancel_scope():
            await asyncio.to_thread(work)

    task = asyncio.create_task(run())
    while len(steps) < 3:
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(stopped.wait, 60)


async def test_a_run_that_ended_stops_no_other() -> None:
    with cancel_scope():
        with cancel_scope():
            pass
        await asyncio.to_thread(raise_if_cancelled)
    raise_if_cancelled()
