"""What the API's endpoints share: the pipeline, who may use it, jobs, numbers, and how much goes on at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from collections.abc import Set as AbstractSet
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from discorag.config import ApiSettings
from discorag.models.deadline import models_within
from discorag.models.loops import cancel_scope
from discorag.schema.errors import StoreError
from discorag.store.jobs import JobTable
from interfaces.background import end_task
from interfaces.facade import DiscoRAG
from interfaces.http.access import Access, Principal, Questions, Quotas, Role, audit, check_site
from interfaces.http.jobs import Job, Jobs, Uploads
from interfaces.http.observability import Meters
from interfaces.http.problems import RefusedError, declared
from interfaces.results import AskResult
from interfaces.threads import Threads

T = TypeVar("T")

_BEARER = HTTPBearer(auto_error=False, description="An API key; not needed where the server has none.")
KNOWN_S = 5.0
"""How long a probe's answer is kept, in seconds."""
MODEL_SHARE = 0.75
"""Part of a question's time that language models may use; what is left is for what is used instead."""
_LIMIT = "DISCO_RAG_API__DEADLINE_S (language models get three quarters of it)"


@dataclass(frozen=True)
class Guard:
    """What an endpoint asks of a key: a role; and whether its tenant's quotas of questions or of uploads count.

    As a dependency it gives the principal, whom `Keyed` has let in.
    """

    role: Role
    asks: bool = False
    uploads: bool = False

    async def __call__(
        self, request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)] = None
    ) -> Principal:
        """Who asks."""
        return request.state.who


class Keyed(APIRoute):
    """A route that asks for the key before any of the body is read; FastAPI asks its dependencies afterwards."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler behind the guard of the endpoint."""
        handle = super().get_route_handler()
        (guard,) = [d.call for d in self.dependant.dependencies if isinstance(d.call, Guard)]

        async def handler(request: Request) -> Response:
            await _service(request).admit(request, guard)
            return await handle(request)

        return handler


class Once(Generic[T]):
    """An answer that is asked for at most every `KNOWN_S` seconds; who comes meanwhile gets the same one."""

    def __init__(self) -> None:
        self._lock, self._until = asyncio.Lock(), 0.0
        self._found: T | Exception | None = None

    async def __call__(self, find: Callable[[], Awaitable[T]]) -> T:
        """What ``find`` gave or raised."""
        async with self._lock:
            if self._found is None or monotonic() >= self._until:
                try:
                    self._found = await find()
                except Exception as error:  # noqa: BLE001 - it is raised below, each time
                    self._found = error
                self._until = monotonic() + KNOWN_S
        if isinstance(self._found, Exception):
            raise self._found
        return self._found


