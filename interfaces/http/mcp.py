"""MCP at ``/mcp``, next to the HTTP API; keys, roles, quotas and the audit log are the API's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from io import BytesIO
from time import monotonic
from typing import Annotated, Any

from fastapi import FastAPI, Request
from mcp.server.mcpserver import Context
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import Field
from starlette.routing import Route
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from discorag.config import ApiSettings
from discorag.schema.document import Scope
from discorag.schema.errors import DiscoRagError
from discorag.text.escaping import one_line
from interfaces.http.access import Principal, Role, log_access
from interfaces.http.documents import accept
from interfaces.http.jobs import Job
from interfaces.http.problems import RefusedError, problem_of
from interfaces.http.service import Guard, Service
from interfaces.mcp.results import IngestOutput, Outcome
from interfaces.mcp.server import Caller, Corpus, Server
from interfaces.results import AskResult

PATH = "/mcp"
POLL_S = 0.1
"""How often a job is looked at, in seconds."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def add_mcp(app: FastAPI, settings: ApiSettings) -> None:
    """Serve MCP in this app; requests for another host than `ApiSettings.hosts` and this machine are refused."""
    server = KeyedServer()
    server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,  # no session that another key could resume
        transport_security=_security((*LOOPBACK, settings.url_host, *settings.hosts)),
        max_request_body_size=settings.body_bytes,
    )
    app.router.routes.append(_Keyed(PATH, StreamableHTTPASGIApp(server.session_manager), methods=["POST"]))
    served = app.router.lifespan_context

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncGenerator[Any]:
        async with served(app) as state, server.session_manager.run():
            yield state

    app.router.lifespan_context = life


def _security(hosts: Sequence[str]) -> TransportSecuritySettings:
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


class KeyOwner(Caller):
    """The owner of a key, or a user of this machine where there are no keys; the API's service counts and records."""

    def __init__(self, request: Any) -> None:
        self.request: Request = request
        self.who: Principal = request.state.who
        self.service: Service = request.app.state.service
        super().__init__(self.service.rag, self.who.tenant)

    @asynccontextmanager
    async def question(self, text: str) -> AsyncGenerator[None]:
        """Raises `RefusedError` (429, 503) and ``TimeoutError`` as the API does."""
        await self.service.access.count_question(self.who)
        self.service.note(self.request, text)
        async with self.service.question():
            yield

    async def record_answer(self, scope: Scope, result: AskResult) -> None:
        """For metrics and the audit log."""
        await self.service.record_answer(self.who, scope.corpus, result)

    def record(self, event: str, scope: Scope, documents: Sequence[str]) -> None:
        """For the audit log."""
        log_access(event, self.who, corpus=scope.corpus, documents=documents)


class KeyedServer(Server):
    """Serves the owners of keys."""

    def __init__(self) -> None:
        super().__init__(self.ingest)

    async def caller(self, request: Any) -> KeyOwner:
        """Whose key it is."""
        return KeyOwner(request)

    def explain(self, error: BaseException | None) -> str | None:
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
    ) -> IngestOutput:
        """Store a document, so that questions find it. One of the same name is replaced.

        It is on disk when this returns; a status of null means that it is still being read.
        """
        caller, content = KeyOwner(ctx.request_context.request), text.encode()
        service, who = caller.service, caller.who
        try:
            service.check_role(who, Role.WRITE)
        except RefusedError:
            log_access("refused", who)
            raise
        job = await accept(who, corpus, {name: BytesIO(content)}, {name: len(content)}, service)
        await ctx.report_progress(0, len(job.files))
        job = await _wait_for(job, service)
        await ctx.report_progress(sum(f.status is not None for f in job.files), len(job.files))
        return IngestOutput(outcomes=_outcomes(job, service))


async def _wait_for(job: Job, service: Service) -> Job:
    """The job when it has ended, or as it is when the request must."""
    end = service.deadline()
    while job.ended is None and monotonic() < end and not service.stopped:
        await asyncio.sleep(POLL_S)
        job = await service.jobs.get(job.tenant, job.id)
    return job


def _outcomes(job: Job, service: Service) -> list[Outcome]:
    ids = service.ids_of(job)
    return [
        Outcome(doc_id=i, name=f.name, status=f.status and str(f.status), chunks=f.chunks, note=f.note)
        for i, f in zip(ids, job.files, strict=True)
    ]
