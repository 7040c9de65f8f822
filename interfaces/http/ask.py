"""POST /ask: an answer as JSON, or its stages and words as they come. /threads: conversations, which store answers."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Sequence
from contextlib import aclosing, suppress
from typing import Annotated, Any, Self, TypeVar
from uuid import UUID

import structlog
from fastapi import APIRouter, Header, Request, Response, status
from fastapi.responses import StreamingResponse
from fastapi.sse import EventSourceResponse, format_sse_event
from pydantic import BaseModel, Field, ValidationError

from discorag.generation.prompted.rewriting import TURNS
from discorag.generation.views import answer_markdown
from discorag.models.protocol import Message
from discorag.options import AnswerOptions
from discorag.schema.errors import InputError, StoreError
from discorag.schema.metadata import FILTERS, GivenFilters
from discorag.store.conversations import Thread, Turn
from discorag.text.escaping import markdown
from interfaces.http.access import Principal
from interfaces.http.problems import COMMON, Problem, RefusedError, error_responses
from interfaces.http.service import BodyCorpus, Keyed, Reader, Served, Service, StreamPart
from interfaces.results import AskResult, NumberedAnswer

router = APIRouter(tags=["questions"], responses=COMMON, route_class=Keyed)
threads = APIRouter(tags=["threads"], responses=COMMON, route_class=Keyed)
T = TypeVar("T")
_log = structlog.get_logger("disco_rag.api")
CLIENT_CLOSED = 499
"""Status of a request whose client left, for the log."""

_EVENT = {"type": "object", "properties": {"event": {"type": "string"}, "data": {"type": "string"}}}
STREAM: dict[str, Any] = {"text/event-stream": {"itemSchema": _EVENT}}
"""OpenAPI's content of a response that is a stream."""


class Options(AnswerOptions, strict=True):
    """Options that differ from the defaults. Values are not converted."""


class AskRequest(BaseModel, extra="forbid"):
    """A question."""

    query: str = Field(min_length=1, max_length=4000, description="The question.")
    instruction: str = Field(default="", max_length=4000, description="How to answer; it is not searched for.")
    corpus: BodyCorpus = None
    filters: GivenFilters = Field(default={}, max_length=20, description=FILTERS)
    switches: Options = Options()
    thread: UUID | None = Field(
        default=None,
        description="A thread (POST /threads) that stores the question and its answer. A language model reads the "
        "questions before it; without one, each is answered on its own. The corpus is the thread's.",
    )


class Reply(NumberedAnswer, AskResult):
    """The answer with everything that led to it; ``markdown`` is the answer as a file."""

    markdown: str = ""

    @classmethod
    def to(cls, result: AskResult) -> Self:
        """The reply with this result."""
        text = f"# {markdown(result.answer.query)}\n\n{''.join(answer_markdown(result.answer)).rstrip()}\n"
        return cls.numbered(markdown=text, **{f: getattr(result, f) for f in AskResult.model_fields})


_EVENTS = (
    "Server-sent events if asked for by `Accept: text/event-stream`: `start`, `end` and `failure` of every stage, "
    "`statement`s as soon as a language model has found them, `token`s of the draft, `restart` if the tokens so far "
    "are void, and finally `answer` (as in JSON) or `error`. "
    "If a language model fails, the stages start again without it."
)


@router.post(
    "/ask",
    response_model=Reply,
    responses=error_responses(404, 502, 507) | {200: {"description": _EVENTS, "content": STREAM}},
)
async def ask(
    request: Request,
    body: AskRequest,
    who: Reader,
    served: Served,
    accept: Annotated[str, Header()] = "application/json",
) -> Reply | StreamingResponse:
    """Answer a question; every sentence with its sources, and what it cost."""
    switches = body.switches.model_dump(exclude_unset=True)
    served.rag.explain(**switches)  # a contradiction is an error, also of a stream
    arguments = switches | {"tenant": who.tenant, "corpus": body.corpus}
    arguments |= {"query": body.query, "instruction": body.instruction, "filters": body.filters}
    thread = await asyncio.to_thread(served.threads.get, who.tenant, body.thread.hex) if body.thread else None
    if thread:
        turns = await asyncio.to_thread(served.threads.turns, thread)
        arguments |= {"corpus": _corpus_of(thread, body, served), "history": list(_history(turns))}

    async def reply(result: AskResult) -> Reply:
        """The reply, stored so that the next question of the thread finds it; it is sent even if that fails."""
        numbered = Reply.to(result)
        if thread:
            try:
                turn = Turn(question=body.query, text=numbered.text, reply=numbered.model_dump_json())
                await asyncio.to_thread(served.threads.add_turn, thread, turn)
            except StoreError as error:
                _log.error("turn_not_stored", error=error.message)
        return numbered

    if "text/event-stream" in accept:
        served.check_load(who)
        return EventSourceResponse(_stream(served.events(who, arguments), reply))
    return await reply(await answer_whole(request, who, served, arguments))


