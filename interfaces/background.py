"""Background work: an event loop in its own thread, and tasks that close what they have open."""

import asyncio
from collections.abc import Awaitable, Callable
from threading import Thread
from typing import Any, TypeVar

from anyio import move_on_after

T = TypeVar("T")
CLOSING_S = 5.0
"""Seconds to wait until a task that was given up has closed what it had open."""


async def end_task(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait until it has closed what it had open, even where the caller is being cancelled.

    When a client leaves, Starlette and MCP cancel every ``await`` of its request, so the request's own task could close
    nothing.
    """
    task.cancel()
    with move_on_after(CLOSING_S, shield=True):
        await asyncio.wait({task})


class BackgroundLoop:
    """Runs calls, also of several threads, on one event loop: HTTP clients are bound to the loop that made them.

    Its thread is a daemon, unlike that of anyio's portal: a program that forgets to close it ends all the same.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="disco-rag", daemon=True)
        self._thread.start()

    def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """What the call returns; Ctrl-C cancels it."""

        async def called() -> T:
            return await call()

        future = asyncio.run_coroutine_threadsafe(called(), self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def close(self) -> None:
        """Cancel what runs, wait until it has ended, and stop."""
        asyncio.run_coroutine_threadsafe(_cancel_all(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    loop = asyncio.get_running_loop()
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()
