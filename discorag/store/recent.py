"""A memory of the last values, for several threads: reading takes no lock, unlike with `cachetools`."""

from threading import Lock
from typing import TypeVar

T = TypeVar("T")


class Recent(dict[str, T]):
    """The last ``size`` values that were put in, by key; the oldest is dropped first."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size
        self._lock = Lock()

    def put(self, key: str, value: T) -> T:
        """Put it in; the value again."""
        with self._lock:
            self[key] = value
            if len(self) > self._size:
                del self[next(iter(self))]
        return value
