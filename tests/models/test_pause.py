"""Model servers that fail, fall silent or never stop: none of them is waited for, or read, without an end."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from discorag.config import LlmSettings
from discorag.models.chat import ChatClient
from discorag.models.deadline import models_within
from discorag.models.gateway import Gateway
from discorag.models.pause import Pause
from discorag.models.providers import own_model
from discorag.schema.errors import ModelRejectedError, ModelUnavailableError
from tests.models.helpers import gateway, streamed, text_request
from tests.servers.scripted import Scripted, ScriptedServer

LONG_S = 400
SOON_S = 60


class Clock:
    """Goes on by ``step`` seconds each time that it is read."""

    def __init__(self, step: float = 0.0) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def paused_by(server: ScriptedServer, clock: Callable[[], float]) -> tuple[Gateway, Pause]:
    """A gateway that pauses the server after three failures, for ten seconds of this clock."""
    settings = LlmSettings(base_url=server.base_url, model="scripted", cache=None, retries=0, timeout_s=LONG_S)
    chat = ChatClient(settings)
    chat.pause = Pause(3, 10, clock)
    return Gateway(settings, chat=chat), chat.pause


async def fails(made: Gateway) -> str:
    with models_within(LONG_S), pytest.raises(ModelUnavailableError) as error:
        await made.complete(text_request())
    return error.value.message


async def test_after_failures_in_a_row_nothing_is_sent_until_a_test_call_is_answered() -> None:
    clock, is_down = Clock(), True
    with ScriptedServer(lambda _: Scripted("down", status=500) if is_down else "yes") as server:
        made, pause = paused_by(server, clock)
        for sent in (1, 2, 3):
            assert "down" in await fails(made)
            assert len(server.requests) == sent
        assert "is not asked" in await fails(made)
        assert len(server.requests) == 3
        is_down = False
        clock.now = 9.0
        assert "is not asked" in await fails(made)
        assert len(server.requests) == 3
        clock.now = 10.0
        assert "is not asked" in await fails(made)  # this question does not wait for the test call
        while pause.is_on:
            await asyncio.sleep(0.01)
        assert server.requests[3]["messages"][0]["content"] == "Say yes."
        with models_within(LONG_S):
            assert (await made.complete(text_request())).value == "yes"


async def test_a_call_that_timed_out_is_enough_and_one_that_is_answered_begins_a_new_row() -> None:
    replies = iter([Scripted("down", status=500), "yes", Scripted("down", status=500), Scripted(delay_s=LONG_S)])
    with ScriptedServer(lambda _: next(replies)) as server:
        made, pause = paused_by(server, Clock(step=1))
        await fails(made)
        assert (await made.complete(text_request())).value == "yes"
        await fails(made)
        assert not pause.is_on
        with models_within(0.3), pytest.raises(ModelUnavailableError, match="in time"):
            await made.complete(text_request())
        assert pause.is_on


@pytest.mark.parametrize("left_s", [0.3, 0])
async def test_a_call_for_which_its_question_has_little_time_left_says_nothing_about_the_server(left_s: float) -> None:
    with ScriptedServer(lambda _: Scripted(delay_s=LONG_S)) as server:
        made, pause = paused_by(server, Clock())
        for _ in range(3):
            with models_within(left_s), pytest.raises(ModelUnavailableError, match="in time"):
                await made.complete(text_request())
        assert not pause.is_on


async def test_a_reply_that_comes_until_the_deadline_says_nothing_about_the_server() -> None:
    clock = Clock()
    with ScriptedServer(lambda _: Scripted("The first piece, and more.", pause_s=LONG_S)) as server:
        made, pause = paused_by(server, clock)
        with models_within(LONG_S):
            parts = made.stream(text_request())
            assert await anext(aiter(parts)) == "The firs"
            clock.now = 1.0
            with models_within(0.3, setting="LIMIT"), pytest.raises(ModelUnavailableError, match="in time"):
                await anext(aiter(parts))
        assert not pause.is_on


@pytest.mark.parametrize(
    "answer",
    [
        Scripted("Could not finish the message: max_tokens was reached.", status=400),
        Scripted("This model's maximum context length is 8 tokens.", status=400),
        Scripted("no such model", status=404),
    ],
)
async def test_a_refused_test_call_is_an_answer_and_asks_for_no_temperature(answer: Scripted) -> None:
    clock, reply = Clock(), Scripted("down", status=500)
    with ScriptedServer(lambda _: reply) as server:
        made, pause = paused_by(server, clock)
        for _ in range(3):
            await fails(made)
        clock.now, reply = 10.0, answer
        await fails(made)
        async with asyncio.timeout(SOON_S):
            while pause.is_on:
                await asyncio.sleep(0.01)
        assert "temperature" not in server.requests[3]


async def test_calls_without_a_deadline_are_always_sent() -> None:
    with ScriptedServer(lambda _: Scripted("down", status=500)) as server:
        made, _ = paused_by(server, Clock())
        for sent in range(1, 6):
            with pytest.raises(ModelUnavailableError, match="down"):
                await made.complete(text_request())
            assert len(server.requests) == sent


async def test_a_stream_that_falls_silent_is_given_up() -> None:
    with ScriptedServer(lambda _: Scripted("The first piece, and more.", pause_s=LONG_S)) as server:
        made = gateway(server, silence_s=0.2, timeout_s=LONG_S)
        with pytest.raises(ModelUnavailableError) as error:
            await streamed(made, text_request())
    assert "DISCO_RAG_LLM__SILENCE_S" in error.value.hint
    assert len(server.requests) == 1


class Slow(BaseChatModel):
    """Opens its reply with an empty piece or with thinking, and waits before it speaks."""

    opens: AIMessageChunk

    @property
    def _llm_type(self) -> str:
        return "slow"

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError

    async def _astream(self, *_: Any, **__: Any) -> AsyncIterator[ChatGenerationChunk]:
        yield ChatGenerationChunk(message=self.opens)
        await asyncio.sleep(1)
        yield ChatGenerationChunk(message=AIMessageChunk(content="yes"))


def slow(opens: AIMessageChunk) -> Gateway:
    settings = LlmSettings(model="slow", cache=None, silence_s=0.5)
    return Gateway(settings, chat=ChatClient(settings, own_model(Slow(opens=opens), settings.context_tokens)))


async def test_a_model_that_opens_its_stream_and_then_waits_or_thinks_is_not_silent() -> None:
    assert (await streamed(slow(AIMessageChunk(content="")), text_request()))[1].value == "yes"


async def test_a_model_that_falls_silent_while_it_thinks_is_given_up() -> None:
    thinking = AIMessageChunk(content="", additional_kwargs={"reasoning_content": "Well,"})
    with pytest.raises(ModelUnavailableError, match="nothing came"):
        await streamed(slow(thinking), text_request())


@pytest.mark.parametrize("is_streamed", [False, True])
async def test_a_reply_is_read_up_to_its_limit_only(is_streamed: bool) -> None:
    body = '{"choices": [{"message": {"content": "' + "x" * 3_000_000
    with ScriptedServer(lambda _: Scripted(raw=body, headers={"Content-Type": "application/json"})) as server:
        made = gateway(server, reply_mb=1, retries=0)
        with pytest.raises(ModelRejectedError, match="more than 1 MB") as error:
            await (streamed(made, text_request()) if is_streamed else made.complete(text_request()))
    assert "DISCO_RAG_LLM__REPLY_MB" in error.value.hint


class Compressing(ScriptedServer):
    """Compresses its replies if that is asked for, or always."""

    def __init__(self, *, always: bool) -> None:
        super().__init__(lambda _: "yes")
        self._always = always

    async def _chat(self, request: HttpRequest) -> Response:
        response = await super()._chat(request)
        if self._always or "gzip" in request.headers["Accept-Encoding"]:
            body = gzip.compress(bytes(response.body))
            return Response(body, headers={"Content-Encoding": "gzip"}, media_type="application/json")
        return response


async def test_no_compression_is_asked_for_and_a_compressed_reply_is_not_read() -> None:
    with Compressing(always=False) as server:
        assert (await gateway(server).complete(text_request())).value == "yes"
    with Compressing(always=True) as server, pytest.raises(ModelRejectedError, match="compressed") as error:
        await gateway(server, retries=0).complete(text_request())
    assert "proxy" in error.value.hint
