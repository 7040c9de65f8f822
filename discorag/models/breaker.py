"""An endpoint that hangs or refuses is left alone: one call at a time tries it again, all others fail at once.

The library ``circuitbreaker`` lets every call through when the time is up, and takes a call that was given up for an
answer.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from time import monotonic
from weakref import WeakValueDictionary

from discorag.config import FAILURES, PAUSE_S
from discorag.models.deadline import seconds_left
from discorag.schema.errors import ModelError, ModelUnavailableError

_breakers: WeakValueDictionary[tuple[str, str], Breaker] = WeakValueDictionary()


class Call:
    """One call of an endpoint, with all its attempts.

    Example:
        >>> from discorag.models.breaker import Breaker
        >>> with Breaker().call() as call:
        ...     call.ask()
        >>> call.asked
        True
    """

    def __init__(self, breaker: Breaker) -> None:
        self._breaker = breaker
        self.asked = False

    def ask(self) -> None:
        """Before every attempt.

        Raises:
            ModelUnavailableError: The endpoint is left alone since the call began.
            TimeoutError: The run has no time left, which says nothing of the endpoint.
        """
        self._breaker.admit(self)
        if seconds_left() == 0:
            raise TimeoutError
        self.asked = True

    def answered(self) -> None:
        """The endpoint is well, as far as a first piece tells."""
        self._breaker.close()


class Breaker:
    """What is known of one endpoint; shared by all calls of this process.

    Only calls that found no server, timed out or met 5xx to the end count as failures: whoever refuses a request, or
    answers nonsense, is there.

    Args:
        failures: So many in a row, and the endpoint is left alone.
        pause_s: For so long; then one call tries it.

    Example:
        >>> from discorag.models.breaker import Breaker
        >>> from discorag.schema.errors import ModelUnavailableError
        >>> breaker = Breaker(failures=1)
        >>> with breaker.call() as call:
        ...     call.ask()
        ...     raise ModelUnavailableError("It did not answer in time.")
        Traceback (most recent call last):
        discorag.schema.errors.ModelUnavailableError: It did not answer in time.
        >>> breaker.is_open
        True
    """

    def __init__(self, failures: int = FAILURES, pause_s: float = PAUSE_S) -> None:
        self._limit = failures
        self._pause_s = pause_s
        self._failed = 0
        self._until = 0.0
        self._said = ""
        self._probe: Call | None = None
        self._lock = threading.Lock()

    @property
    def is_open(self) -> bool:
        """Whether the endpoint is left alone."""
        return self._failed >= self._limit

    @contextmanager
    def call(self) -> Generator[Call]:
        """Around one call; what it raises is counted. One that its caller gave up says nothing of the endpoint.

        Raises:
            ModelUnavailableError: The endpoint is left alone.
        """
        call = Call(self)
        self.admit(call)
        try:
            yield call
            self.close()
        except ModelUnavailableError as error:
            self._count(call, error)
            raise
        except ModelError:
            self.close()
            raise
        finally:
            if self._probe is call:
                self._probe = None

    def admit(self, call: Call) -> None:
        """Let ``call`` pass, as the one that tries again if it is time. Raises `ModelUnavailableError`."""
        with self._lock:
            if not self.is_open or self._probe is call:
                return
            if self._probe is None and monotonic() >= self._until:
                self._probe = call
                return
            raise self._refusal()

    def close(self) -> None:
        """The endpoint answered."""
        self._failed = 0

    def _count(self, call: Call, error: ModelUnavailableError) -> None:
        with self._lock:
            if not call.asked or (self.is_open and self._probe is not call):
                return  # it never got as far, or began before the endpoint was left alone
            self._failed += 1
            self._said = error.message
            self._until = monotonic() + self._pause_s

    def _refusal(self) -> ModelUnavailableError:
        left = timedelta(seconds=self._until - monotonic())
        until = f"{datetime.now(UTC) + left:%H:%M:%S} UTC" if left > timedelta() else "the call that tries it now ends"
        return ModelUnavailableError(
            f"The endpoint failed {self._failed} times in a row and is left alone until {until}. At last: {self._said}",
            hint="Check that the server runs; it is tried again by itself.",
        )


def breaker_of(base_url: str | None, model: str, failures: int = FAILURES, pause_s: float = PAUSE_S) -> Breaker:
    """The breaker of a model at an endpoint: the same for as long as somebody holds it."""
    return _breakers.setdefault((base_url or "", model), Breaker(failures, pause_s))
