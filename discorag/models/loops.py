"""Tools for event loops and threads: a loop in its own thread, a value for each loop, a fair lock, cancellation."""

import asyncio
from asyncio import CancelledError
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import Generic, TypeVar

_over: ContextVar[Event | None] = ContextVar("over", default=None)


@contextmanager
def cancel_scope() -> Generator[None]:
    """Tell the threads started in this block (`asyncio.to_thread`) to stop once the block ends.

    A thread cannot be interrupted: it stops at its next `raise_if_cancelled`, which it calls before each piece of work.
    """
    over, before = Event(), _over.get()
    _over.set(over)
    try:
        yield
    finally:
        over.set()
        _over.set(before)  # a token could not be reset: an unfinished generator is closed in another context


def raise_if_cancelled(*_: object) -> None:
    """Raise ``CancelledError`` if the `cancel_scope` in which this thread was started has ended.

    Arguments are ignored, so that it can be passed where a callback is wanted.
    """
    over = _over.get()
    if over is not None and over.is_set():
        raise CancelledError


T = TypeVar("T")


@dataclass
class _Entry(Generic[T]):
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    value: T | None = None


class PerLoop(Generic[T]):
    """Makes a value for each running event loop on first use and forgets those of closed loops.

    HTTP clients and semaphores belong to the loop in which they were first used.

    Args:
        make: Makes the value; called in a thread, because clients read certificate files.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._entries: dict[asyncio.AbstractEventLoop, _Entry[T]] = {}

    async def get(self) -> T:
        """The running loop's value."""
        loop = asyncio.get_running_loop()
        if loop not in self._entries:
            for old in [known for known in list(self._entries) if known.is_closed()]:
                self._entries.pop(old, None)
        entry = self._entries.setdefault(loop, _Entry())
        async with entry.lock:
            if entry.value is None:
                entry.value = await asyncio.to_thread(self._make)
            return entry.value


class FairLock:
    """A lock that threads get in the order in which they asked for it.

    With `threading.Lock`, a thread that releases the lock and takes it again at once can keep all others waiting.
    """

    def __init__(self) -> None:
        self._change = Lock()
        self._waiting: deque[Lock] = deque()
        self._taken = False

    def __enter__(self) -> None:
        with self._change:
            if not self._taken:
                self._taken = True
                return
            mine = Lock()
            mine.acquire()
            self._waiting.append(mine)
        mine.acquire()

    def __exit__(self, *_: object) -> None:
        with self._change:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False


class BackgroundLoop:
    """Runs calls, also of several threads, on one event loop: HTTP clients are bound to the loop that made them.

    A call sees the context variables of its caller. The loop's thread is a daemon, unlike that of anyio's portal, so
    that a program that forgets to close it still ends.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="disco-rag", daemon=True)
        self._thread.start()

    def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Return what the call returns; Ctrl-C cancels the call."""

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
