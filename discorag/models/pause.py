"""A model server that fails is not asked for a while, so that questions do not wait for it one after another."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import monotonic

from discorag.models.deadline import is_cut_short
from discorag.models.endpoint import has_timed_out
from discorag.schema.errors import ModelUnavailableError, RateLimitedError


class Pause:
    """Counts the calls that fail in a row; after ``failures`` of them, or one that timed out, the server is paused.

    A call that the run's own deadline cuts short (`is_cut_short`) is not counted.
    A paused server gets a test call every ``seconds``; the pause ends when it answers one.

    Args:
        failures: How many calls.
        seconds: How long.
        clock: Tells the time in seconds.
    """

    def __init__(self, failures: int, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._most, self._seconds, self._clock = failures, seconds, clock
        self._failed, self._next_test, self._heard = 0, 0.0, 0.0

    @property
    def is_on(self) -> bool:
        """Whether the server is paused."""
        return self._failed >= self._most

    def check(self) -> None:
        """Raise `ModelUnavailableError` if the server is paused."""
        if self.is_on:
            message = "The language model's server failed before, and is not asked until it answers a test call."
            hint = f"Check the server; it is tested every {self._seconds:g} s (DISCO_RAG_LLM__PAUSE_S)."
            raise ModelUnavailableError(message, hint=hint)

    def takes_test(self) -> bool:
        """Whether a test call is due; the caller that gets true makes it."""
        if not self.is_on or self._clock() < self._next_test:
            return False
        self._next_test = self._clock() + self._seconds
        return True

    def end(self) -> None:
        """The server has answered."""
        self._failed = 0

    def heard(self) -> None:
        """The server has sent a piece of a reply: only now does the wait for the next one begin."""
        self._heard = self._clock()

    @contextmanager
    def counted(self) -> Generator[None]:
        """Count what the call in this block fails with, if that says that the server cannot be used."""
        began = self._clock()
        try:
            yield
        except (ModelUnavailableError, RateLimitedError) as error:
            timed_out = has_timed_out(error)
            if timed_out and is_cut_short(self._clock() - max(began, self._heard)):
                raise
            self._failed += self._most if timed_out else 1
            if self.is_on:
                self._next_test = self._clock() + self._seconds
            raise