@dataclass
class Service:
    """One server. ``stopped``: no question may be under way."""

    rag: DiscoRAG
    settings: ApiSettings
    access: Access
    uploads: Uploads
    jobs: Jobs
    table: JobTable
    meters: Meters
    quotas: Quotas
    questions: Questions
    threads: Threads
    stopped: bool = False
    readiness: Once[Any] = field(default_factory=Once[Any])
    _limits: set[asyncio.Timeout] = field(default_factory=set[asyncio.Timeout])

    async def admit(self, request: Request, guard: Guard) -> Principal:
        """Who asks, if they may. Raises `RefusedError` (401, 403, 429)."""
        who = None
        try:
            given = await _BEARER(request)
            request.state.who = who = self.access.who(given.credentials if given else None)
            if self.access.is_open:
                check_site(request)
            await self.access.count(who)
            self.check_role(who, guard.role)
            if guard.asks:
                await self.access.count_question(who)
            if guard.uploads:
                await self.quotas.check(who.tenant, files=0, size=declared(request.scope))
        except RefusedError as error:
            if error.status != 429:
                audit("refused", who)
            raise
        return who

    def check_role(self, who: Principal, role: Role) -> None:
        """Raises `RefusedError` (403) if the key has not this role."""
        if role not in who.roles:
            raise RefusedError(403, "RoleError", f"This key may not {role}.", hint="Use a key with this role.")

    async def record_answer(self, who: Principal, corpus: str | None, result: AskResult) -> None:
        """Count what an answer cost, and let the audit log have the documents that it was made from."""
        self.meters.observe(result.ledger)
        shown = {e.doc_id for sentence in result.answer.sentences for e in sentence.evidence}
        await self.record_chunks(who, corpus, [hit.chunk_id for hit in result.hits], shown)

    async def record_chunks(
        self, who: Principal, corpus: str | None, hits: Sequence[str], shown: AbstractSet[str] = frozenset()
    ) -> None:
        """Let the audit log have the documents of these chunks, and those that are ``shown``."""
        scope = self.rag.scope(tenant=who.tenant, corpus=corpus)
        with suppress(StoreError):  # a document that is gone by now, and is in what is shown if it is of use
            shown = shown | {c.doc_id for c in await asyncio.to_thread(self.rag.backends.store.chunks, scope, hits)}
        audit("read", who, corpus=scope.corpus, documents=shown)

    def ids_of(self, job: Job) -> list[str]:
        """Ids of the documents that a job's files become."""
        return [self.uploads.doc_id(job.scope, file.name) for file in job.files]

    def note(self, request: Request, query: str) -> None:
        """Let the log have the question, if it may."""
        if self.settings.log_text:
            request.state.query = query

    @asynccontextmanager
    async def counted(self) -> AsyncGenerator[None]:
        """A question that is under way, whose language models answer in time. Raises as `Questions.check`."""
        async with self.questions.one():
            with cancel_scope(), models_within(MODEL_SHARE * self.settings.deadline_s, setting=_LIMIT):
                yield

    @asynccontextmanager
    async def question(self) -> AsyncGenerator[None]:
        """`counted`, and `in_time` until the deadline."""
        async with self.counted(), self.in_time(self.deadline()):
            yield

    def deadline(self) -> float:
        """When a question that comes now must be answered, as ``monotonic()`` counts."""
        return monotonic() + self.settings.deadline_s

    @asynccontextmanager
    async def in_time(self, end: float) -> AsyncGenerator[None]:
        """A block that is ended by ``TimeoutError`` at ``end``, by `RefusedError` (503) when the server stops."""
        try:
            async with asyncio.timeout(0 if self.stopped else max(0.0, end - monotonic())) as limit:
                self._limits.add(limit)
                try:
                    yield
                finally:
                    self._limits.discard(limit)
        except TimeoutError:
            if not self.stopped:
                raise
            raise RefusedError(503, "StoppingError", "The server is being stopped.", hint="Ask again.") from None

    async def each(self, parts: AsyncGenerator[T], end: float) -> AsyncGenerator[T]:
        """The same parts, each `in_time`, from a task of their own; they are closed at the end."""
        queue = asyncio.Queue[T | None]()
        task = asyncio.create_task(_put_all(parts, queue))
        try:
            while True:
                async with self.in_time(end):
                    part = await queue.get()
                if part is None:
                    break
                yield part
            await task  # raises what it was ended by
        finally:
            await end_task(task)

    def stop(self) -> None:
        """End all questions that are under way with an error."""
        self.stopped = True
        for limit in self._limits:
            if not limit.expired():
                limit.reschedule(0)


async def _put_all(parts: AsyncGenerator[T], queue: asyncio.Queue[T | None]) -> None:
    """All parts, then None, also where they end with an error."""
    try:
        async with aclosing(parts):
            async for part in parts:
                queue.put_nowait(part)
    finally:
        queue.put_nowait(None)


def _service(request: Request) -> Service:
    return request.app.state.service


Served = Annotated[Service, Depends(_service)]
Reader = Annotated[Principal, Depends(Guard(Role.READ))]
Asker = Annotated[Principal, Depends(Guard(Role.READ, asks=True))]
Writer = Annotated[Principal, Depends(Guard(Role.WRITE))]
Uploader = Annotated[Principal, Depends(Guard(Role.WRITE, uploads=True))]
