"""What the API's endpoints share: the pipeline, who may use it, jobs, numbers, and how much goes on at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from discorag.models.deadline import models_within
from discorag.settings import ApiSettings
from graphs.facade import DiscoRAG
from graphs.serving.access import Access
from graphs.serving.jobs import Jobs
from graphs.serving.meters import Meters
from graphs.serving.problems import RefusedError
from graphs.serving.uploads import Uploads

MODEL_SHARE = 0.75
"""Part of a question's time that language models may use; what is left is for the local engines that stand in."""


@dataclass
class Service:
    """One server. ``under_way`` counts the questions that are being answered or wait."""

    rag: DiscoRAG
    settings: ApiSettings
    access: Access
    uploads: Uploads
    jobs: Jobs
    meters: Meters
    under_way: int = 0

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
            with models_within(MODEL_SHARE * self.settings.deadline_s):
                yield
        finally:
            self.under_way -= 1

    @asynccontextmanager
    async def question(self) -> AsyncGenerator[None]:
        """`counted`, and ended by ``TimeoutError`` at the deadline."""
        async with self.counted(), asyncio.timeout(self.settings.deadline_s):
            yield


def _service(request: Request) -> Service:
    return request.app.state.service


Served = Annotated[Service, Depends(_service)]
