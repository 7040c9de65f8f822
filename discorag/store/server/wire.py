"""Calls to a Qdrant server: which failures are tried again, and what they become at last."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import httpx
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from discorag.types.errors import StoreError

P = ParamSpec("P")
T = TypeVar("T")

ATTEMPTS = 4
MAX_WAIT_S = 30.0
"""No single wait is longer than this, whatever Retry-After says."""
CONFLICT = 409

# The last two because the answer is not what the protocol says: no JSON, or no result in it.
_FAILURES = (ApiException, QdrantException, TimeoutError, ValueError, AssertionError)
_TRANSIENT = (429, 502, 503, 504)
_QUOTE_LIMIT = 300


class Wire:
    """The way to one server. Only for calls that may be repeated.

    Args:
        url: The server, as the user named it.

    Example:
        >>> from discorag.store.server.wire import Wire
        >>> Wire("http://localhost:6333")(divmod, 7, 2)
        (3, 1)
    """

    def __init__(self, url: str) -> None:
        self._url = url

    def __call__(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call, up to `ATTEMPTS` times while the failure is transient.

        Raises:
            StoreError: It failed to the end.
        """
        retrying = Retrying(
            stop=stop_after_attempt(ATTEMPTS), wait=_wait_s, retry=retry_if_exception(is_transient), reraise=True
        )
        try:
            return retrying(call, *args, **kwargs)
        except _FAILURES as error:
            raise self._as_store_error(error) from error

    def _as_store_error(self, error: Exception) -> StoreError:
        status = status_of(error)
        server = f"The Qdrant server at {self._url}"
        if status is not None:
            return StoreError(f"{server} answered {status}: {_said(error)}", hint=_hint(status))
        source = _source(error)
        if isinstance(source, TimeoutError | httpx.TimeoutException):
            return StoreError(f"{server} did not answer in time.", hint=_SLOW)
        if isinstance(source, httpx.TransportError):
            return StoreError(f"{server} cannot be reached: {source}.", hint="Check that it runs. " + _CHECK_URL)
        return StoreError(f"{server} does not speak Qdrant's protocol: {_said(source)}", hint=_CHECK_URL)


_CHECK_URL = "Check DISCO_RAG_STORE__URL."
_SLOW = "Check DISCO_RAG_STORE__URL and the server's load, or raise DISCO_RAG_STORE__TIMEOUT_S."


def is_transient(error: BaseException) -> bool:
    """Whether a later attempt may succeed: no or no whole answer, or 429, 502, 503, 504."""
    return status_of(error) in _TRANSIENT or isinstance(_source(error), TimeoutError | httpx.TransportError)


def status_of(error: BaseException | None) -> int | None:
    """The HTTP status that the server answered, None where it did not."""
    if isinstance(error, ResourceExhaustedResponse):
        return 429
    return error.status_code if isinstance(error, UnexpectedResponse) else None


def _source(error: BaseException) -> BaseException:
    return error.source if isinstance(error, ResponseHandlingException) else error


def _wait_s(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, ResourceExhaustedResponse):
        return min(max(error.retry_after_s, 0.0), MAX_WAIT_S)
    return wait_exponential_jitter(initial=0.1, max=MAX_WAIT_S, jitter=0.1)(state)


def _said(error: BaseException) -> str:
    content = error.content.decode("utf-8", "replace") if isinstance(error, UnexpectedResponse) else str(error)
    return " ".join(content.split())[:_QUOTE_LIMIT]


def _hint(status: int) -> str:
    if status in (401, 403):
        return "Check DISCO_RAG_STORE__API_KEY."
    if status == 404:
        return f"{_CHECK_URL} If a collection was removed, start again, which makes it anew, and ingest again."
    if status == 429 or status >= 500:
        return "Try later; see the server's log."
    return "Check DISCO_RAG_STORE__PREFIX, and that the server is as new as the client."
