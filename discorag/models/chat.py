"""One chat call of an OpenAI-compatible endpoint: bounded, retried, and nothing judged about its text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from langchain_core.messages import AIMessage
from pydantic import SecretStr

from discorag.config import LlmSettings
from discorag.models.breaker import Call, breaker_of
from discorag.models.deadline import each_in_time, in_time
from discorag.models.endpoint import ENDPOINT_ERRORS, Backoff, as_model_error, is_transient
from discorag.models.loops import PerLoop
from discorag.models.protocol import Request
from discorag.schema.errors import Usage

if TYPE_CHECKING:
    from langchain_core.messages import AIMessageChunk
    from langchain_openai import ChatOpenAI
    from openai import AsyncOpenAI

VARIABLES = "DISCO_RAG_LLM"
# Sent where no key is configured, so that OPENAI_API_KEY never goes to somebody else's server.
NO_KEY = SecretStr("none")
CHARACTERS_PER_TOKEN = 16
"""A reply with more characters for each token of its limit is cut off: its server does not keep to ``max_tokens``."""


@dataclass
class Draft:
    """What the model wrote, unjudged; built up piece by piece when streamed.

    Args:
        max_characters: What is longer is cut off, and ``finish_reason`` is ``length``. None: no limit.

    Example:
        >>> from langchain_core.messages import AIMessage
        >>> from discorag.models.chat import Draft
        >>> draft = Draft(max_characters=8)
        >>> draft.add(AIMessage("Tides rise."))
        'Tides ri'
        >>> draft.finish_reason, draft.usage.calls
        ('length', 1)
    """

    text: str = ""
    finish_reason: str = ""
    refusal: str = ""
    usage: Usage = field(default_factory=lambda: Usage(calls=1))
    max_characters: int | None = None
    is_full: bool = False

    def add(self, message: AIMessage) -> str:
        """Append a message, or a chunk of one; return the text that was appended."""
        whole, before = self.text + _encodable(message.text), len(self.text)
        self.text = whole[: self.max_characters]
        self.is_full = self.text != whole
        self.finish_reason = message.response_metadata.get("finish_reason") or self.finish_reason
        if self.is_full:
            self.finish_reason = "length"
        self.refusal = (self.refusal + (message.additional_kwargs.get("refusal") or ""))[: self.max_characters]
        if counts := message.usage_metadata:
            cached = counts.get("input_token_details", {}).get("cache_read") or 0
            self.usage = Usage(
                calls=1, tokens_in=counts["input_tokens"], tokens_out=counts["output_tokens"], tokens_cached=cached
            )
        return self.text[before:]


@dataclass(frozen=True)
class _Lane:
    """What belongs to one event loop."""

    chat: ChatOpenAI
    slots: asyncio.Semaphore


class ChatClient:
    """Sends requests, at most ``settings.concurrency`` at once in an event loop.

    Args:
        settings: Endpoint and limits; ``base_url`` must be set.
        backoff: Retry policy.

    Example:
        >>> from discorag.models.chat import ChatClient
        >>> from discorag.models.protocol import Message, Request
        >>> from discorag.models.endpoint import Backoff
        >>> from discorag.config import LlmSettings
        >>> request = Request(stage="answer", messages=(Message(role="user", content="Why?"),), parse=str)
        >>> asyncio.run(ChatClient(LlmSettings(base_url=llm_url), Backoff()).send(request)).text
        'Tides rise twice a day.'
    """

    def __init__(self, settings: LlmSettings, backoff: Backoff) -> None:
        self._settings = settings
        self._backoff = backoff
        self._breaker = breaker_of(settings.base_url, settings.model, settings.failures, settings.pause_s)
        self._lanes = PerLoop(self._lane)

    async def send(self, request: Request[Any]) -> Draft:
        """One call, waited for as a whole; its limit is ``settings.timeout_s`` from sending to the last byte.

        All attempts, and the wait for a slot, end at the run's deadline if it has one (`discorag.models.deadline`).

        Raises:
            ModelError: Timeout, 429 or 5xx to the end; refused; not an OpenAI-compatible endpoint; or, at once, after
                some calls in a row that nobody answered (`discorag.models.breaker`).
        """
        lane = await self._lanes.get()
        with self._breaker.call() as call:
            try:
                async with in_time():
                    return await self._backoff.attempts()(self._once, lane, request, call)
            except ENDPOINT_ERRORS as error:
                raise as_model_error(error, variables=VARIABLES) from error

    async def stream(self, request: Request[Any]) -> AsyncGenerator[str | Draft, None]:
        """Pieces of text as they come, at last the whole draft. Retried only while nothing has come yet.

        ``settings.timeout_s`` limits each wait for a piece, and the run's deadline the whole. The call's slot is held
        until the iterator ends.

        Raises:
            ModelError: As `send`; with ``usage`` of one call if it broke off after the first piece.
        """
        lane = await self._lanes.get()
        draft = _draft_of(request)
        with self._breaker.call() as call:
            try:
                async for attempt in self._backoff.attempts(lambda e: not draft.text and is_transient(e)):
                    with attempt:
                        async with aclosing(self._pieces(lane, request, draft, call)) as pieces:
                            async for piece in each_in_time(pieces):
                                call.answered()
                                yield piece
            except ENDPOINT_ERRORS as error:
                final = as_model_error(error, variables=VARIABLES)
                final.usage = draft.usage if draft.text else None
                raise final from error
        yield draft

    async def aclose(self) -> None:
        """Close the running loop's connections."""
        if lane := self._lanes.pop():
            client: AsyncOpenAI = lane.chat.root_async_client
            await client.close()

    async def _once(self, lane: _Lane, request: Request[Any], call: Call) -> Draft:
        draft = _draft_of(request)
        async with lane.slots, asyncio.timeout(self._settings.timeout_s):
            call.ask()
            # stream=False: inside LangGraph a callback would otherwise turn this into a streamed call.
            draft.add(await lane.chat.ainvoke(_turns(request), stream=False, **_parameters(request)))
        return draft

    async def _pieces(self, lane: _Lane, request: Request[Any], draft: Draft, call: Call) -> AsyncGenerator[str, None]:
        async with lane.slots:
            call.ask()
            stream = cast("AsyncGenerator[AIMessageChunk]", lane.chat.astream(_turns(request), **_parameters(request)))
            async with aclosing(stream):
                while not draft.is_full and (chunk := await self._next(stream)) is not None:
                    if piece := draft.add(chunk):
                        yield piece

    async def _next(self, stream: AsyncGenerator[AIMessageChunk]) -> AIMessageChunk | None:
        async with asyncio.timeout(self._settings.timeout_s):
            return await anext(stream, None)

    def _lane(self) -> _Lane:
        from langchain_openai import ChatOpenAI
        from openai import DefaultAsyncHttpxClient

        settings = self._settings
        chat = ChatOpenAI(
            model=settings.model,
            base_url=settings.base_url,
            api_key=settings.api_key or NO_KEY,
            timeout=settings.timeout_s,
            # Its own limit is asyncio.wait_for, which before Python 3.12 loses a cancel that meets a chunk.
            stream_chunk_timeout=None,
            max_retries=0,
            stream_usage=True,
            use_responses_api=False,
            cache=False,
            # Its own default client is shared between event loops and fails in the second.
            http_async_client=DefaultAsyncHttpxClient(timeout=settings.timeout_s),
        )
        return _Lane(chat, asyncio.Semaphore(settings.concurrency))


def _draft_of(request: Request[Any]) -> Draft:
    return Draft(max_characters=CHARACTERS_PER_TOKEN * request.max_tokens)


def _encodable(text: str) -> str:
    """``text`` with "?" for lone surrogates, which JSON can write and nothing can store."""
    return text.encode("utf-8", "replace").decode()


def _turns(request: Request[Any]) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in request.messages]


def _parameters(request: Request[Any]) -> dict[str, Any]:
    body: dict[str, Any] = {}
    if request.beam_width > 1:
        body = {"use_beam_search": True, "n": request.beam_width}
    elif request.schema is not None:
        # In extra_body, because as an argument the client would parse the output itself and raise when it is cut off.
        schema = {"name": request.stage, "schema": request.schema, "strict": True}
        body = {"response_format": {"type": "json_schema", "json_schema": schema}}
    return {"max_tokens": request.max_tokens, "temperature": request.temperature, "extra_body": body}
