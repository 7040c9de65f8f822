"""Around every request: security headers, an id, a log line and numbers, a deadline, and a limit on the body."""

from __future__ import annotations

import asyncio
from time import perf_counter
from uuid import uuid4

import structlog
from fastapi import HTTPException
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discorag.config import ApiSettings
from interfaces.http.meters import Meters
from interfaces.http.problems import RefusedError, declared, response_of

GRACE_S = 5.0
"""A request that its endpoint did not end at the deadline is ended so many seconds later."""
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"))
_log = structlog.get_logger("disco_rag.api")


SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""Of every answer that does not set its own. Trees as SVG are opened with their style, and nothing in them runs."""
DOCS_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'"
)
"""Content security policy of /docs: FastAPI starts Swagger UI by a script inside its page."""


class Secured:
    """Adds `SECURITY_HEADERS` to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if scope["path"].startswith("/docs"):
                    headers["Content-Security-Policy"] = DOCS_POLICY
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, sent)


class Watched:
    """Gives every request an id, counts it, and writes a line when it is done; never a body or a key.

    An error that nobody has handled ends here, so that the response and the log have the id.
    """

    def __init__(self, app: ASGIApp, meters: Meters) -> None:
        self._app = app
        self._meters = meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        start, status, request_id = perf_counter(), 0, uuid4().hex

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        self._meters.under_way.inc()
        try:
            with structlog.contextvars.bound_contextvars(request_id=request_id):
                try:
                    await self._app(scope, receive, sent)
                except Exception as error:
                    if status:
                        raise
                    await response_of(error)(scope, receive, sent)
        finally:
            self._meters.under_way.dec()
            self._tell(scope, status, perf_counter() - start, request_id)
        return None

    def _tell(self, scope: Scope, status: int, seconds: float, request_id: str) -> None:
        route, method, state = _route(scope), scope["method"], scope.get("state", {})
        self._meters.requests.labels(route, method if method in _METHODS else "other", str(status)).inc()
        self._meters.request_seconds.labels(route).observe(seconds)
        who, query = state.get("who"), state.get("query")
        key = {"key": who.name, "tenant": who.tenant} if who else {}
        asked = {"query": query} if query else {}
        _log.info(
            "request",
            request_id=request_id,
            method=method,
            route=route,
            status=status,
            seconds=round(seconds, 4),
            **key,
            **asked,
        )


class Limited:
    """Ends a request that reads or works too long, and one whose body is too large."""

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

        if declared(scope) > limit:
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
        return self._settings.upload_bytes if path in self._uploads else self._settings.body_bytes


def _too_large(limit: int) -> str:
    return f"The body has more than {limit} bytes."


def _route(scope: Scope) -> str:
    """The template of the path, so that ids make no series of their own; ``other`` for paths that do not exist."""
    route = scope.get("route")
    return str(route.path) if route is not None else "other"
