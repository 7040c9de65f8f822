"""What the API's endpoints share: the pipeline, who may use it, jobs, numbers, and how much goes on at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Annotated, TypeVar

from fastapi import Depends, Request

from discorag.models.deadline import models_within
from discorag.models.wanted import while_wanted
from discorag.settings import ApiSettings
from graphs.facade import DiscoRAG
from graphs.serving.access import Access
from graphs.serving.jobs import Jobs
from graphs.serving.meters import Meters
from graphs.serving.problems import RefusedError
from graphs.serving.uploads import Uploads

T = TypeVar("T")

MODEL_SHARE = 0.75
"""Part of a question's time that language models may use; what is left is for the local engines that stand in."""


@dataclass
class Service:
    """One server. ``under_way`` counts the questions that are being answered or wait; ``stopped``: none may be."""

    rag: DiscoRAG
    settings: ApiSettings
    access: Access
    uploads: Uploads
    jobs: Jobs
    meters: Meters
    under_way: int = 0
    stopped: bool = False
    _limits: set[asyncio.Timeout] = field(default_factory=set[asyncio.Timeout])

    def check_room(self) -> None:
        """Raises `RefusedError` (503) if as many questions are under way as there may be."""
        if self.under_way >= self.settings.questions:
            hint = "Try again later, or raise DISCO_RAG_API__QUESTIONS."
            said = f"{self.under_way} questions are under way."
            raise RefusedError(503, "BusyError", said, hint=hint)

    def note(self, request: Request, query: str) -> None:
        """Let the log have the question, if it may."""
        if self.settings.log_text:
            request.state.query = query

    @asynccontextmanager
    async def counted(self) -> AsyncGenerator[None]:
        """A question that is under way, whose language models answer in time. Raises as `check_room`."""
        self.check_room()
        self.under_way += 1
        try:
            with while_wanted(), models_within(MODEL_SHARE * self.settings.deadline_s):
                yield
        finally:
            self.under_way -= 1

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

    async def each(self, parts: AsyncIterator[T], end: float) -> AsyncGenerator[T]:
        """The same parts, each `in_time`."""
        while True:
            async with self.in_time(end):
                part = await anext(parts, None)
            if part is None:
                return
            yield part

    def stop(self) -> None:
        """End all questions that are under way with an error."""
        self.stopped = True
        for limit in self._limits:
            if not limit.expired():
                limit.reschedule(0)


def _service(request: Request) -> Service:
    return request.app.state.service


Served = Annotated[Service, Depends(_service)]
