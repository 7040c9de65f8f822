"""POST /v1/chat/completions, for OpenAI clients. A model's name is a pipeline, optionally with a corpus:
``disco-rag/papers``.

OpenAI's fields that are not declared here are ignored.

Sentences are streamed when they have been verified, as a chat client cannot take back what it has shown. Comments in
the stream name the stage at work.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from time import time
from typing import Annotated, Any, Literal
from uuid import uuid4

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from fastapi.sse import EventSourceResponse, format_sse_event
from pydantic import BaseModel, Field

from discorag.generation.views import answer_markdown
from discorag.models.protocol import Message
from discorag.schema.errors import InputError, NotFoundError
from graphs.baselines import NEEDS_MODEL, PIPELINES, PRESET_NAMES
from interfaces.http.ask import STREAM, Reply, answer_whole
from interfaces.http.problems import COMMON, Problem, error_responses
from interfaces.http.service import Keyed, Reader, Served, Service, StreamPart
from interfaces.results import AskResult

router = APIRouter(prefix="/v1", tags=["OpenAI"], responses=COMMON, route_class=Keyed)
USUAL = PRESET_NAMES["auto"]
ALONE = "(There is no language model that could read the conversation: this answers your last message alone.)"


class TextPart(BaseModel):
    """A part of a message; other kinds than text are refused."""

    type: Literal["text"]
    text: str = Field(max_length=100_000)


class Turn(BaseModel):
    """One message of a conversation."""

    role: Literal["system", "developer", "user", "assistant"]
    content: Annotated[str, Field(max_length=100_000)] | Annotated[list[TextPart], Field(max_length=100)] | None = None

    @property
    def text(self) -> str:
        """The text of all its parts."""
        if self.content is None or isinstance(self.content, str):
            return self.content or ""
        return "\n".join(part.text for part in self.content)


class ChatRequest(BaseModel, strict=True):
    """A conversation: the last message is the question, ``system`` messages say how to answer."""

    model: str = Field(
        min_length=1, max_length=300, description="A pipeline, or PIPELINE/CORPUS: `GET /v1/models` lists them."
    )
    messages: list[Turn] = Field(min_length=1, max_length=500)
    stream: bool = False
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1, le=100_000)
    max_completion_tokens: int | None = Field(default=None, ge=1, le=100_000)
    n: Literal[1] = 1


@router.get("/models")
async def models(who: Reader, served: Served) -> dict[str, Any]:
    """List the pipelines over the configured corpus, then the default one over each corpus, as OpenAI does.

    Every pipeline answers from every corpus: `PIPELINE/CORPUS`. Those that need a language model are listed if one is
    configured.
    """
    corpora = await asyncio.to_thread(served.rag.corpora, tenant=who.tenant)
    names = [*_pipelines(served), *(f"{USUAL}/{corpus.name}" for corpus in corpora)]
    same = {"object": "model", "created": 0, "owned_by": "disco-rag"}
    return {"object": "list", "data": [{"id": name, **same} for name in names]}


_REPLY = "OpenAI's `chat.completion`, or a stream of its chunks; in `disco_rag` also the answer as `POST /ask` has it."
_SCHEMA: dict[str, Any] = {"application/json": {"schema": {"type": "object"}}}


@router.post(
    "/chat/completions",
    response_model=None,
    responses=error_responses(404, 502, 507) | {200: {"description": _REPLY, "content": _SCHEMA | STREAM}},
)
async def chat(request: Request, body: ChatRequest, who: Reader, served: Served) -> dict[str, Any] | StreamingResponse:
    """Answer the last message of a conversation."""
    preset, corpus = _pipeline(body.model, served)
    arguments = preset | _options(body) | conversation_of(body.messages)
    arguments |= {"tenant": who.tenant, "corpus": corpus}
    is_unread = bool(arguments["history"]) and served.rag.backends.model is None
    if body.stream:
        served.check_load(who)
        return EventSourceResponse(_stream(served.events(who, arguments), body.model, is_unread))
    reply = Reply.to(await answer_whole(request, who, served, arguments))
    message = {"role": "assistant", "content": "".join(_content(reply, is_unread))}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    head, answer = _head("chat.completion", body.model), reply.model_dump(mode="json")
    return {**head, "choices": [choice], "usage": _usage(reply), "disco_rag": answer}


async def _stream(events: AsyncGenerator[StreamPart], model: str, is_unread: bool) -> AsyncGenerator[bytes]:
    head = _head("chat.completion.chunk", model)

    def chunk(delta: dict[str, str], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return _event({**head, "choices": [choice], **more})

    yield chunk({"role": "assistant", "content": ""})
    async with aclosing(events):
        async for event in events:
            match event:
                case Problem():
                    yield _event(event.model_dump())
                    return
                case AskResult():
                    reply = Reply.to(event)
                    for piece in _content(reply, is_unread):
                        yield chunk({"content": piece})
                    yield chunk({}, "stop", usage=_usage(reply), disco_rag=reply.model_dump(mode="json"))
                case _:
                    yield format_sse_event(comment=f"{event['stage']} {event['event']}")
    yield format_sse_event(data_str="[DONE]")


def _head(kind: str, model: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{uuid4().hex}", "object": kind, "created": int(time()), "model": model}


def _usage(reply: Reply) -> dict[str, Any]:
    """Tokens of all calls of the language model for the answer; zero without one."""
    usage = reply.ledger.usage
    return {
        "prompt_tokens": usage.tokens_in,
        "completion_tokens": usage.tokens_out,
        "total_tokens": usage.tokens_in + usage.tokens_out,
        "prompt_tokens_details": {"cached_tokens": usage.tokens_cached},
    }


def conversation_of(turns: Sequence[Turn]) -> dict[str, Any]:
    """The last turn as the question, system and developer turns as instructions, the other turns as history."""
    *before, last = turns
    if last.role != "user" or not last.text.strip():
        raise InputError("The last message is not a question.", hint="End the conversation with a message of the user.")
    history = [Message(role=t.role, content=t.text) for t in before if t.role == "user" or t.role == "assistant"]
    instruction = "\n\n".join(t.text for t in before if t.role in ("system", "developer"))
    return {"query": last.text, "history": history, "instruction": instruction}


def _options(body: ChatRequest) -> dict[str, Any]:
    """The options that OpenAI's fields stand for."""
    tokens = body.max_completion_tokens or body.max_tokens
    options = {"temperature": body.temperature, "answer_tokens": max(16, tokens) if tokens else None}
    return {name: value for name, value in options.items() if value is not None}


def _content(reply: Reply, is_unread: bool) -> Iterator[str]:
    """The message in pieces, after a notice where no language model could read the conversation."""
    if is_unread:
        yield f"{ALONE}\n\n"
    yield from answer_markdown(reply.answer)


def _event(data: dict[str, Any]) -> bytes:
    return format_sse_event(data_str=json.dumps(data, ensure_ascii=False))


def _pipelines(served: Service) -> list[str]:
    has_model = served.rag.backends.model is not None
    return [name for name in PIPELINES if has_model or name not in NEEDS_MODEL]


def _pipeline(model: str, served: Service) -> tuple[dict[str, Any], str | None]:
    """The options and the corpus that a model's name stands for. Raises `NotFoundError`."""
    name, _, corpus = model.partition("/")
    if name not in _pipelines(served):
        hint = f"Known models: {', '.join(_pipelines(served))}; a corpus follows after a slash: {USUAL}/CORPUS."
        raise NotFoundError(f"There is no model {model!r}.", hint=hint)
    return PIPELINES[name], corpus or None
