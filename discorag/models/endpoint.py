"""Endpoints: a client, which failures are retried, how long to wait, and what they become at last."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import openai
from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from pydantic import SecretStr
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from discorag.models.deadline import expired_limit, seconds_left
from discorag.schema.errors import (
    ContextTooLongError,
    ModelError,
    ModelRejectedError,
    ModelUnavailableError,
    RateLimitedError,
)

# What a call of the openai client raises because of the endpoint or the way to it; the last four because the answer
# is not what the protocol says (a page of HTML, say).
ENDPOINT_ERRORS: tuple[type[Exception], ...] = (
    openai.APIError,
    TimeoutError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
)
# No single wait is longer than this, whatever Retry-After says.
MAX_WAIT_S = 60.0

_QUOTE_LIMIT = 500
_TOO_LONG = re.compile(
    r"context.{0,3}(length|window|size)|(prompt|input)\b.{0,40}\btoo (long|large)|maximum (model|context|input) length"
    r"|exceed_context|must have less than \d+ tokens",
    re.IGNORECASE,
)


def is_transient(error: BaseException) -> bool:
    """Whether a later attempt may succeed: timeout, connection error, 429 (and 408), 5xx."""
    if isinstance(error, openai.APIStatusError):
        return error.status_code in (408, 429) or error.status_code >= 500
    return isinstance(error, (TimeoutError, openai.APIConnectionError))


def retry_after_s(error: BaseException | None) -> float | None:
    """Seconds that the endpoint asked to wait (``Retry-After`` in seconds or as a date), at most `MAX_WAIT_S`."""
    header = error.response.headers.get("retry-after") if isinstance(error, openai.APIStatusError) else None
    if header is None:
        return None
    try:
        seconds = float(header) if re.fullmatch(r"[\d.]+", header) else _seconds_until(header)
    except ValueError:
        return None
    return min(max(seconds, 0.0), MAX_WAIT_S)


def _seconds_until(date: str) -> float:
    moment = parsedate_to_datetime(date)
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()


@dataclass(frozen=True)
class Backoff:
    """How often and how patiently to try again.

    Args:
        retries: Further attempts after the first.
        base_wait_s: First wait in seconds; it doubles each time, plus up to as much again at random.

    Example:
        >>> from discorag.models.endpoint import Backoff
        >>> outcomes = [None, "done"]
        >>> async def flaky():
        ...     return outcomes.pop(0).upper()
        >>> asyncio.run(Backoff(base_wait_s=0.001).attempts(lambda error: isinstance(error, AttributeError))(flaky))
        'DONE'
    """

    retries: int = 3
    base_wait_s: float = 0.5

    def attempts(self, retry_if: Callable[[BaseException], bool] = is_transient) -> AsyncRetrying:
        """The tenacity loop; after the last attempt, or at the run's deadline, the endpoint's own error is raised."""
        return AsyncRetrying(
            stop=stop_after_attempt(self.retries + 1),
            wait=self._wait_s,
            retry=retry_if_exception(lambda error: retry_if(error) and seconds_left() != 0),
            reraise=True,
        )

    def _wait_s(self, state: RetryCallState) -> float:
        wait, left = retry_after_s(state.outcome.exception() if state.outcome else None), seconds_left()
        if wait is None:
            wait = wait_exponential_jitter(initial=self.base_wait_s, max=MAX_WAIT_S, jitter=self.base_wait_s)(state)
        return wait if left is None else min(wait, left)


def says_too_long(message: str) -> bool:
    """Whether a server's message is about an input that exceeds the model's context."""
    return _TOO_LONG.search(message) is not None


def as_model_error(error: Exception, *, variables: str) -> ModelError:
    """The typed error for a failure that is final.

    Args:
        error: One of `ENDPOINT_ERRORS`.
        variables: Prefix of the environment variables that configure this endpoint, e.g. ``DISCO_RAG_LLM``.
    """
    said = (error.message if isinstance(error, openai.APIError) else str(error))[:_QUOTE_LIMIT]
    status = error.status_code if isinstance(error, openai.APIStatusError) else None
    if not isinstance(error, openai.APIError | TimeoutError):
        hint = f"Check {variables}__BASE_URL (it usually ends in /v1)."
        return ModelRejectedError(f"The endpoint does not speak the OpenAI protocol: {said}", hint=hint)
    if status == 429:
        return RateLimitedError(f"The endpoint answered 429 to the end: {said}", hint="Try later or send fewer.")
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        setting = expired_limit() or f"{variables}__TIMEOUT_S"
        return ModelUnavailableError(
            "The endpoint did not answer in time.", hint=f"Raise {setting} or check the server's load."
        )
    if is_transient(error):
        hint = f"Check that the server at {variables}__BASE_URL runs."
        return ModelUnavailableError(f"The endpoint is unavailable ({status or 'no answer'}): {said}", hint=hint)
    if status == 413 or says_too_long(said):
        return ContextTooLongError(f"The endpoint says the input is too long: {said}", hint="Send less text.")
    if status is None:
        return ModelUnavailableError(f"The endpoint broke off: {said}", hint="See the server's log.")
    return ModelRejectedError(f"The endpoint refused the request ({status}): {said}", hint=_hint(status, variables))


def _hint(status: int, variables: str) -> str:
    if status in (401, 403):
        return f"Check {variables}__API_KEY."
    if status == 404:
        return f"Check {variables}__MODEL and {variables}__BASE_URL (it usually ends in /v1)."
    return f"Check that the server at {variables}__BASE_URL supports what was asked for."


def client_of(base_url: str | None, api_key: SecretStr | None, timeout_s: float) -> AsyncOpenAI:
    """A client for one event loop; whoever asks does the retries.

    The openai client posts to any path, and its failures are those that `Backoff` knows. Without a key of its own it
    would send OPENAI_API_KEY to somebody else's server.
    """
    key = api_key.get_secret_value() if api_key else "none"
    http = DefaultAsyncHttpxClient(timeout=timeout_s)
    return AsyncOpenAI(base_url=base_url, api_key=key, timeout=timeout_s, max_retries=0, http_client=http)
