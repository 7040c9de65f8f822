"""Endpoints that hang: no call waits longer than the run's deadline."""

import asyncio
from time import perf_counter

import pytest

from discorag.models.deadline import in_time, models_within
from discorag.schema.errors import ModelUnavailableError, RateLimitedError
from tests.models.helpers import gateway, streamed, text_request
from tests.servers.scripted import Scripted, ScriptedServer

HANGS = Scripted("late", delay_s=400)


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
