"""MCP at ``/mcp``, next to the HTTP API; keys, roles, rates and the audit log are the API's."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import Route
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from discorag.config import ApiSettings
from discorag.schema.document import Scope
from interfaces.http.access import Principal, Role, log_access
from interfaces.http.service import Guard, Service
from interfaces.mcp.server import Caller, Server
from interfaces.results import AskResult

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def add_mcp(app: FastAPI, settings: ApiSettings) -> None:
    """Serve MCP in this app; requests for another host than `ApiSettings.hosts` and this machine are refused."""
    server = KeyedServer()
    server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,  # no session that another key could resume
        transport_security=_security((*LOOPBACK, settings.url_host, *settings.hosts)),
        max_request_body_size=int(1e3 * settings.body_kb),
    )
    app.router.routes.append(_Keyed(PATH, StreamableHTTPASGIApp(server.session_manager), methods=["POST"]))
    served = app.router.lifespan_context

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncGenerator[Any]:
        async with served(app) as state, server.session_manager.run():
            yield state

    app.router.lifespan_context = life


def _security(hosts: Sequence[str]) -> TransportSecuritySettings:
    """Refuse pages of other sites, even one whose name was rebound to this machine."""
    names = [name for host in hosts for name in (host, f"{host}:*")]
    origins = [f"{scheme}://{name}" for name in names for scheme in ("http", "https")]
    return TransportSecuritySettings(allowed_hosts=names, allowed_origins=origins)


class _Keyed(Route):
    """A route that asks for the key before any of the body is read."""

    async def handle(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """ASGI."""
        scope["route"] = self  # for the log: FastAPI sets it for routes of its own only
        request = Request(scope)
        await request.app.state.service.admit(request, Guard(Role.READ))
        await super().handle(scope, receive, send)


class KeyOwner(Caller):
    """The owner of a key, or a user of this machine where there are no keys; the API's service counts and records."""

    def __init__(self, request: Request) -> None:
        self.who: Principal = request.state.who
        self.service: Service = request.app.state.service
        super().__init__(self.service.rag, self.who.tenant)

    @asynccontextmanager
    async def question(self, *, counted: bool = True) -> AsyncGenerator[None]:
        """Raises `RefusedError` (429, 503) and ``TimeoutError`` as the API does."""
        async with self.service.question(self.who, counted=counted):
            yield

    async def record_answer(self, scope: Scope, result: AskResult) -> None:
        """Write an answer into the audit log."""
        await self.service.record_answer(self.who, scope.corpus, result)

    def record(self, event: str, scope: Scope, documents: Sequence[str]) -> None:
        """Write an access into the audit log."""
        log_access(event, self.who, corpus=scope.corpus, documents=documents)


class KeyedServer(Server):
    """Serves the owners of keys."""

    async def caller(self, request: Any) -> KeyOwner:
        """The owner of the request's key."""
        return KeyOwner(request)
