"""What surrounds a request: errors as JSON that OpenAI clients read too; headers, an id, a log line, limits."""

import asyncio
import re
from collections.abc import Mapping
from http import HTTPStatus
from time import perf_counter
from typing import Any, Self
from uuid import uuid4

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discorag.config import ApiSettings
from discorag.schema.errors import (
    ContextTooLongError,
    DiscoRagError,
    EmptyCorpusError,
    ModelError,
    ModelUnavailableError,
    NotFoundError,
    RateLimitedError,
    StoreError,
    StoreFullError,
    UnknownFormatError,
)
from interfaces.http.counters import FAILURES

_STATUS: tuple[tuple[type[DiscoRagError], int], ...] = (
    (NotFoundError, 404),
    (EmptyCorpusError, 404),
    (UnknownFormatError, 415),
    (StoreFullError, 507),
    (StoreError, 503),
    (ContextTooLongError, 422),
    (ModelUnavailableError, 503),
    (RateLimitedError, 503),
    (ModelError, 502),
)
ACCESS_LOGGER = "disco_rag.access"
"""The logger of requests that do not fail."""
_log, _access = structlog.get_logger("disco_rag.api"), structlog.get_logger(ACCESS_LOGGER)
_GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{1,100}")
_RETRY_S = "5"
"""``Retry-After`` if nothing better is known, in seconds."""


class ErrorBody(BaseModel):
    """An error: ``type`` is its name, ``hint`` says what to do."""

    type: str
    message: str
    hint: str = ""


class Problem(BaseModel):
    """An error."""

    error: ErrorBody

    @classmethod
    def of(cls, kind: str, message: str, hint: str) -> Self:
        """The error of this kind."""
        return cls(error=ErrorBody(type=kind, message=message, hint=hint))


class RefusedError(DiscoRagError):
    """A request is refused before any work: no key, no role, too much at once."""

    def __init__(
        self, status: int, kind: str, message: str, *, hint: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status, self._kind, self.headers = status, kind, headers

    @property
    def kind(self) -> str:
        """Its name, for clients."""
        return self._kind


def problem_of(error: Exception) -> tuple[int, Problem]:
    """Status and body of an error that ends a request, counted; unexpected ones are described in the log only."""
    status, problem = _described(error)
    FAILURES.labels(problem.error.type).inc()
    return status, problem


def _described(error: Exception) -> tuple[int, Problem]:
    match error:
        case DiscoRagError():
            known = (status for kind, status in _STATUS if isinstance(error, kind))
            status = error.status if isinstance(error, RefusedError) else next(known, 422)
            return status, Problem.of(error.kind, error.message, error.hint)
        case TimeoutError():
            hint = "Ask for less (fewer documents, local engines), or raise DISCO_RAG_API__DEADLINE_S."
            return 504, Problem.of("DeadlineError", "The request could not be answered in time.", hint)
        case RequestValidationError():  # the first wrong fields; their values are not repeated, they may be secret
            found = (f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in error.errors()[:5])
            return 422, Problem.of("InvalidRequestError", "; ".join(found)[:2000], "See /docs.")
        case HTTPException():
            return error.status_code, Problem.of("HttpError", str(error.detail), "See /docs.")
        case _:
            _log.error("failed", exc_info=error)
            hint = "The server's log describes it under the request id in the response's headers."
            return 500, Problem.of("InternalError", "Something went wrong.", hint)


def response_of(error: Exception) -> JSONResponse:
    """The response to an error."""
    status, problem = problem_of(error)
    own = error.headers if isinstance(error, RefusedError | HTTPException) else None
    headers = {"Retry-After": _RETRY_S} if status == 503 else {}
    return JSONResponse(problem.model_dump(), status, headers | dict(own or {}))


def handle_errors(app: FastAPI) -> None:
    """Answer every expected error with a `Problem`; `RequestObserver` answers the unexpected ones."""

    async def answer(_: Request, error: Exception) -> JSONResponse:
        return response_of(error)

    for kind in (DiscoRagError, TimeoutError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, answer)


def content_length(scope: Scope) -> int:
    """The size of the body that the client announces, in bytes; 0 if it does not."""
    value = dict(scope["headers"]).get(b"content-length", b"0")
    return int(value) if value.isdigit() else 0


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The responses of these statuses, for OpenAPI."""
    return {status: {"model": Problem, "description": HTTPStatus(status).phrase} for status in statuses}


COMMON = error_responses(400, 401, 403, 413, 422, 429, 503, 504)
"""Errors of every request with a key."""


GRACE_S = 5.0
"""Seconds after the deadline at which a request is ended if its endpoint has not ended it."""
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""The headers of responses that do not set their own. SVG trees are shown with their style; no script in them runs."""
DOCS_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'"
)
"""Content security policy of /docs: FastAPI starts Swagger UI by an inline script."""


class RequestObserver:
    """Gives every request an id, and logs it at its end, without body and key; adds `SECURITY_HEADERS`.

    An unexpected error becomes a response here, so that both the response and the log have the id.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        start, status, request_id = perf_counter(), 0, uuid4().hex

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status, headers = message["status"], MutableHeaders(scope=message)
                headers["X-Request-ID"] = request_id
                own = {"Content-Security-Policy": DOCS_POLICY} if scope["path"].startswith("/docs") else {}
                for name, value in (SECURITY_HEADERS | own).items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            with structlog.contextvars.bound_contextvars(request_id=request_id):
                try:
                    await self._app(scope, receive, sent)
                except Exception as error:
                    if status:
                        raise
                    await response_of(error)(scope, receive, sent)
        finally:
            _log_request(scope, status, perf_counter() - start, request_id)
        return None


def _given_id(scope: Scope) -> str:
    """The id that the proxy, or any client, has given the request; empty if there is none fit for a log."""
    given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
    return given if _GIVEN_ID.fullmatch(given) else ""


def _log_request(scope: Scope, status: int, seconds: float, request_id: str) -> None:
    """Log a request by the template of its path: a path may hold what no log may."""
    route, who = scope.get("route"), scope.get("state", {}).get("who")
    client = scope.get("client")
    line = {
        "request_id": request_id,
        "client": client[0] if client else "",
        "method": scope["method"],
        "route": route.path if route else "other",
    }
    line |= {"proxy_id": given} if (given := _given_id(scope)) else {}
    line |= {"key": who.name, "tenant": who.tenant} if who else {}
    line |= {"status": status, "seconds": round(seconds, 4)}
    if status >= 500:
        _log.warning("request", **line)
    else:
        _access.info("request", **line)


class RequestLimits:
    """Ends a request that takes too long, and one whose body is too large."""

    def __init__(self, app: ASGIApp, settings: ApiSettings, *, uploads: frozenset[str]) -> None:
        self._app = app
        self._settings = settings
        self._uploads = uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        started, limit, read = False, self._limit(scope["path"]), 0

        async def received() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > limit:
                raise HTTPException(413, _too_large(limit))
            return message

        async def sent(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        if content_length(scope) > limit:
            refused = RefusedError(413, "TooLargeError", _too_large(limit), hint="Send less at once.")
            return await response_of(refused)(scope, receive, send)
        try:
            async with asyncio.timeout(self._settings.deadline_s + GRACE_S):
                await self._app(scope, received, sent)
        except TimeoutError as error:
            if started:
                raise
            await response_of(error)(scope, receive, send)
        return None

    def _limit(self, path: str) -> int:
        return int(1e6 * self._settings.upload_mb if path in self._uploads else 1e3 * self._settings.body_kb)


def _too_large(limit: int) -> str:
    return f"The body has more than {limit} bytes."
