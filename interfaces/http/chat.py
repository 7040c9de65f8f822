"""POST /v1/chat/completions: any OpenAI client talks to the pipeline; a model name is a preset.

A stream brings sentences that have been verified: a chat client cannot take back what it has shown. Comments in the
stream tell which stage is at work.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from time import time
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import StreamingResponse
from fastapi.sse import EventSourceResponse, format_sse_event

from discorag.generation.answer_view import answer_markdown
from discorag.models.protocol import Message
from discorag.schema.errors import InputError, NotFoundError
from graphs.presets import NEEDS_MODEL, PRESETS
from interfaces.facade import AskResult
from interfaces.http.ask import STREAM, Reply, unless_gone
from interfaces.http.keys import Principal, Role
from interfaces.http.openai_types import ChatCompletion, ChatMessage, ChatRequest, ChatUsage, Choice, Model, ModelList
from interfaces.http.problems import COMMON, documented, problem_of
from interfaces.http.service import Asker, Guard, Keyed, Served, Service

router = APIRouter(prefix="/v1", tags=["OpenAI"], responses=COMMON, route_class=Keyed)
ALONE = "(There is no language model that could read the conversation: this answers your last message alone.)"


@router.get("/models", dependencies=[Depends(Guard(Role.READ))])
async def models(served: Served) -> ModelList:
    """The pipelines; those that need a language model are listed if there is one."""
    return ModelList(data=[Model(id=name) for name in _offered(served)])


@router.get("/models/{name}", responses=documented(404), dependencies=[Depends(Guard(Role.READ))])
async def model(served: Served, name: Annotated[str, Path(max_length=100)]) -> Model:
    """One of them."""
    _preset(name, served)
    return Model(id=name)


@router.post(
    "/chat/completions",
    response_model=ChatCompletion,
    responses=documented(404, 502, 507) | {200: {"content": STREAM}},
)
async def chat(request: Request, asked: ChatRequest, who: Asker, served: Served) -> ChatCompletion | StreamingResponse:
    """Answer the last message of a conversation."""
    preset, talk = _preset(asked.model, served), _Talk.of(asked)
    served.note(request, talk.question)
    if asked.stream:
        await served.questions.check()
        return EventSourceResponse(_stream(asked, talk, preset, who, served))
    async with served.question():
        return await unless_gone(request, _completed(asked, talk, preset, who, served))


@dataclass(frozen=True)
class _Talk:
    """A conversation: how to answer, what was said before, and the question."""

    instruction: str
    history: tuple[Message, ...]
    question: str

    @classmethod
    def of(cls, asked: ChatRequest) -> _Talk:
        """Raises `InputError` if the last message is not the user's, or empty."""
        *before, last = asked.messages
        if last.role != "user" or not last.text.strip():
            raise InputError("The last message is no question.", hint="End the conversation with a message of user.")
        told = [t.text for t in before if t.role in ("system", "developer")]
        said = [Message(role=t.role, content=t.text) for t in before if t.role == "user" or t.role == "assistant"]
        return cls("\n\n".join(told), tuple(said), last.text)


async def _completed(
    asked: ChatRequest, talk: _Talk, preset: dict[str, Any], who: Principal, served: Service
) -> ChatCompletion:
    result = await served.rag.aask(**_arguments(asked, talk, preset, who))
    await served.tell_read(who, asked.corpus, result)
    reply = _reply(result, served)
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
    asked: ChatRequest, talk: _Talk, preset: dict[str, Any], who: Principal, served: Service
) -> AsyncGenerator[bytes]:
    end, chunk = served.deadline(), _Chunks(asked.model)
    try:
        async with served.counted():
            yield chunk.delta({"role": "assistant", "content": ""})
            stream = served.rag.astream(**_arguments(asked, talk, preset, who))
            async with aclosing(served.each(stream, end)) as parts:
                async for part in parts:
                    if not isinstance(part, AskResult):
                        yield _comment(part)
                        continue
                    await served.tell_read(who, asked.corpus, part)
                    reply = _reply(part, served)
                    for piece in _content(reply, talk, served):
                        yield chunk.delta({"content": piece})
                    yield chunk.last(reply)
                    if asked.stream_options and asked.stream_options.include_usage:
                        yield chunk.usage(ChatUsage.of(reply.ledger.usage))
        yield format_sse_event(data_str="[DONE]")
    except Exception as error:  # noqa: BLE001 - whatever it is, the client is told
        _, problem = problem_of(error)
        yield format_sse_event(data_str=problem.model_dump_json())


def _arguments(asked: ChatRequest, talk: _Talk, preset: dict[str, Any], who: Principal) -> dict[str, Any]:
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


def _reply(result: AskResult, served: Service) -> Reply:
    served.meters.observe(result.ledger)
    return Reply.to(result)


def _content(reply: Reply, talk: _Talk, served: Service) -> Iterator[str]:
    """The message in pieces, after a word on the conversation where there is no model that could read it."""
    if talk.history and served.rag.backends.model is None:
        yield f"{ALONE}\n\n"
    yield from answer_markdown(reply.answer)


class _Chunks:
    """Makes the chunks of one streamed reply."""

    def __init__(self, model: str) -> None:
        head = {"id": _id(), "object": "chat.completion.chunk", "created": int(time()), "model": model}
        self._head: dict[str, Any] = head

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


def _comment(event: dict[str, Any]) -> bytes:
    return format_sse_event(comment=f"{event['stage']} {event['event']}")


def _id() -> str:
    return f"chatcmpl-{uuid4().hex}"


def _offered(served: Service) -> list[str]:
    has_model = served.rag.backends.model is not None
    return [name for name in PRESETS if has_model or name not in NEEDS_MODEL]


def _preset(name: str, served: Service) -> dict[str, Any]:
    """Raises `NotFoundError`."""
    if name not in _offered(served):
        raise NotFoundError(f"There is no model {name!r}.", hint=f"There are {', '.join(_offered(served))}.")
    return PRESETS[name]
