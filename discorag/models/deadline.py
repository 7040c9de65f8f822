"""A deadline for all model calls of a run.

A call that misses it fails like a timeout, early enough for the fallback to be used.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)
_setting: ContextVar[str] = ContextVar("setting", default="")


@contextmanager
def models_within(seconds: float, *, setting: str = "") -> Generator[None]:
    """Give the language model ``seconds`` for all its calls inside this block, tasks started in it included.

    Args:
        seconds: From now on.
        setting: Where the limit comes from; an error of a call that it ends names it.
    """
    before = _deadline.get(), _setting.get()
    _deadline.set(monotonic() + seconds)
    _setting.set(setting)
    try:
        yield
    finally:  # no reset: a generator that nobody finishes is closed in another context
        _deadline.set(before[0])
        _setting.set(before[1])


def expired_limit() -> str:
    """The setting of the deadline if that has passed; empty if it has not, or comes from no setting."""
    deadline = _deadline.get()
    return _setting.get() if deadline is not None and monotonic() >= deadline else ""


def in_time() -> asyncio.Timeout:
    """A block that raises ``TimeoutError`` at the deadline; without one it never does.

    Raises:
        TimeoutError: At once, where no time is left.
    """
    deadline = _deadline.get()
    left = None if deadline is None else deadline - monotonic()
    if left is not None and left <= 0:
        raise TimeoutError
    return asyncio.timeout(left)


async def each_in_time(parts: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """Yield the parts. Raises ``TimeoutError`` if the next one does not arrive before the deadline."""
    while True:
        try:
            async with in_time():
                part = await anext(parts)
        except StopAsyncIteration:
            return
        yield part
