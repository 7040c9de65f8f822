"""``disco-rag mcp --http``: the HTTP API with MCP at ``/mcp``; keys, roles, quotas and the audit log are the API's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import BytesIO
from time import monotonic
from typing import Annotated, Any

from fastapi import FastAPI, Request
from mcp.server.mcpserver import Context
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import CallToolResult
from pydantic import Field
from starlette.routing import Route
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from discorag.config import Settings, read_settings
from discorag.schema.document import Scope
from discorag.schema.errors import DiscoRagError
from discorag.text.escaping import one_line
from interfaces.facade import AskResult, DiscoRAG
from interfaces.http import audit
from interfaces.http.app import create_app
from interfaces.http.ingest import accept
from interfaces.http.jobs import Job
from interfaces.http.keys import Principal, Role
from interfaces.http.problems import RefusedError, problem_of
from interfaces.http.service import Guard, Service
from interfaces.mcp.host import Corpus, Visit
from interfaces.mcp.server import Server
from interfaces.mcp.shapes import Ingested, Outcome
from interfaces.mcp.shown import ingested

PATH = "/mcp"
POLL_S = 0.1
"""How often a job is looked at, in seconds."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def create_mcp_app(
    settings: Settings | None = None, *, rag: DiscoRAG | None = None, hosts: Sequence[str] = (), writable: bool = True
) -> FastAPI:
    """The HTTP API, and MCP beside it.

    Args:
        settings: See `interfaces.http.app.create_app`.
        rag: The same.
        hosts: Names under which the server is reached, besides those of this machine and the address it listens on;
            requests for others are refused.
        writable: Whether MCP has the tool ``ingest``.

    Raises:
        ConfigError: As `interfaces.http.app.create_app`.
    """
    settings = rag.backends.settings if rag else settings or read_settings()
    app, server = create_app(settings, rag=rag), Server(KeyHolders(), writable=writable)
    server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,  # no session that somebody else's key could go on with
        transport_security=_known((*LOOPBACK, settings.api.host, *hosts)),
        max_request_body_size=settings.api.body_bytes,
    )
    app.router.routes.append(_Keyed(PATH, StreamableHTTPASGIApp(server.session_manager), methods=["POST"]))
    served = app.router.lifespan_context

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncGenerator[Any]:
        async with served(app) as state, server.session_manager.run():
            yield state

    app.router.lifespan_context = life
    return app


def _known(hosts: Sequence[str]) -> TransportSecuritySettings:
    """No page of another site gets through, not even one whose name was rebound to this machine."""
    names = [name for host in hosts for name in (host, f"{host}:*")]
    origins = [f"{scheme}://{name}" for name in names for scheme in ("http", "https")]
    return TransportSecuritySettings(allowed_hosts=names, allowed_origins=origins)


class _Keyed(Route):
    """A route that asks for the key before any of the body is read."""

    async def handle(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """ASGI."""
        scope["route"] = self  # for log and meters: FastAPI tells them of its own kind only
        request = Request(scope)
        await request.app.state.service.admit(request, Guard(Role.READ))
        await super().handle(scope, receive, send)


@dataclass(frozen=True)
class KeyVisit:
    """One request of the owner of a key."""

    request: Request
    service: Service
    who: Principal

    @property
    def rag(self) -> DiscoRAG:
        """The server's."""
        return self.service.rag

    @property
    def tenant(self) -> str:
        """The key's."""
        return self.who.tenant

    @asynccontextmanager
    async def asking(self, question: str) -> AsyncGenerator[None]:
        """Raises `RefusedError` (429, 503) and ``TimeoutError`` as the API does."""
        await self.service.access.count_question(self.who)
        self.service.note(self.request, question)
        async with self.service.question():
            yield

    async def answered(self, scope: Scope, result: AskResult) -> None:
        """See `interfaces.mcp.host.Visit`."""
        self.service.meters.observe(result.ledger)
        await self.service.tell_read(self.who, scope.corpus, result)

    def tell(self, what: str, scope: Scope, documents: Sequence[str]) -> None:
        """See `interfaces.mcp.host.Visit`."""
        audit.tell(what, self.who, corpus=scope.corpus, documents=documents)


class KeyHolders:
    """The owners of keys; without keys, whoever is on this machine."""

    async def visit(self, request: Any) -> Visit:
        """See `interfaces.mcp.host.Host`."""
        return _visit(request)

    def may_write(self, request: Any) -> bool:
        """Whether the key has the role."""
        return Role.WRITE in _visit(request).who.roles

    def said(self, error: BaseException | None) -> str | None:
        """What the API would answer."""
        if not isinstance(error, RefusedError | DiscoRagError | TimeoutError):
            return None
        _, problem = problem_of(error)
        return one_line(f"{problem.error.type}: {problem.error.message} {problem.error.hint}", 2000)

    async def ingest(
        self,
        ctx: Context,
        name: Annotated[str, Field(max_length=200, description="Name of the document's file, such as notes.md.")],
        text: Annotated[str, Field(min_length=1, description="All of its text: plain, Markdown or HTML by its name.")],
        corpus: Corpus = None,
    ) -> Annotated[CallToolResult, Ingested]:
        """Store a document, so that questions find it. One of the same name is replaced.

        It is kept when this returns; a status of null says that it is still being read.
        """
        visit, content = _visit(ctx.request_context.request), text.encode()
        service, who = visit.service, visit.who
        try:
            service.check_role(who, Role.WRITE)
        except RefusedError:
            audit.tell("refused", who)
            raise
        job = await accept(who, corpus, {name: BytesIO(content)}, {name: len(content)}, service)
        await ctx.report_progress(0, len(job.files))
        job = await _ended(job, service)
        await ctx.report_progress(sum(f.status is not None for f in job.files), len(job.files))
        return ingested(_outcomes(job, service))


async def _ended(job: Job, service: Service) -> Job:
    """The job when it has ended, or as it is when the request must."""
    end = service.deadline()
    while job.ended is None and monotonic() < end and not service.stopped:
        await asyncio.sleep(POLL_S)
        job = await service.jobs.of(job.tenant, job.id)
    return job


def _outcomes(job: Job, service: Service) -> list[Outcome]:
    ids = service.ids_of(job)
    return [
        Outcome(doc_id=i, name=f.name, status=f.status and str(f.status), chunks=f.chunks, note=f.note)
        for i, f in zip(ids, job.files, strict=True)
    ]


def _visit(request: Any) -> KeyVisit:
    return KeyVisit(request, request.app.state.service, request.state.who)
