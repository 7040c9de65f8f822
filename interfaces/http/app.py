"""The HTTP API over the pipeline, MCP, and the page in the browser; ``disco-rag serve`` runs it, or any server that
calls the factory `create_app`.
"""

import asyncio
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from fastapi import APIRouter, FastAPI
from fastapi_offline import FastAPIOffline
from pydantic import BaseModel
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from discorag.config import Settings, read_settings
from discorag.schema.errors import ConfigError, ModelError
from discorag.store.conversations import Threads
from discorag.store.postgres import CONNECTIONS
from discorag.store.uploads import JobTable
from interfaces.facade import DiscoRAG
from interfaces.http import ask, audits, chat, documents, metrics
from interfaces.http.access import Access, Quotas
from interfaces.http.docs import describe
from interfaces.http.jobs import Jobs, Uploads
from interfaces.http.mcp import add_mcp
from interfaces.http.problems import RequestLimits, RequestObserver, error_responses, handle_errors
from interfaces.http.service import Served, Service, Strict
from interfaces.http.turns import QuestionTurns, places_of_questions

THREADS = 64
"""Threads for blocking calls: with only one per core, an ingest would leave none for questions and jobs."""
_SHARED_SWEEP_S = 86_400.0  # other servers may be writing what is younger
FILES = Path(__file__).parent / "page"
_ABSENT = "The API is served; the page in the browser is not built. Run `make web`, and serve again.\n"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {"Content-Security-Policy": _POLICY}
_IMMUTABLE, _REVALIDATE = "public, max-age=31536000, immutable", "no-cache"
_ABOUT = (
    "Discourse-aware retrieval-augmented generation: answers whose every sentence is traced to its sources, with the "
    "disagreements between them. A key belongs to a tenant, and opens the documents of this tenant only."
)


health = APIRouter(tags=["operation"], route_class=Strict)


class Health(BaseModel):
    """The server works; it is ``degraded`` while the language model is not asked, because its server failed."""

    status: Literal["ok", "degraded"] = "ok"


@health.get("/healthz", responses=error_responses(422))
async def healthz() -> Health:
    """Whether the process runs."""
    return Health()


@health.get("/readyz", responses=error_responses(422, 503))
async def readyz(served: Served) -> Health:
    """Whether the database responds."""
    await asyncio.to_thread(served.rag.backends.store.manifest, served.rag.scope(), "probe")
    return Health(status="degraded" if served.model_state == "paused" else "ok")


def create_app(settings: Settings | None = None, *, rag: DiscoRAG | None = None) -> FastAPI:
    """Create the app. The pipeline is opened when it starts, and closed when it ends.

    Args:
        settings: Configuration; default: environment and ``disco-rag.toml``.
        rag: An opened pipeline, which is not closed; its settings are used.

    Raises:
        ConfigError: Impossible settings, or a key file that cannot be read.
    """
    settings = rag.backends.settings if rag else settings or read_settings()
    access = Access(settings)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncGenerator[dict[str, Service]]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS))
        opened = rag or await asyncio.to_thread(DiscoRAG, settings)
        warming = asyncio.create_task(_warm(opened))
        try:
            async with _open_service(opened, access) as app.state.service:
                yield {"service": app.state.service}
        finally:
            warming.cancel()
            await asyncio.wait({warming})
            if rag is None:
                await asyncio.to_thread(opened.close)

    about = {"title": "disco-rag", "version": version("disco-rag"), "description": _ABOUT}
    app = FastAPIOffline(redoc_url=None, lifespan=life, **about)  # /docs loads nothing from elsewhere
    app.add_middleware(RequestLimits, settings=settings.api, uploads=frozenset({"/ingest"}))
    app.add_middleware(RequestObserver)
    handle_errors(app)
    undescribed = app.openapi
    app.openapi = lambda: app.openapi_schema or describe(undescribed())
    for router in (ask.router, ask.threads, documents.router, audits.router, chat.router, metrics.router, health):
        app.include_router(router)
    add_mcp(app, settings.api)
    show_page(app)
    return app


@asynccontextmanager
async def _open_service(rag: DiscoRAG, access: Access) -> AsyncGenerator[Service]:
    """The service, with its jobs at work. Jobs that are not done when it ends are resumed at the next start."""
    api, table = rag.backends.settings.api, JobTable(rag.backends.store.database)
    if table.is_shared and api.jobs + 1 > CONNECTIONS // 2:  # each file at work holds a connection
        hint = f"Set DISCO_RAG_API__JOBS to {CONNECTIONS // 2 - 1} at most, and start more workers."
        raise ConfigError(f"{api.jobs} files at once leave too few connections to the database.", hint=hint)
    uploads = Uploads(api.uploads)
    await asyncio.to_thread(uploads.sweep, _SHARED_SWEEP_S if table.is_shared else 0.0)
    await asyncio.to_thread(table.adopt)
    await asyncio.to_thread(uploads.remove_deleted, table)
    jobs = Jobs(table, documents.reader_of(rag, uploads), api.jobs)
    await jobs.forget_old()
    threads = Threads(rag.backends.store.database)
    await asyncio.to_thread(threads.forget_old)
    calls = rag.backends.settings.llm.concurrency if rag.backends.model else 0
    turns = QuestionTurns(places_of_questions(calls), api.quota)
    working = asyncio.create_task(jobs.work())
    try:
        yield Service(rag, api, access, uploads, jobs, table, Quotas(api.quota, table), threads, turns)
    finally:
        working.cancel()
        await asyncio.wait([working])


async def _warm(rag: DiscoRAG) -> None:
    """Load the encoder's model, so that the first question need not wait for it."""
    with suppress(ModelError):  # the endpoint is not up yet
        await rag.backends.encoder.encode_query("warm")


class Assets(StaticFiles):
    """Files whose names hold their digest, so that browsers cache them for good."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Add the policy. Raises ``HTTPException`` (404, 405), which the app answers."""
        response = await super().get_response(path, scope)
        response.headers.update(_HEADERS | {"Cache-Control": _IMMUTABLE})
        return response


def show_page(app: FastAPI, files: Path = FILES) -> None:
    """Serve the page at ``/`` and its files; where it is not built, say how to build it."""
    if not (files / "index.html").is_file():
        app.add_api_route("/", lambda: PlainTextResponse(_ABSENT), include_in_schema=False)
        return
    app.mount("/assets", Assets(directory=files / "assets"), name="assets")
    for file in (f for f in files.iterdir() if f.is_file()):
        path = "/" if file.name == "index.html" else f"/{file.name}"
        app.add_api_route(path, partial(_file, file), include_in_schema=False)


def _file(file: Path) -> FileResponse:
    return FileResponse(file, headers=_HEADERS | {"Cache-Control": _REVALIDATE})
