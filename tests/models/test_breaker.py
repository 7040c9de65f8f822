"""Endpoints that hang or refuse: few wait for them, and no longer than the run's deadline."""

import asyncio
from time import perf_counter
from typing import Any

import pytest

from discorag.config import EncoderSettings
from discorag.models import endpoint
from discorag.models.deadline import in_time, models_within
from discorag.models.gateway import Gateway
from discorag.models.protocol import Reply
from discorag.models.served import ServerEncoder
from discorag.schema.errors import InvalidOutputError, ModelRejectedError, ModelUnavailableError, RateLimitedError
from tests.models.helpers import gateway, streamed, text_request
from tests.servers.scripted import Scripted, ScriptedServer, hashed_vector

HANGS = Scripted("late", delay_s=400)


@pytest.fixture(autouse=True)
def _long_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "PAUSE_S", 3600.0)


async def asked(made: Gateway, calls: int, *, stream: bool = False) -> list[str | BaseException]:
    """What each of so many calls at once gives."""

    async def ask(i: int) -> str:
        request = text_request(str(i))
        reply: Reply[str] = (await streamed(made, request))[1] if stream else await made.complete(request)
        return reply.text

    return await asyncio.gather(*(ask(i) for i in range(calls)), return_exceptions=True)


@pytest.mark.parametrize("stream", [False, True])
async def test_of_twenty_questions_to_an_endpoint_that_hangs_only_the_first_few_wait(stream: bool) -> None:
    with ScriptedServer(lambda body: HANGS) as server:
        made = gateway(server, timeout_s=0.3, retries=0, concurrency=4)
        first = await asked(made, 20, stream=stream)
        again = await asked(made, 20, stream=stream)
    assert all(type(e) is ModelUnavailableError for e in [*first, *again])
    assert len(server.requests) <= 4 + 3  # those that had a slot when the third failed
    assert all("not called until" in str(e) and "UTC" in str(e) and "in time" in str(e) for e in again)


async def test_a_hanging_endpoint_is_found_out_by_the_runs_deadline_too() -> None:
    with ScriptedServer(lambda body: HANGS) as server:
        made, said = gateway(server, timeout_s=400), ""
        while "not called" not in said:  # a call whose time ends before it is sent does not count
            with models_within(0.3), pytest.raises(ModelUnavailableError) as caught:
                await made.complete(text_request())
            said = str(caught.value)
    assert len(server.requests) <= 3


async def test_a_run_without_time_says_nothing_of_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "FAILURES", 1)
    with ScriptedServer(lambda body: "well") as server:
        made = gateway(server)
        with models_within(0), pytest.raises(ModelUnavailableError, match="in time"):
            await made.complete(text_request())
        assert await asked(made, 1) == ["well"]


async def test_after_the_pause_exactly_one_call_tries_and_its_answer_lets_all_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, down = [0.0], True
    monkeypatch.setattr(endpoint, "monotonic", lambda: clock[0])
    monkeypatch.setattr(endpoint, "PAUSE_S", 10.0)

    def model(body: dict[str, Any]) -> Scripted:
        return Scripted("down", status=503) if down else Scripted("well")

    with ScriptedServer(model) as server:
        made = gateway(server, retries=0)
        await asked(made, 3)
        clock[0] = 11
        before = len(server.requests)
        await asked(made, 5)
        assert len(server.requests) == before + 1  # it failed: all wait again
        clock[0], down = 22, False
        tried = await asked(made, 5)
        assert [t for t in tried if isinstance(t, str)] == ["well"]
        assert await asked(made, 5) == ["well"] * 5


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Scripted("no", status=400), ModelRejectedError),
        (Scripted("busy", status=429), RateLimitedError),
        ("", InvalidOutputError),
    ],
)
async def test_a_server_that_refuses_or_answers_nonsense_is_there(
    reply: Scripted | str, error: type[Exception]
) -> None:
    calls = endpoint.FAILURES + 1
    with ScriptedServer(lambda body: reply) as server:
        made = gateway(server, retries=0, concurrency=1)
        assert [type(e) for e in await asked(made, calls)] == [error] * calls


async def test_an_encoders_endpoint_that_fails_is_not_called_either() -> None:
    answers: list[Any] = [[hashed_vector("x")], *[Scripted("down", status=503)] * 5]
    with ScriptedServer(embed=lambda texts: answers.pop(0)) as server:
        settings = EncoderSettings(base_url=server.base_url, model="m", retries=0)
        encoder = await ServerEncoder.connect(settings)
        for said in ("503", "503", "503", "not called", "not called"):
            with pytest.raises(ModelUnavailableError, match=said):
                await encoder.encode_query("Why?")
    assert len(server.embedding_requests) == 4


SOON = 200
"""Seconds: far more than a deadline needs on any machine, far less than what is waited for."""


@pytest.mark.parametrize("reply", [HANGS, Scripted("busy", status=429, headers={"Retry-After": "400"})])
@pytest.mark.parametrize("call", ["complete", "stream"])
async def test_an_endpoint_that_hangs_or_asks_to_wait_is_given_up_at_the_deadline(call: str, reply: Scripted) -> None:
    with ScriptedServer(lambda body: reply) as server:
        made, start = gateway(server, retries=3, timeout_s=400), perf_counter()
        with models_within(0.3), pytest.raises((RateLimitedError, ModelUnavailableError)):
            await (made.complete(text_request()) if call == "complete" else streamed(made, text_request()))
        assert perf_counter() - start < SOON
        assert len(server.requests) <= 1


async def test_calls_that_queue_for_a_slot_fail_at_the_deadline_too() -> None:
    with ScriptedServer(lambda body: HANGS) as server:
        made, start = gateway(server, concurrency=1, timeout_s=400), perf_counter()
        with models_within(0.3):
            done = await asyncio.gather(
                *(made.complete(text_request(str(i))) for i in range(4)), return_exceptions=True
            )
        assert all(isinstance(error, ModelUnavailableError) for error in done)
        assert perf_counter() - start < SOON


async def test_without_a_deadline_and_after_one_nothing_is_cut_short() -> None:
    with models_within(0.01):
        assert in_time().when() is not None
    assert in_time().when() is None
    with ScriptedServer([Scripted("the answer", delay_s=0.2)]) as server:
        assert (await gateway(server).complete(text_request())).text == "the answer"
