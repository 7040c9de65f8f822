"""A circuit breaker: an endpoint that keeps failing is not called for a while; then one call tests it."""

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
    """The circuit breaker of one endpoint, shared by all calls of this process.

    A call counts as failed if it reached no server, timed out, or met 5xx at every attempt. A server that refuses a
    request, or returns nonsense, is up.

    Args:
        failures: Failures in a row after which the breaker opens.
        pause_s: Seconds for which all calls fail at once; after that, one call every ``pause_s`` seconds is sent.
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
        """Whether calls fail without being sent."""
        return self._failed >= self._limit

    @contextmanager
    def guard(self) -> Generator[None]:
        """Wrap one call and count its outcome; a cancelled call does not count.

        Raises:
            ModelUnavailableError: The breaker is open.
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
