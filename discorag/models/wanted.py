"""Whether anybody still waits for a run. A thread cannot be cancelled: it asks before each piece of its work."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event

_over: ContextVar[Event | None] = ContextVar("over", default=None)


@contextmanager
def while_wanted() -> Generator[None]:
    """Threads that are started in this block (`asyncio.to_thread`) stop at their next `check_wanted` after its end."""
    over, before = Event(), _over.get()
    _over.set(over)
    try:
        yield
    finally:
        over.set()
        _over.set(before)  # no reset: a generator that nobody finishes is closed in another context


def check_wanted(*_: object) -> None:
    """Raises ``CancelledError`` where the run that this thread works for has ended."""
    over = _over.get()
    if over is not None and over.is_set():
        raise CancelledError
