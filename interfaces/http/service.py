"""What the API's endpoints share: the pipeline, keys and quotas, jobs, and the questions under way."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from discorag.config import ApiSettings
from discorag.models.deadline import models_within
from discorag.models.gateway import Gateway
from discorag.models.loops import cancel_scope
from discorag.schema.document import uri_of_upload
from discorag.schema.errors import StoreError
from discorag.store.conversations import Threads
from discorag.store.uploads import JobTable
from interfaces.background import end_task
from interfaces.facade import DiscoRAG
from interfaces.http.access import Access, Principal, Quotas, Role, check_site, log_access
from interfaces.http.counters import QUESTIONS, count_answer
from interfaces.http.jobs import Job, Jobs, Uploads
from interfaces.http.problems import Problem, RefusedError, content_length, problem_of
from interfaces.http.turns import QuestionTurns
from interfaces.results import AskResult

StreamPart = dict[str, Any] | AskResult | Problem
_BEARER = HTTPBearer(auto_error=False, description="An API key; not needed where the server has none.")
MODEL_SHARE = 0.75
"""Part of a question's time that language models may use; the rest is for the engines that replace them."""
_LIMIT = "DISCO_RAG_API__DEADLINE_S (language models get three quarters of it)"


@dataclass(frozen=True)
class Guard:
    """What an endpoint requires: a role of the key, and for uploads room in the tenant's quotas.

    As a FastAPI dependency it returns the caller, whom `Keyed` has admitted.
    """

    role: Role
    uploads: bool = False

    async def __call__(
        self, request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)] = None
    ) -> Principal:
        """The caller."""
        return request.state.who


Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class Strict(APIRoute):
    """A route that refuses query parameters that it does not know; FastAPI would ignore them."""

    def get_route_handler(self) -> Handler:
        """The handler, which runs after the check."""
        handle, known = super().get_route_handler(), sorted(field.alias for field in self.dependant.query_params)

        async def handler(request: Request) -> Response:
            unknown = next((name for name in request.query_params if name not in known), None)
            if unknown is not None:
                message = f"There is no query parameter {unknown[:60]!r} here."
                hint = f"Known parameters: {', '.join(known)}." if known else "This path takes none."
                raise RefusedError(422, "InvalidRequestError", message, hint=hint)
            return await handle(request)

        return handler


class Keyed(Strict):
    """A route that checks the key before any of the body is read; FastAPI runs dependencies afterwards."""

    def get_route_handler(self) -> Handler:
        """The handler, which runs after the endpoint's guard."""
        handle = super().get_route_handler()
        (guard,) = [d.call for d in self.dependant.dependencies if isinstance(d.call, Guard)]

        async def handler(request: Request) -> Response:
            await _service(request).admit(request, guard)
            return await handle(request)

        return handler


