"""/threads: conversations, and questions that are stopped, inspected, edited and resumed."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response, status
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from interfaces.http.access import Principal
from interfaces.http.ask import Filters, Options, Reply, unless_gone
from interfaces.http.problems import COMMON, error_responses
from interfaces.http.service import Asker, BodyCorpus, Keyed, Reader, Served, Service
from interfaces.threads import Edit, Stage, Thread, ThreadState
from nodes.context import AnswerContext
from nodes.state import AnswerInput

router = APIRouter(tags=["threads"], responses=COMMON, route_class=Keyed)
Checkpoint = Annotated[str | None, Field(min_length=1, max_length=100, description="None: where the thread stands.")]


class NewThread(BaseModel):
    """What a thread is about."""

    model_config = ConfigDict(extra="forbid")

    corpus: BodyCorpus = None


class RunRequest(BaseModel):
    """A question; without one the thread's is resumed."""

    model_config = ConfigDict(extra="forbid")

    query: str | None = Field(default=None, min_length=1, max_length=4000, description="None: resume.")
    instruction: str = Field(default="", max_length=4000, description="How to answer; it is not searched for.")
    filters: Filters = Field(default={}, max_length=20, description="Metadata key -> accepted values.")
    switches: Options | None = Field(default=None, description="None: those of the thread's question.")
    stop_before: list[Stage] = Field(default=[], max_length=6, description="Stop before these stages.")
    checkpoint: Checkpoint = None

    def graph_input(self) -> AnswerInput | None:
        """The question for the graph."""
        if self.query is None:
            return None
        return {"query": self.query, "instruction": self.instruction, "filters": self.filters, "history": []}


class EditRequest(Edit):
    """What to change, and at which checkpoint."""

    checkpoint: Checkpoint = None


class HistoryQuery(BaseModel):
    """How many checkpoints to list."""

    model_config = ConfigDict(extra="forbid")

    limit: int = Field(default=100, ge=1, le=1000)


class ForkRequest(BaseModel):
    """Where to fork."""

    model_config = ConfigDict(extra="forbid")

    checkpoint: Checkpoint = None


@router.post("/threads", status_code=status.HTTP_201_CREATED, responses=error_responses(507))
async def create(who: Reader, served: Served, new: NewThread) -> Thread:
    """Create a thread: a conversation, or a question that is stopped, edited and resumed."""
    return await served.threads.create(who.tenant, new.corpus)


@router.get("/threads")
async def threads(who: Reader, served: Served) -> list[Thread]:
    """List the tenant's threads, the latest first."""
    return await served.threads.all(who.tenant)


@router.get("/threads/{thread_id}", responses=error_responses(404))
async def state(who: Reader, served: Served, thread_id: UUID) -> ThreadState:
    """Show where a thread stands: what its run has produced, and before which stage it stopped."""
    return await served.threads.state(await _find_thread(served, who, thread_id))


@router.delete("/threads/{thread_id}", status_code=status.HTTP_204_NO_CONTENT, responses=error_responses(404, 409, 507))
async def delete(who: Reader, served: Served, thread_id: UUID) -> Response:
    """Delete a thread with its answers and checkpoints."""
    await served.threads.delete(await _find_thread(served, who, thread_id))
    return Response(status_code=status.HTTP_204_NO_CONTENT)


@router.get("/threads/{thread_id}/history", responses=error_responses(404))
async def history(
    who: Reader, served: Served, thread_id: UUID, query: Annotated[HistoryQuery, Query()]
) -> list[ThreadState]:
    """List a thread's checkpoints, the latest first: each can be edited, forked and resumed."""
    return await served.threads.history(await _find_thread(served, who, thread_id), query.limit)


@router.get("/threads/{thread_id}/turns", responses=error_responses(404))
async def turns(who: Reader, served: Served, thread_id: UUID) -> list[Reply]:
    """The answers that a thread keeps, the earliest first: those of POST /ask that named it."""
    replies = list[Reply]()
    for stored in await served.threads.replies(await _find_thread(served, who, thread_id)):
        with suppress(ValidationError):  # stored by another version
            replies.append(Reply.model_validate_json(stored))
    return replies


@router.post("/threads/{thread_id}/runs", responses=error_responses(404, 409, 502, 507))
async def run(request: Request, who: Asker, served: Served, thread_id: UUID, body: RunRequest) -> ThreadState:
    """Ask, or resume where the thread has stopped."""
    thread = await _find_thread(served, who, thread_id)
    switches = thread.switches if body.query is None else {}
    if body.switches is not None:
        switches = body.switches.model_dump(exclude_unset=True)
    thread = await served.threads.remember(thread, switches)
    context = served.rag.context(AnswerContext, thread.switches | {"tenant": who.tenant, "corpus": thread.corpus})
    go = served.threads.run(
        thread, body.graph_input(), context, stop_before=body.stop_before, checkpoint=body.checkpoint
    )
    async with served.question():
        state = await unless_gone(request, go)
    await served.record_chunks(who, thread.corpus, [hit["chunk_id"] for hit in state.values.get("hits", [])])
    return state


@router.patch("/threads/{thread_id}/state", responses=error_responses(404, 409, 507))
async def edit(who: Reader, served: Served, thread_id: UUID, body: EditRequest) -> ThreadState:
    """Change the evidence, graph, plan or draft of a stopped run."""
    thread = await _find_thread(served, who, thread_id)
    return await served.threads.edit(thread, body, body.checkpoint)


@router.post("/threads/{thread_id}/fork", status_code=status.HTTP_201_CREATED, responses=error_responses(404, 409, 507))
async def fork(who: Reader, served: Served, thread_id: UUID, body: ForkRequest) -> Thread:
    """Create a new thread that stands where this one does, or did."""
    return await served.threads.fork(await _find_thread(served, who, thread_id), body.checkpoint)


async def _find_thread(served: Service, who: Principal, thread_id: UUID) -> Thread:
    """Raises `NotFoundError`."""
    return await served.threads.get(who.tenant, thread_id.hex)
