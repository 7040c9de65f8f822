"""One value per event loop: HTTP clients and semaphores belong to the loop in which they were first used."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass
class _Entry(Generic[T]):
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    value: T | None = None


class PerLoop(Generic[T]):
    """Makes a value for each running event loop on first use and forgets those of closed loops.

    Args:
        make: Makes the value; called in a thread, because clients read certificate files.

    Example:
        >>> from discorag.models.loops import PerLoop
        >>> clients = PerLoop(list)
        >>> async def twice():
        ...     return await clients.get() is await clients.get()
        >>> asyncio.run(twice())
        True
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._entries: dict[asyncio.AbstractEventLoop, _Entry[T]] = {}

    async def get(self) -> T:
        """The running loop's value."""
        entry = self._entry(asyncio.get_running_loop())
        async with entry.lock:
            if entry.value is None:
                entry.value = await asyncio.to_thread(self._make)
            return entry.value

    def pop(self) -> T | None:
        """Forget the running loop's value and return it, so that the caller can close it."""
        entry = self._entries.pop(asyncio.get_running_loop(), None)
        return entry.value if entry else None

    def _entry(self, loop: asyncio.AbstractEventLoop) -> _Entry[T]:
        if loop not in self._entries:
            for old in [known for known in list(self._entries) if known.is_closed()]:
                self._entries.pop(old, None)
        return self._entries.setdefault(loop, _Entry())
