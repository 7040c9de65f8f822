"""Cancellation of threads: a thread cannot be interrupted, so it checks before each piece of its work."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event

_over: ContextVar[Event | None] = ContextVar("over", default=None)


@contextmanager
def cancel_scope() -> Generator[None]:
    """When this block ends, threads started in it (`asyncio.to_thread`) stop at their next `raise_if_cancelled`."""
    over, before = Event(), _over.get()
    _over.set(over)
    try:
        yield
    finally:
        over.set()
        _over.set(before)  # no reset: a generator that nobody finishes is closed in another context


def raise_if_cancelled(*_: object) -> None:
    """Raise ``CancelledError`` if the run that this thread works for has ended."""
    over = _over.get()
    if over is not None and over.is_set():
        raise CancelledError
