"""An endpoint that hangs or refuses is left alone for a while; then one call tries it, and all others fail at once."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from time import monotonic
from weakref import WeakValueDictionary

from discorag.config import EndpointSettings
from discorag.schema.errors import ModelError, ModelUnavailableError

_breakers: WeakValueDictionary[tuple[str, str], Breaker] = WeakValueDictionary()


class Breaker:
    """Counts the failures of one endpoint; shared by all calls of this process.

    Only calls that found no server, timed out or met 5xx to the end count as failures: a server that refuses a request,
    or answers nonsense, is there.

    Args:
        failures: Failures in a row after which the endpoint is left alone.
        pause_s: Seconds for which it is left alone; after that, one call every ``pause_s`` seconds tries it.
    """

    def __init__(self, failures: int, pause_s: float) -> None:
        self._limit = failures
        self._pause_s = pause_s
        self._failed = 0
        self._until = 0.0
        self._last = ""
        self._lock = threading.Lock()

    @property
    def is_open(self) -> bool:
        """Whether the endpoint is left alone."""
        return self._failed >= self._limit

    @contextmanager
    def guard(self) -> Generator[None]:
        """Around one call, whose outcome is counted; a call that its caller cancels counts neither way.

        Raises:
            ModelUnavailableError: The endpoint is left alone.
        """
        self._admit()
        try:
            yield
        except ModelUnavailableError as error:
            self._count(error)
            raise
        except ModelError:
            self._failed = 0
            raise
        self._failed = 0

    def _admit(self) -> None:
        with self._lock:
            now = monotonic()
            if self.is_open and now < self._until:
                until = datetime.now(UTC) + timedelta(seconds=self._until - now)
                raise ModelUnavailableError(
                    f"The endpoint failed {self._failed} times in a row and is left alone until {until:%H:%M:%S} UTC. "
                    f"The last error: {self._last}",
                    hint="Check that the server runs; it is tried again by itself.",
                )
            self._until = now + self._pause_s

    def _count(self, error: ModelUnavailableError) -> None:
        with self._lock:
            self._failed += 1
            self._last = error.message
            self._until = monotonic() + self._pause_s


def breaker_of(settings: EndpointSettings, model: str) -> Breaker:
    """The breaker of a model at an endpoint: the same one as long as something holds it."""
    return _breakers.setdefault((settings.base_url or "", model), Breaker(settings.failures, settings.pause_s))
