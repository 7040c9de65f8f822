"""POST /v1/chat/completions: any OpenAI client talks to the pipeline; a model name is a preset.

Of OpenAI's protocol, fields beside those that are declared here are ignored.

A stream brings sentences that have been verified: a chat client cannot take back what it has shown. Comments in the
stream tell which stage is at work.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from time import time
from typing import Annotated, Any, Literal
from uuid import uuid4

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import StreamingResponse
from fastapi.sse import EventSourceResponse, format_sse_event
from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from discorag.generation.chat_turns import Conversation
from discorag.generation.views import answer_markdown
from discorag.schema.errors import NotFoundError, Usage
from graphs.baselines import NEEDS_MODEL, PIPELINES
from interfaces.http.access import Principal, Role
from interfaces.http.ask import STREAM, Reply, unless_gone
from interfaces.http.problems import COMMON, error_responses, problem_of
from interfaces.http.service import Asker, Guard, Keyed, Served, Service
from interfaces.results import AskResult

router = APIRouter(prefix="/v1", tags=["OpenAI"], responses=COMMON, route_class=Keyed)
ALONE = "(There is no language model that could read the conversation: this answers your last message alone.)"
_EXAMPLE: JsonDict = {"model": "disco-rag", "messages": [{"role": "user", "content": "Does vitamin D prevent flu?"}]}


class TextPart(BaseModel):
    """A part of a message; text is the only kind that is read."""

    type: Literal["text"]
    text: str = Field(max_length=100_000)


class Turn(BaseModel):
    """One message of a conversation."""

    role: Literal["system", "developer", "user", "assistant"]
    content: Annotated[str, Field(max_length=100_000)] | Annotated[list[TextPart], Field(max_length=100)] | None = None

    @property
    def text(self) -> str:
        """Its text, of all parts."""
        if self.content is None or isinstance(self.content, str):
            return self.content or ""
        return "\n".join(part.text for part in self.content)


class StreamOptions(BaseModel):
    """What a stream tells beside the answer."""

    model_config = ConfigDict(strict=True)

    include_usage: bool = False


class ChatRequest(BaseModel):
    """A conversation; its last message is the question, messages of ``system`` say how to answer."""

    model_config = ConfigDict(strict=True, json_schema_extra={"examples": [_EXAMPLE]})

    model: str = Field(min_length=1, max_length=100, description="A pipeline: GET /v1/models lists them.")
    messages: list[Turn] = Field(min_length=1, max_length=500)
    stream: bool = False
    stream_options: StreamOptions | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1, le=100_000)
    max_completion_tokens: int | None = Field(default=None, ge=1, le=100_000)
    n: Literal[1] = 1
    corpus: str | None = Field(
        default=None, min_length=1, max_length=200, description="Not OpenAI's: named set of documents."
    )


class ChatUsage(BaseModel):
    """Tokens of all calls of the language model that the answer took; none without one."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: dict[str, int]

    @classmethod
    def of(cls, usage: Usage) -> ChatUsage:
        """OpenAI's form of ours."""
        return cls(
            prompt_tokens=usage.tokens_in,
            completion_tokens=usage.tokens_out,
            total_tokens=usage.tokens_in + usage.tokens_out,
            prompt_tokens_details={"cached_tokens": usage.tokens_cached},
        )


class ChatMessage(BaseModel):
    """The answer: sentences with the numbers of their sources, the sources, and what they disagree about."""

    role: Literal["assistant"] = "assistant"
    content: str


class Choice(BaseModel):
    """The one choice."""

    index: int = 0
    message: ChatMessage
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


class ChatCompletion(BaseModel):
    """A whole reply. ``disco_rag`` is not OpenAI's: the answer as POST /ask gives it."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: ChatUsage
    disco_rag: Reply


class Model(BaseModel):
    """A pipeline that can be asked."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "disco-rag"


class ModelList(BaseModel):
    """The pipelines that can be asked."""

    object: Literal["list"] = "list"
    data: list[Model]


@router.get("/models", dependencies=[Depends(Guard(Role.READ))])
async def models(served: Served) -> ModelList:
    """The pipelines; those that need a language model are listed if there is one."""
    return ModelList(data=[Model(id=name) for name in _offered(served)])


@router.get("/models/{name}", responses=error_responses(404), dependencies=[Depends(Guard(Role.READ))])
async def model(served: Served, name: Annotated[str, Path(max_length=100)]) -> Model:
    """One of them."""
    _preset(name, served)
    return Model(id=name)


