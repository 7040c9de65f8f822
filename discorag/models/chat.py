"""Calls of a chat model, limited in number, time and length of the output. The text is not checked here."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager, suppress
from contextvars import Context
from dataclasses import dataclass, field, replace
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from discorag.config import LlmSettings
from discorag.models.deadline import each_in_time, in_time, is_limited
from discorag.models.endpoint import typed_errors
from discorag.models.loops import PerLoop
from discorag.models.pause import Pause
from discorag.models.protocol import Message, Request
from discorag.models.providers import VARIABLES, Connection, connect
from discorag.schema.errors import (
    ContextTooLongError,
    ModelError,
    ModelRejectedError,
    ModelUnavailableError,
    RateLimitedError,
    Usage,
)
from discorag.text.thinking import Spoken

CHARACTERS_PER_TOKEN = 16
"""A reply with more characters for each token of its limit is cut off: its server does not keep to ``max_tokens``."""
THINKING_TOKENS = 4096
"""Added to the output's limit, as far as the context allows, for a model that thinks: that counts as output."""
_FEWEST_CHARACTERS = 3
"""Characters of a prompt for each of its tokens, at least, when the room for thinking is estimated."""
_REASONS = {"max_tokens": "length"} | dict.fromkeys(("end_turn", "stop_sequence", "complete", "eos_token"), "stop")
"""Why a model stopped, as providers other than OpenAI name it."""


@dataclass
class Draft:
    """The unchecked output of a model without its thinking; it grows piece by piece while it is streamed.

    Args:
        spoken: Tells text from thinking.
        max_characters: Longer output is cut off, and ``finish_reason`` is ``length``. None: no limit.
        thinks: Whether the model has shown that it thinks.
        characters: How many have come, including those of the thinking.
    """

    spoken: Spoken = field(default_factory=Spoken)
    finish_reason: str = ""
    refusal: str = ""
    usage: Usage = field(default_factory=lambda: Usage(calls=1))
    max_characters: int | None = None
    is_full: bool = False
    thinks: bool = False
    characters: int = 0

    @property
    def text(self) -> str:
        """The text so far."""
        return self.spoken.text

    def add(self, message: AIMessage) -> str:
        """Append a message, or a chunk of one; return the text that was appended."""
        encodable = message.text.encode("utf-8", "replace").decode()  # JSON may hold lone surrogates, no store can
        room = None if self.max_characters is None else self.max_characters - self.characters
        taken = encodable[:room]
        self.characters += len(taken)
        self.is_full = taken != encodable
        self.finish_reason = "length" if self.is_full else _finish_reason(message) or self.finish_reason
        self.refusal = (self.refusal + (message.additional_kwargs.get("refusal") or ""))[: self.max_characters]
        self.thinks = self.thinks or bool(message.additional_kwargs.get("reasoning_content"))
        if counts := message.usage_metadata:
            cached = counts.get("input_token_details", {}).get("cache_read") or 0
            self.thinks = self.thinks or bool(counts.get("output_token_details", {}).get("reasoning"))
            self.usage = Usage(
                calls=1, tokens_in=counts["input_tokens"], tokens_out=counts["output_tokens"], tokens_cached=cached
            )
        return self.spoken.push(taken)

    def end(self) -> str:
        """Declare the output complete; return the text that was held back.

        An empty output that reached its limit has been thinking.
        """
        is_cut = self.finish_reason == "length"
        said = self.spoken.end(is_cut=is_cut)
        self.thinks = self.thinks or self.spoken.has_thought or (is_cut and not self.text.strip())
        return said