def _corpus_of(thread: Thread, body: AskRequest, served: Service) -> str:
    """The corpus of a thread's questions. Raises `InputError` if the request names another."""
    asked, own = (served.rag.scope(tenant=thread.tenant, corpus=c).corpus for c in (body.corpus, thread.corpus))
    if body.corpus is not None and asked != own:
        raise InputError(f"The thread asks the corpus {own!r}, not {asked!r}.", hint="Create a thread for each corpus.")
    return own


async def _stream(
    events: AsyncGenerator[StreamPart], reply: Callable[[AskResult], Coroutine[Any, Any, Reply]]
) -> AsyncGenerator[bytes]:
    async with aclosing(events):
        async for event in events:
            match event:
                case Problem():
                    yield format_sse_event(event="error", data_str=event.model_dump_json())
                case AskResult():
                    yield format_sse_event(event="answer", data_str=(await reply(event)).model_dump_json())
                case _:
                    yield format_sse_event(event=event["event"], data_str=json.dumps(event, ensure_ascii=False))


async def answer_whole(request: Request, who: Principal, served: Service, arguments: dict[str, Any]) -> AskResult:
    """The result of `DiscoRAG.aask` with these arguments, in time, counted and recorded."""

    async def answer() -> AskResult:
        async with served.question(who):
            return await served.rag.aask(**arguments)

    result = await unless_gone(request, answer())
    await served.record_answer(who, arguments["corpus"], result)
    return result


async def unless_gone(request: Request, call: Coroutine[Any, Any, T]) -> T:
    """The call's result; the call is cancelled when the client leaves."""
    task, gone = asyncio.create_task(call), asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise RefusedError(CLIENT_CLOSED, "GoneError", "The client closed the connection.")
        return task.result()
    finally:
        for one in (task, gone):
            one.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


class NewThread(BaseModel, extra="forbid"):
    """What a thread is about."""

    corpus: BodyCorpus = None


@threads.post("/threads", status_code=status.HTTP_201_CREATED, responses=error_responses(507))
async def create(who: Reader, served: Served, new: NewThread) -> Thread:
    """Create a thread, in which `POST /ask` can store questions and answers."""
    return await asyncio.to_thread(served.threads.create, who.tenant, new.corpus)


@threads.get("/threads")
async def list_threads(who: Reader, served: Served) -> list[Thread]:
    """List the tenant's threads, the latest first."""
    return await asyncio.to_thread(served.threads.of, who.tenant)


@threads.delete("/threads/{thread_id}", status_code=status.HTTP_204_NO_CONTENT, responses=error_responses(404, 507))
async def delete(who: Reader, served: Served, thread_id: UUID) -> Response:
    """Delete a thread with its answers."""
    thread = await asyncio.to_thread(served.threads.get, who.tenant, thread_id.hex)
    await asyncio.to_thread(served.threads.delete, thread)
    return Response(status_code=status.HTTP_204_NO_CONTENT)


@threads.get("/threads/{thread_id}/turns", responses=error_responses(404))
async def turns(who: Reader, served: Served, thread_id: UUID) -> list[Reply]:
    """List the answers in a thread, the earliest first: those of POST /ask that named it."""
    thread = await asyncio.to_thread(served.threads.get, who.tenant, thread_id.hex)
    stored = map(_reply_of, await asyncio.to_thread(served.threads.turns, thread))
    return [reply for reply in stored if reply]


def _history(turns: Sequence[Turn]) -> Iterator[Message | Reply]:
    """The latest turns of a thread. A reply that this version cannot read is given as messages, by its text."""
    for turn in turns[-TURNS // 2 :]:
        if reply := _reply_of(turn):
            yield reply
        else:
            yield Message(role="user", content=turn.question)
            yield Message(role="assistant", content=turn.text)


def _reply_of(turn: Turn) -> Reply | None:
    """The stored reply; None if another version stored it in a form that this one cannot read."""
    with suppress(ValidationError):
        return Reply.model_validate_json(turn.reply)
    return None
