"""The HTTP API over the pipeline; ``disco-rag serve`` runs it, or any server that calls the factory `create_app`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version

import structlog
from fastapi import FastAPI
from fastapi_offline import FastAPIOffline

from discorag.config import Settings, read_settings
from discorag.schema.errors import ModelError, StoreError
from discorag.store.jobs import JobTable
from interfaces.facade import DiscoRAG
from interfaces.http import ask, chat, documents, health, ingest, static_page, threads
from interfaces.http.access import Access
from interfaces.http.jobs import JobFile, Jobs
from interfaces.http.meters import Meters
from interfaces.http.middleware import Limited, Secured, Watched
from interfaces.http.problems import handle_errors
from interfaces.http.quotas import Questions, Quotas
from interfaces.http.service import Service
from interfaces.http.uploads import Uploads
from interfaces.threads import Threads

THREADS = 64
"""For what blocks: with as many as there are cores, an ingest would leave none to questions and jobs."""

QUIET_S, LONGEST_S = 30.0, 600.0
"""The store is indexed when no file was at work for so many seconds; under lasting load, after so many."""
_LOG = structlog.get_logger("disco_rag.api")
_ABOUT = (
    "Discourse-aware retrieval-augmented generation: answers whose every sentence is traced to its sources, with the "
    "disagreements between them. A key belongs to a tenant; nobody sees another tenant's documents."
)


def create_app(settings: Settings | None = None, *, rag: DiscoRAG | None = None) -> FastAPI:
    """The app. What it serves is opened when it starts, and closed when it ends.

    Args:
        settings: Configuration; default: environment and ``disco-rag.toml``.
        rag: An opened pipeline, if you manage it yourself; then its settings count.

    Raises:
        ConfigError: Impossible settings, or a file of keys that cannot be read.
    """
    settings = rag.backends.settings if rag else settings or read_settings()
    meters, access = Meters(), Access.of(settings)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncGenerator[dict[str, Service]]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS))
        opened = rag or await asyncio.to_thread(DiscoRAG, settings)
        warming = asyncio.create_task(_warm(opened))
        try:
            async with _opened(opened, access, meters) as app.state.service:
                yield {"service": app.state.service}
        finally:
            warming.cancel()
            await asyncio.wait({warming})
            if rag is None:
                await asyncio.to_thread(opened.close)

    about = {"title": "disco-rag", "version": version("disco-rag"), "description": _ABOUT}
    app = FastAPIOffline(redoc_url=None, lifespan=life, **about)  # /docs loads nothing from elsewhere
    app.add_middleware(Limited, settings=settings.api, uploads=frozenset({"/ingest"}))
    app.add_middleware(Watched, meters=meters)
    app.add_middleware(Secured)
    handle_errors(app)
    for part in (ask, threads, ingest, documents, chat, health):
        app.include_router(part.router)
    app.include_router(health.numbers)
    static_page.show(app)
    return app


@asynccontextmanager
async def _opened(rag: DiscoRAG, access: Access, meters: Meters) -> AsyncGenerator[Service]:
    """The service, with its jobs at work. Jobs that are not done when it ends are taken up when it starts again."""

    def settled(file: JobFile) -> None:
        meters.documents.labels(str(file.status)).inc()

    api, table = rag.backends.settings.api, JobTable(rag.backends.store.database)
    uploads = Uploads(api.uploads)
    await asyncio.to_thread(uploads.sweep)
    jobs = Jobs(table, ingest.reader_of(rag, uploads, meters), settled, api.jobs)
    await jobs.resume()
    tasks = [asyncio.create_task(jobs.work()), asyncio.create_task(_indexed(rag, jobs))]
    try:
        async with Threads.opened(api.uploads / "threads.sqlite") as threads:
            quotas, questions = Quotas(access, table), Questions(api.questions)
            yield Service(rag, api, access, uploads, jobs, table, meters, quotas, questions, threads)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def _indexed(rag: DiscoRAG, jobs: Jobs) -> None:
    """Index what jobs wrote when none has been at work for a while: whoever asks or writes meanwhile has to wait."""
    while True:
        await jobs.quiet(QUIET_S, LONGEST_S)
        try:
            await asyncio.to_thread(rag.backends.store.optimise)
        except StoreError as error:  # searches are slower, and right
            _LOG.warning("not indexed", error=str(error))


async def _warm(rag: DiscoRAG) -> None:
    """Load the encoder's model, so that the first question need not wait for it."""
    with suppress(ModelError):  # an endpoint that is not there yet: /readyz tells
        await rag.backends.encoder.encode_query("warm")