class ChatClient:
    """Sends requests to a chat model of LangChain, at most ``settings.concurrency`` at once in an event loop.

    What the model refuses (a temperature, a schema, beam search) is left out from then on: ``refused`` says what is
    sent instead. Refused beam search is counted in the usage of each call. Once a reply holds thinking, or its limit
    was spent on it, later calls have `THINKING_TOKENS` more. Where calls have a deadline, a server that fails is not
    asked for a while: ``pause``.

    Args:
        settings: Model and limits.
        connection: A chat model to call instead of the configured one.
    """

    def __init__(self, settings: LlmSettings, connection: Connection | None = None) -> None:
        self._connections = PerLoop(lambda: connection or connect(settings))
        self._slots = PerLoop(lambda: asyncio.Semaphore(settings.concurrency))
        self._settings, self._tests = settings, set[asyncio.Task[None]]()
        self.pause = Pause(settings.failures, settings.pause_s)
        self.refused: dict[str, Any] = {}
        self._thinks = False
        self._only_closes = False  # thinking has no opening tag, so that text cannot be told from it before its end

    async def context_tokens(self) -> int:
        """The most tokens of prompt and output together. Raises `ModelError` if the server is asked and fails."""
        return (await self._connection()).context_tokens

    async def send(self, request: Request[Any]) -> Draft:
        """Make one call and return its whole output. Raises as `stream`."""
        async with aclosing(self.stream(request, in_pieces=False)) as parts:
            return [part async for part in parts if isinstance(part, Draft)][-1]

    async def stream(self, request: Request[Any], *, in_pieces: bool = True) -> AsyncGenerator[str | Draft, None]:
        """Pieces of text as they come, or (always under beam search) all in one; at last the whole draft.

        The pieces leave out thinking. If the draft's text differs from the joined pieces, they held thinking that only
        its closing tag revealed: show the text instead of them.

        ``settings.timeout_s`` limits the wait for each piece, ``silence_s`` that after the first text or thinking,
        ``reply_mb`` what is read, and the run's deadline (`discorag.models.deadline`) the whole. The call's slot is
        held until the iterator ends.

        Raises:
            ModelError: As `Endpoint.call`; with ``usage`` of one call if it broke off after the first piece.
            ConfigError: The provider is unknown.
        """
        async with self._slot() as connection:
            refused = dict(self.refused)
            draft = Draft(spoken=Spoken(expects_close=self._only_closes))
            while True:
                sent = self._with_room(replace(request, **refused), connection)
                draft.max_characters = CHARACTERS_PER_TOKEN * sent.max_tokens
                try:
                    with self.pause.counted(), typed_errors(VARIABLES):
                        reply = _messages(connection, sent, in_pieces)
                        async with aclosing(each_in_time(reply, self._settings.silence_s, _speaks)) as messages:
                            async for message in messages:
                                if piece := draft.add(message):
                                    yield piece
                                self.pause.heard()
                                if draft.is_full:
                                    break
                    break
                except ModelError as error:
                    if draft.characters:
                        error.usage = draft.usage  # what was paid
                        raise
                    refused |= _refusal(sent, error)
            self.pause.end()
            self.refused |= refused
            draft.usage += Usage(beams_refused=int(sent.beam_width < request.beam_width))
            if not connection.says_why_it_ends:
                draft.finish_reason = draft.finish_reason or "stop"
            if piece := draft.end():
                yield piece
            self._thinks = self._thinks or draft.thinks
            self._only_closes = self._only_closes or draft.spoken.closed_alone
            yield draft

    def _with_room(self, request: Request[Any], connection: Connection) -> Request[Any]:
        """The request; with room for thinking if the model thinks, or takes no temperature, which is a sign of it."""
        if not self._thinks and request.temperature is not None:
            return request
        prompt = sum(len(m.content) for m in request.messages) // _FEWEST_CHARACTERS
        room = connection.context_tokens - prompt - request.max_tokens
        return replace(request, max_tokens=request.max_tokens + max(0, min(THINKING_TOKENS, room)))

    @asynccontextmanager
    async def _slot(self) -> AsyncGenerator[Connection]:
        """The running loop's connection, while one of its ``settings.concurrency`` slots is held.

        Raises `ModelUnavailableError` while the server is paused.
        """
        connection, slots = await self._connection(), await self._slots.get()
        with typed_errors(VARIABLES):
            async with in_time():
                await slots.acquire()
        try:
            yield connection
        finally:
            slots.release()

    async def _connection(self) -> Connection:
        if is_limited() and self.pause.is_on:
            if self.pause.takes_test():
                test = asyncio.create_task(self._test(), context=Context())  # no deadline, no callbacks
                self._tests.add(test)
                test.add_done_callback(self._tests.discard)
            self.pause.check()
        with self.pause.counted(), typed_errors(VARIABLES):
            async with in_time():
                return await self._connections.get()

    async def _test(self) -> None:
        """Ask a paused server for a word; if it answers, be it with a refusal, the pause ends."""
        asked = (Message(role="user", content="Say yes."),)
        request = Request(stage="test", messages=asked, parse=str, max_tokens=16, temperature=None)
        with suppress(ModelUnavailableError, RateLimitedError):
            with suppress(ModelRejectedError, ContextTooLongError), typed_errors(VARIABLES):
                async with asyncio.timeout(self._settings.timeout_s):
                    connection = await self._connections.get()
                    await connection.chat.ainvoke(_turns(request), **connection.parameters(request, False))
            self.pause.end()


async def _messages(connection: Connection, request: Request[Any], in_pieces: bool) -> AsyncGenerator[AIMessage, None]:
    """The reply: chunks, or one message."""
    turns = _turns(request)
    streamed = in_pieces and request.beam_width == 1
    parameters = connection.parameters(request, streamed)
    if not streamed:
        yield await connection.chat.ainvoke(turns, **parameters)
        return
    stream = connection.chat.astream(turns, **parameters)
    async with aclosing(cast("AsyncGenerator[AIMessage]", stream)) as chunks:
        async for chunk in chunks:
            yield chunk


def _speaks(message: AIMessage) -> bool:
    """Whether it holds text or thinking: a stream may open with a role alone, while the model thinks or waits."""
    return bool(message.content or message.additional_kwargs.get("reasoning_content"))


def _turns(request: Request[Any]) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in request.messages]


class _Stored(BaseChatModel):
    """A chat model whose reply is known."""

    reply: str

    @property
    def _llm_type(self) -> str:
        return "stored"

    def _generate(self, messages: list[BaseMessage], *_: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self.reply))])

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **kwargs: Any) -> ChatResult:
        return self._generate(messages)


async def show_stored(request: Request[Any], reply: str) -> None:
    """Report a reply that is taken from the cache to LangChain's callbacks: LangGraph streams it as a message."""
    await _Stored(reply=reply).ainvoke(_turns(request))


def _refusal(request: Request[Any], error: ModelError) -> dict[str, Any]:
    """The parameter that the server's message names, and what to send instead. Raises ``error`` if it names none.

    Beam search is left out whatever the message says: if the reason was another one, the next call raises it again.
    """
    said = error.message.lower()
    if isinstance(error, ModelRejectedError):
        if request.temperature is not None and "temperature" in said:
            return {"temperature": None}
        if request.schema is not None and ("schema" in said or "response_format" in said):
            return {"schema": None}
        if request.beam_width > 1:
            return {"beam_width": 1}
    raise error


def _finish_reason(message: AIMessage) -> str:
    reasons = (message.response_metadata.get(key) for key in ("finish_reason", "stop_reason", "done_reason"))
    reason = next((str(r).lower() for r in reasons if r), "")
    return _REASONS.get(reason, reason)
