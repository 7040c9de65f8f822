"""A server of models: one client for each event loop, and failures as typed errors.

Retries are the openai client's: on timeout, connection error, 408, 409, 429 and 5xx, waiting as ``Retry-After`` says or
twice as long each time.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx
import openai
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from discorag.config import EndpointSettings
from discorag.models.deadline import expired_limit
from discorag.models.loops import PerLoop
from discorag.schema.errors import (
    ConfigError,
    ContextTooLongError,
    DiscoRagError,
    ModelError,
    ModelRejectedError,
    ModelUnavailableError,
    RateLimitedError,
)

T = TypeVar("T")

_QUOTE_LIMIT = 500
_TIMEOUTS = (TimeoutError, openai.APITimeoutError, httpx.TimeoutException)
_UNREACHABLE = (ConnectionError, openai.APIConnectionError, httpx.TransportError)
_TOO_LONG = re.compile(
    r"context.{0,3}(length|window|size)|(prompt|input)\b.{0,40}\btoo (long|large)|maximum (model|context|input) length"
    r"|exceed_context|must have less than \d+ tokens",
    re.IGNORECASE,
)


class Endpoint:
    """A model server, called through the openai client, which can post to any path.

    Args:
        settings: Its address, key and limits.
        variables: Prefix of the environment variables that configure it, for hints: ``DISCO_RAG_ENCODER``.

    Raises:
        ConfigError: The settings have no address.
    """

    def __init__(self, settings: EndpointSettings, variables: str) -> None:
        if settings.base_url is None:
            raise ConfigError("No endpoint is named.", hint=f"Set {variables}__BASE_URL.")
        self._variables = variables
        self._clients = PerLoop(
            lambda: AsyncOpenAI(
                base_url=settings.base_url,
                api_key=key_of(settings),
                timeout=settings.timeout_s,
                max_retries=settings.retries,
                http_client=DefaultAsyncHttpxClient(timeout=settings.timeout_s),
            )
        )

    async def call(self, ask: Callable[[AsyncOpenAI], Awaitable[T]]) -> T:
        """What ``ask`` returns.

        Raises:
            ModelError: The server timed out, answered 429 or 5xx to the end, or refused the request.
        """
        client = await self._clients.get()
        with typed_errors(self._variables):
            return await ask(client)


def key_of(settings: EndpointSettings) -> str:
    """The key, or a placeholder: without one the openai client would send OPENAI_API_KEY."""
    return settings.api_key.get_secret_value() if settings.api_key else "none"


@contextmanager
def typed_errors(variables: str) -> Generator[None]:
    """Turn the errors of a client, and of reading its reply, into a `ModelError`; ``variables`` as for `Endpoint`."""
    try:
        yield
    except DiscoRagError:
        raise
    except Exception as error:
        raise _model_error(error, variables) from error


def has_timed_out(error: ModelError) -> bool:
    """Whether a call failed because nothing, or nothing more, arrived in time."""
    cause = error.__cause__
    return isinstance(cause, _TIMEOUTS) or isinstance(cause and cause.__cause__, _TIMEOUTS)


def bounded_replies(most_mb: float) -> dict[str, Any]:
    """Options of an asynchronous client of httpx or httpx2: a reply is not read beyond this many MB.

    Reading more raises `ModelRejectedError`, and so does a compressed reply: its size is not known before it is read.
    """

    async def bound(response: Any) -> None:
        if (encoding := response.headers.get("Content-Encoding", "identity")) != "identity":
            message = f"The endpoint's reply is compressed ({encoding}), which it was asked not to be; it was not read."
            raise ModelRejectedError(message, hint="Turn compression off in the server, or in the proxy before it.")
        kind = type(response.stream).__mro__[1]  # each client accepts its own AsyncByteStream only
        response.stream = type("BoundedStream", (_Bounded, kind), {})(response.stream, most_mb)

    return {"headers": {"Accept-Encoding": "identity"}, "event_hooks": {"response": [bound]}}


class _Bounded:
    """A stream that ends with an error after this many MB."""

    def __init__(self, stream: Any, most_mb: float) -> None:
        self._stream, self._most_mb = stream, most_mb

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for part in self._stream:
            read += len(part)
            if read > 1e6 * self._most_mb:
                message = f"The endpoint's reply has more than {self._most_mb:g} MB; it was not read to the end."
                raise ModelRejectedError(message, hint="Check the model, or raise DISCO_RAG_LLM__REPLY_MB.")
            yield part

    async def aclose(self) -> None:
        """Close it."""
        await self._stream.aclose()


def _model_error(error: Exception, variables: str) -> ModelError:
    if isinstance(error.__cause__, ModelError):  # raised while a client read the reply
        return error.__cause__
    said = str(getattr(error, "message", error))[:_QUOTE_LIMIT]
    status: int = getattr(error, "status_code", 0)
    address = "DISCO_RAG_MODEL (or --llm)" if variables == "DISCO_RAG_LLM" else f"{variables}__BASE_URL"
    causes = (error, error.__cause__)  # clients of other providers wrap what httpx raises in errors of their own
    if any(isinstance(cause, _TIMEOUTS) for cause in causes):
        hint = f"Raise {expired_limit() or f'{variables}__TIMEOUT_S'} or check the server's load."
        return ModelUnavailableError("The endpoint did not answer in time.", hint=hint)
    if any(isinstance(cause, _UNREACHABLE) for cause in causes) or status >= 500 or status == 408:
        hint = f"Check that the server at {address} runs."
        return ModelUnavailableError(f"The endpoint is unavailable ({status or 'no answer'}): {said}", hint=hint)
    if status == 429:
        return RateLimitedError(f"The endpoint answered 429 to the end: {said}", hint="Try later or send fewer.")
    if status == 413 or _TOO_LONG.search(said):
        return ContextTooLongError(f"The endpoint says the input is too long: {said}", hint="Send less text.")
    if status > 0:
        hint = _hint(status, variables, address)
        return ModelRejectedError(f"The endpoint refused the request ({status}): {said}", hint=hint)
    if isinstance(error, openai.APIError) or status < 0:
        return ModelUnavailableError(f"The endpoint broke off: {said}", hint="See the server's log.")
    hint = f"Check the model's settings, and the address in {address}: it usually ends in /v1."
    return ModelRejectedError(f"The call failed ({type(error).__name__}: {said}).", hint=hint)


def _hint(status: int, variables: str, address: str) -> str:
    if status in (401, 403):
        return f"Check {variables}__API_KEY."
    if status == 404:
        model = address if variables == "DISCO_RAG_LLM" else f"{variables}__MODEL and {address}"
        return f"Check the model's name and the address in {model} (it usually ends in /v1)."
    return f"Check that the server at {address} supports what was asked for."
