"""/threads: conversations. POST /ask stores its question and answer in the thread that it names."""

import asyncio
from contextlib import suppress
from uuid import UUID

from fastapi import APIRouter, Response, status
from pydantic import BaseModel, ConfigDict, ValidationError

from discorag.store.conversations import Thread
from interfaces.http.ask import Reply
from interfaces.http.problems import COMMON, error_responses
from interfaces.http.service import BodyCorpus, Keyed, Reader, Served

router = APIRouter(tags=["threads"], responses=COMMON, route_class=Keyed)


class NewThread(BaseModel):
    """What a thread is about."""

    model_config = ConfigDict(extra="forbid")

    corpus: BodyCorpus = None


@router.post("/threads", status_code=status.HTTP_201_CREATED, responses=error_responses(507))
async def create(who: Reader, served: Served, new: NewThread) -> Thread:
    """Create a thread, in which `POST /ask` can store questions and answers."""
    return await asyncio.to_thread(served.threads.create, who.tenant, new.corpus)


@router.get("/threads")
async def threads(who: Reader, served: Served) -> list[Thread]:
    """List the tenant's threads, the latest first."""
    return await asyncio.to_thread(served.threads.of, who.tenant)


@router.delete("/threads/{thread_id}", status_code=status.HTTP_204_NO_CONTENT, responses=error_responses(404, 507))
async def delete(who: Reader, served: Served, thread_id: UUID) -> Response:
    """Delete a thread with its answers."""
    thread = await asyncio.to_thread(served.threads.get, who.tenant, thread_id.hex)
    await asyncio.to_thread(served.threads.delete, thread)
    return Response(status_code=status.HTTP_204_NO_CONTENT)


@router.get("/threads/{thread_id}/turns", responses=error_responses(404))
async def turns(who: Reader, served: Served, thread_id: UUID) -> list[Reply]:
    """List the answers in a thread, the earliest first: those of POST /ask that named it."""
    thread = await asyncio.to_thread(served.threads.get, who.tenant, thread_id.hex)
    replies = list[Reply]()
    for turn in await asyncio.to_thread(served.threads.turns, thread):
        with suppress(ValidationError):  # stored by another version
            replies.append(Reply.model_validate_json(turn.reply))
    return replies
