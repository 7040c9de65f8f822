"""A deadline for all model calls of a run.

A call that misses it fails like a timeout, early enough for the fallback to be used.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from math import inf
from time import monotonic
from typing import TypeVar

from discorag.schema.errors import ModelUnavailableError

T = TypeVar("T")

_limit: ContextVar[tuple[float, float, str]] = ContextVar("limit", default=(inf, inf, ""))
"""When the time ends, how many seconds it is in all, and the setting that sets it."""


@contextmanager
def models_within(seconds: float, *, setting: str = "") -> Generator[None]:
    """Limit all calls of language models inside this block, and in tasks started in it, to ``seconds`` together.

    The error of a call that the limit ends names the ``setting``.
    """
    before = _limit.get()
    _limit.set((monotonic() + seconds, seconds, setting))
    try:
        yield
    finally:
        _limit.set(before)  # a token could not be reset: an unfinished generator is closed in another context


def expired_limit() -> str:
    """The setting that set the deadline, if the deadline has passed; otherwise empty."""
    until, _, setting = _limit.get()
    return setting if monotonic() >= until else ""


def is_cut_short(waited_s: float) -> bool:
    """Whether the deadline ended a wait of this many seconds, at most half of its time: no sign of a fault.

    A server that hangs takes more than that of the next run.
    """
    until, seconds, _ = _limit.get()
    return monotonic() >= until and waited_s <= seconds / 2


def is_limited() -> bool:
    """Whether there is a deadline."""
    return _limit.get()[0] < inf


def in_time(most_s: float = inf) -> asyncio.Timeout:
    """A context that raises ``TimeoutError`` at the deadline, or after ``most_s`` seconds if that is earlier.

    If no time is left, this function raises it.
    """
    left = min(most_s, _limit.get()[0] - monotonic())
    if left <= 0:
        raise TimeoutError
    return asyncio.timeout(None if left == inf else left)


async def each_in_time(
    parts: AsyncGenerator[T, None], silence_s: float, speaks: Callable[[T], bool]
) -> AsyncGenerator[T, None]:
    """Yield the parts, and close them.

    Raises:
        TimeoutError: The next one does not arrive before the deadline.
        ModelUnavailableError: After the first one that ``speaks``, the next does not arrive within ``silence_s``
            seconds.
    """
    wait_s = inf
    async with aclosing(parts):
        while True:
            try:
                async with in_time(wait_s):
                    part = await anext(parts)
            except StopAsyncIteration:
                return
            except TimeoutError as error:
                if wait_s == inf or expired_limit():
                    raise
                message = f"The endpoint stopped in the middle of its reply: nothing came for {silence_s:g} s."
                hint = "Raise DISCO_RAG_LLM__SILENCE_S or check the server's load."
                raise ModelUnavailableError(message, hint=hint) from error
            yield part
            if speaks(part):
                wait_s = silence_s