@router.post(
    "/chat/completions",
    response_model=ChatCompletion,
    responses=error_responses(404, 502, 507) | {200: {"content": STREAM}},
)
async def chat(request: Request, asked: ChatRequest, who: Asker, served: Served) -> ChatCompletion | StreamingResponse:
    """Answer the last message of a conversation."""
    preset, talk = _preset(asked.model, served), Conversation.of([(t.role, t.text) for t in asked.messages])
    served.note(request, talk.question)
    if asked.stream:
        served.check_load()
        return EventSourceResponse(_stream(asked, talk, preset, who, served))
    async with served.question():
        return await unless_gone(request, _completed(asked, talk, preset, who, served))


async def _completed(
    asked: ChatRequest, talk: Conversation, preset: dict[str, Any], who: Principal, served: Service
) -> ChatCompletion:
    result = await served.rag.aask(**_arguments(asked, talk, preset, who))
    await served.record_answer(who, asked.corpus, result)
    reply = Reply.to(result)
    message = ChatMessage(content="".join(_content(reply, talk, served)))
    return ChatCompletion(
        id=_id(),
        created=int(time()),
        model=asked.model,
        choices=[Choice(message=message)],
        usage=ChatUsage.of(reply.ledger.usage),
        disco_rag=reply,
    )


async def _stream(
    asked: ChatRequest, talk: Conversation, preset: dict[str, Any], who: Principal, served: Service
) -> AsyncGenerator[bytes]:
    end, chunk = served.deadline(), _Chunks(asked.model)
    try:
        with served.counted():
            yield chunk.delta({"role": "assistant", "content": ""})
            stream = served.rag.astream(**_arguments(asked, talk, preset, who))
            async with aclosing(served.each(stream, end)) as parts:
                async for part in parts:
                    if not isinstance(part, AskResult):
                        yield format_sse_event(comment=f"{part['stage']} {part['event']}")
                        continue
                    await served.record_answer(who, asked.corpus, part)
                    reply = Reply.to(part)
                    for piece in _content(reply, talk, served):
                        yield chunk.delta({"content": piece})
                    yield chunk.last(reply)
                    if asked.stream_options and asked.stream_options.include_usage:
                        yield chunk.usage(ChatUsage.of(reply.ledger.usage))
        yield format_sse_event(data_str="[DONE]")
    except Exception as error:  # noqa: BLE001 - whatever it is, the client is told
        _, problem = problem_of(error)
        yield format_sse_event(data_str=problem.model_dump_json())


def _arguments(asked: ChatRequest, talk: Conversation, preset: dict[str, Any], who: Principal) -> dict[str, Any]:
    tokens = asked.max_completion_tokens or asked.max_tokens
    given = {"temperature": asked.temperature, "answer_tokens": max(16, tokens) if tokens else None}
    switches = preset | {name: value for name, value in given.items() if value is not None}
    return switches | {
        "query": talk.question,
        "history": talk.history,
        "instruction": talk.instruction,
        "tenant": who.tenant,
        "corpus": asked.corpus,
    }


def _content(reply: Reply, talk: Conversation, served: Service) -> Iterator[str]:
    """The message in pieces, after a word on the conversation where there is no model that could read it."""
    if talk.history and served.rag.backends.model is None:
        yield f"{ALONE}\n\n"
    yield from answer_markdown(reply.answer)


class _Chunks:
    """Makes the chunks of one streamed reply."""

    def __init__(self, model: str) -> None:
        self._head = {"id": _id(), "object": "chat.completion.chunk", "created": int(time()), "model": model}

    def delta(self, delta: dict[str, str], finish: str | None = None, **more: Any) -> bytes:
        """A piece of the message."""
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return _event({**self._head, "choices": [choice], **more})

    def last(self, reply: Reply) -> bytes:
        """The end of the message, with the answer as POST /ask gives it."""
        return self.delta({}, "stop", disco_rag=reply.model_dump(mode="json"))

    def usage(self, usage: ChatUsage) -> bytes:
        """What it cost."""
        return _event({**self._head, "choices": [], "usage": usage.model_dump()})


def _event(data: dict[str, Any]) -> bytes:
    return format_sse_event(data_str=json.dumps(data, ensure_ascii=False))


def _id() -> str:
    return f"chatcmpl-{uuid4().hex}"


def _offered(served: Service) -> list[str]:
    has_model = served.rag.backends.model is not None
    return [name for name in PIPELINES if has_model or name not in NEEDS_MODEL]


def _preset(name: str, served: Service) -> dict[str, Any]:
    """Raises `NotFoundError`."""
    if name not in _offered(served):
        raise NotFoundError(f"There is no model {name!r}.", hint=f"There are {', '.join(_offered(served))}.")
    return PIPELINES[name]
