"""A deadline for all model calls of a run.

A call that misses it fails like a timeout, early enough for the fallback to be used.
"""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from math import inf
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

_limit: ContextVar[tuple[float, str]] = ContextVar("limit", default=(inf, ""))
"""When the time ends, and the setting that sets it."""


@contextmanager
def models_within(seconds: float, *, setting: str = "") -> Generator[None]:
    """Limit all calls of language models inside this block, and in tasks started in it, to ``seconds`` together.

    The error of a call that the limit ends names the ``setting``.
    """
    before = _limit.get()
    _limit.set((monotonic() + seconds, setting))
    try:
        yield
    finally:
        _limit.set(before)  # a token could not be reset: an unfinished generator is closed in another context


def expired_limit() -> str:
    """The setting that set the deadline, if the deadline has passed; otherwise empty."""
    until, setting = _limit.get()
    return setting if monotonic() >= until else ""


def in_time() -> asyncio.Timeout:
    """A context that raises ``TimeoutError`` at the deadline. If no time is left, this function raises it."""
    left = _limit.get()[0] - monotonic()
    if left <= 0:
        raise TimeoutError
    return asyncio.timeout(None if left == inf else left)


async def each_in_time(parts: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """Yield the parts, and close them. Raises ``TimeoutError`` if the next one does not arrive before the deadline."""
    async with aclosing(parts):
        while True:
            try:
                async with in_time():
                    part = await anext(parts)
            except StopAsyncIteration:
                return
            yield part
