"""A time by which models must have answered, set around a run and seen by every call that the run makes.

A call that would end later fails like one that timed out, so that there is still time for the stage's local engine.
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


@contextmanager
def models_within(seconds: float) -> Generator[None]:
    """Give the language model ``seconds`` for all its calls inside this block, tasks started in it included."""
    before = _deadline.get()
    _deadline.set(monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.set(before)  # no reset: a generator that nobody finishes is closed in another context


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
    """The same parts. Raises ``TimeoutError`` where the next has not come by the deadline."""
    while True:
        try:
            async with in_time():
                part = await anext(parts)
        except StopAsyncIteration:
            return
        yield part