@dataclass
class Service:
    """One server. ``stopped``: questions are refused."""

    rag: DiscoRAG
    settings: ApiSettings
    access: Access
    uploads: Uploads
    jobs: Jobs
    table: JobTable
    quotas: Quotas
    threads: Threads
    turns: QuestionTurns
    stopped: bool = False
    _limits: set[asyncio.Timeout] = field(default_factory=set[asyncio.Timeout])

    @property
    def model_state(self) -> Literal["none", "used", "paused"]:
        """Whether there is a language model, and whether it is paused because its server failed."""
        model = self.rag.backends.model
        if model is None:
            return "none"
        return "paused" if isinstance(model, Gateway) and model.is_paused else "used"

    @property
    def under_way(self) -> int:
        """How many questions are being answered or wait."""
        return len(self._limits)

    async def admit(self, request: Request, guard: Guard) -> None:
        """Note the caller in the request's state. Raises `RefusedError` (401, 403, 429) if the key does not suffice."""
        who = None
        try:
            bearer = await _BEARER(request)
            request.state.who = who = self.access.who(bearer.credentials if bearer else None)
            if self.access.is_open:
                check_site(request)
            await self.access.count(who)
            who.check(guard.role)
            if guard.uploads:
                await asyncio.to_thread(self.quotas.check, who.tenant, jobs=1, size=content_length(request.scope))
        except RefusedError as error:
            if who is None:  # first: beyond the limit the audit log has no line
                await self.access.count_refused(request.client.host if request.client else "")
            if error.status != 429:
                log_access("refused", who)
            raise

    async def record_answer(self, who: Principal, corpus: str | None, result: AskResult) -> None:
        """Count an answer, and write the documents that it was made from into the audit log."""
        outcome = "without model" if result.model_failed else "refused" if result.answer.abstained else "answered"
        count_answer(result.ledger, outcome=outcome)
        scope, hits = self.rag.scope(tenant=who.tenant, corpus=corpus), [hit.chunk_id for hit in result.hits]
        shown = {e.doc_id for sentence in result.answer.sentences for e in sentence.evidence}
        with suppress(StoreError):  # the database failed: what was cited is in ``shown``
            read = await asyncio.to_thread(self.rag.backends.store.stored_chunks, scope, hits)
            shown |= {chunk.doc_id for chunk in read.values()}
        log_access("read", who, corpus=scope.corpus, documents=shown)

    async def ids_of(self, job: Job) -> list[str]:
        """Ids of the documents that a job's files become."""
        uris = [uri_of_upload(file.name) for file in job.files]
        return await asyncio.to_thread(self.rag.backends.store.ids_at, job.scope, uris)

    def check_load(self, who: Principal) -> None:
        """Refuse a question, and count it, before its stream begins: the status cannot change later.

        Raises:
            RefusedError: The most questions allowed are in progress (503), or as many of this tenant wait (429).
        """
        try:
            self._check_places()
            self.turns.check(who.tenant)
        except RefusedError:
            QUESTIONS.labels("turned away").inc()
            raise

    def _check_places(self) -> None:
        if self.under_way >= self.settings.questions:
            hint = "Try again later, or raise DISCO_RAG_API__QUESTIONS."
            raise RefusedError(503, "BusyError", f"{self.under_way} questions are under way.", hint=hint)

    @asynccontextmanager
    async def question(self, who: Principal, *, counted: bool = True) -> AsyncGenerator[None]:
        """Answer a question in this block, when it is the tenant's turn: language models have limited time.

        Args:
            who: The caller.
            counted: Whether the metrics count it if it fails; `record_answer`, after the block, counts it if it does
                not. False for a search or an audit, which has no answer.

        Raises:
            RefusedError: As `check_load`, or the server stops (503).
            TimeoutError: At the deadline, which counts from the arrival.
        """
        try:
            self._check_places()
            async with self._limited(), self.turns.turn(who.tenant):
                yield
        except BaseException as error:
            if counted:
                QUESTIONS.labels(_outcome_of(error)).inc()
            raise

    @asynccontextmanager
    async def _limited(self) -> AsyncGenerator[None]:
        try:
            async with asyncio.timeout(0 if self.stopped else self.settings.deadline_s) as limit:
                self._limits.add(limit)
                try:
                    with cancel_scope(), models_within(MODEL_SHARE * self.settings.deadline_s, setting=_LIMIT):
                        yield
                finally:
                    self._limits.discard(limit)
        except TimeoutError:
            if not self.stopped:
                raise
            raise RefusedError(503, "StoppingError", "The server is being stopped.", hint="Ask again.") from None

    async def events(self, who: Principal, arguments: dict[str, Any]) -> AsyncGenerator[StreamPart]:
        """Yield the events and the result of `DiscoRAG.astream` with these arguments, in time and recorded.

        An error comes last, as a `Problem`: the status of a stream cannot change any more. The question is cancelled
        if the client leaves.
        """
        queue = asyncio.Queue[StreamPart | None]()

        async def answer() -> None:
            result = None
            try:
                async with self.question(who), aclosing(self.rag.astream(**arguments)) as parts:
                    async for part in parts:
                        if isinstance(part, AskResult):
                            result = part
                        else:
                            queue.put_nowait(part)
                if result:
                    await self.record_answer(who, arguments["corpus"], result)
                    queue.put_nowait(result)
            except Exception as error:  # noqa: BLE001 - the client gets an error event, whatever happened
                queue.put_nowait(problem_of(error)[1])
            finally:
                queue.put_nowait(None)

        task = asyncio.create_task(answer())
        try:
            while (part := await queue.get()) is not None:
                yield part
        finally:
            await end_task(task)

    def stop(self) -> None:
        """End all questions that are under way with an error."""
        self.stopped = True
        for limit in self._limits:
            if not limit.expired():
                limit.reschedule(0)


def _outcome_of(error: BaseException) -> str:
    """What became of a question that ends with this error."""
    match error:
        case TimeoutError():
            return "timed out"
        case asyncio.CancelledError() | GeneratorExit() | RefusedError(kind="GoneError"):
            return "client left"
        case RefusedError():
            return "turned away"
        case _:
            return "failed"


def _service(request: Request) -> Service:
    return request.app.state.service


Name = Annotated[str, Field(min_length=1, max_length=200)]
Corpus = Name | SkipJsonSchema[None]
"""A parameter, or a field of a query."""
BodyCorpus = Annotated[Name | None, Field(description="None: as configured.")]
"""A field of a body."""
Served = Annotated[Service, Depends(_service)]
Reader = Annotated[Principal, Depends(Guard(Role.READ))]
Writer = Annotated[Principal, Depends(Guard(Role.WRITE))]
Uploader = Annotated[Principal, Depends(Guard(Role.WRITE, uploads=True))]
