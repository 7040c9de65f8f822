"""POST /ask: an answer as JSON, or its stages and words as they come."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Annotated, Any, Self, TypeVar

from fastapi import APIRouter, Header, Request
from fastapi.responses import StreamingResponse
from fastapi.sse import EventSourceResponse, format_sse_event
from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from discorag.generation.views import AnswerView
from discorag.options import AnswerOptions
from discorag.schema.answer import Answer, EvidenceSpan
from discorag.schema.discourse import PlanStep
from discorag.text.citations import steps
from interfaces.http.access import Principal
from interfaces.http.problems import COMMON, RefusedError, error_responses, problem_of
from interfaces.http.service import Asker, Keyed, Served, Service
from interfaces.results import AskResult

router = APIRouter(tags=["questions"], responses=COMMON, route_class=Keyed)
T = TypeVar("T")
GONE = 499
"""Status of a request whose client left; only the log shows it."""

_EXAMPLE: JsonDict = {
    "query": "Does vitamin D prevent flu?",
    "corpus": "vitamin-d",
    "switches": {"retriever": "hybrid"},
}
_Key = Annotated[str, Field(min_length=1, max_length=100)]
_Accepted = Annotated[list[Annotated[str, Field(max_length=1000)]], Field(max_length=100)]
Filters = dict[_Key, _Accepted]


_EVENT = {"type": "object", "properties": {"event": {"type": "string"}, "data": {"type": "string"}}}
STREAM: dict[str, Any] = {"text/event-stream": {"itemSchema": _EVENT}}
"""OpenAPI's content of a response that is a stream."""


class Options(AnswerOptions):
    """Options that differ from the defaults. Values are not converted."""

    model_config = ConfigDict(strict=True)


class Asked(BaseModel):
    """A question."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_EXAMPLE]})

    query: str = Field(min_length=1, max_length=4000, description="The question.")
    instruction: str = Field(default="", max_length=4000, description="How to answer; it is not searched for.")
    corpus: str | None = Field(default=None, min_length=1, max_length=200, description="None: as configured.")
    filters: Filters = Field(default={}, max_length=20, description="Metadata key -> accepted values.")
    switches: Options = Options()


class NumberedAnswer(BaseModel):
    """An answer; ``text`` is its sentences as running text, ``steps`` its plan's.

    ``sources`` are the passages that sentences rest on in the order of first citation, ``citations`` the numbers of
    each sentence's sources, from 1; clients should show these numbers.
    """

    answer: Answer
    text: str
    steps: tuple[PlanStep, ...] = ()
    sources: tuple[EvidenceSpan, ...] = ()
    citations: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def numbered(cls, answer: Answer, **more: Any) -> Self:
        """The answer with its numbers; ``more`` are further fields."""
        view = AnswerView(answer)
        return cls(
            answer=answer,
            text=answer.text,
            steps=steps(answer.plan) if answer.plan else (),
            sources=tuple(view.sources),
            citations=tuple(tuple(view.numbers(sentence)) for sentence in answer.sentences),
            **more,
        )


class Reply(NumberedAnswer, AskResult):
    """The answer with everything that led to it."""

    @classmethod
    def to(cls, result: AskResult) -> Reply:
        """The reply that says this result."""
        return cls.numbered(**{name: getattr(result, name) for name in AskResult.model_fields})


_EVENTS = (
    "Server-sent events if asked for by `Accept: text/event-stream`: `start`, `end` and `failure` of every stage, "
    "`token`s of the draft, `restart` where what was streamed is void, at last `answer` (as in JSON) or `error`. "
    "Before a language model is asked comes `preliminary`: the answer of the sources' own sentences (`answer`, `text`, "
    "`steps`, `sources` and `citations` as in JSON), which stays if the model fails."
)


@router.post(
    "/ask",
    response_model=Reply,
    responses=error_responses(404, 502, 507) | {200: {"description": _EVENTS, "content": STREAM}},
)
async def ask(
    request: Request, asked: Asked, who: Asker, served: Served, accept: Annotated[str, Header()] = "application/json"
) -> Reply | StreamingResponse:
    """Answer a question; every sentence with its sources, and what it cost."""
    served.note(request, asked.query)
    if "text/event-stream" in accept:
        served.check_load()
        return EventSourceResponse(_events(asked, who, served))
    async with served.question():
        result = await unless_gone(request, served.rag.aask(**_arguments(asked, who)))
    await served.record_answer(who, asked.corpus, result)
    return Reply.to(result)


def _arguments(asked: Asked, who: Principal) -> dict[str, Any]:
    own = {"tenant": who.tenant, "corpus": asked.corpus}
    question = {"query": asked.query, "instruction": asked.instruction, "filters": asked.filters}
    return question | asked.switches.model_dump(exclude_unset=True) | own


async def _events(asked: Asked, who: Principal, served: Service) -> AsyncGenerator[bytes]:
    """The run's events as they come; an error ends the stream as an ``error`` event, its status cannot change."""
    end = served.deadline()
    try:
        with served.counted():
            async with aclosing(served.each(served.rag.astream(**_arguments(asked, who)), end)) as parts:
                async for part in parts:
                    if isinstance(part, AskResult):
                        await served.record_answer(who, asked.corpus, part)
                        yield format_sse_event(event="answer", data_str=Reply.to(part).model_dump_json())
                    elif part["event"] == "preliminary":
                        numbered = NumberedAnswer.numbered(Answer.model_validate(part["answer"]))
                        yield format_sse_event(event="preliminary", data_str=numbered.model_dump_json())
                    else:
                        yield format_sse_event(event=str(part["event"]), data_str=json.dumps(part, ensure_ascii=False))
    except Exception as error:  # noqa: BLE001 - whatever it is, the client is told
        _, problem = problem_of(error)
        yield format_sse_event(event="error", data_str=problem.model_dump_json())


async def unless_gone(request: Request, call: Coroutine[Any, Any, T]) -> T:
    """The call's result; it is cancelled when the client leaves: no work is done for an answer that is not read."""
    task, gone = asyncio.create_task(call), asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise RefusedError(GONE, "GoneError", "The client closed the connection.")
        return task.result()
    finally:
        for one in (task, gone):
            one.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
