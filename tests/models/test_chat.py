"""Failing endpoints, concurrency, event loops and streams, against a real HTTP server on loopback."""

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import pytest

from discorag.models.chat import CHARACTERS_PER_TOKEN
from discorag.models.protocol import Reply
from discorag.schema.errors import (
    ContextTooLongError,
    ModelError,
    ModelRejectedError,
    ModelUnavailableError,
    RateLimitedError,
    Usage,
)
from tests.models.helpers import GOOD, gateway, streamed, text_request
from tests.servers.scripted import Scripted, ScriptedServer

SOON = {"Retry-After": "0.01"}


@pytest.mark.parametrize("status", [408, 429, 503])
async def test_passing_failure_is_retried_and_costs_no_tokens(status: int) -> None:
    with ScriptedServer([Scripted("later", status=status, headers=SOON), "ok"]) as server:
        reply = await gateway(server).complete(text_request())
    assert reply.value == "ok"
    assert reply.usage.calls == 1
    assert len(server.requests) == 2


@pytest.mark.parametrize(("status", "kind"), [(500, ModelUnavailableError), (429, RateLimitedError)])
async def test_lasting_failure_is_typed_after_the_configured_attempts(status: int, kind: type[ModelError]) -> None:
    with (
        ScriptedServer(lambda body: Scripted("down for good", status=status, headers=SOON)) as server,
        pytest.raises(kind, match="down for good"),
    ):
        await gateway(server).complete(text_request())
    assert len(server.requests) == 3


@pytest.mark.parametrize(("status", "hint"), [(400, "supports"), (401, "__API_KEY"), (404, "DISCO_RAG_MODEL")])
async def test_refusal_is_not_retried_and_says_what_to_check(status: int, hint: str) -> None:
    with (
        ScriptedServer(lambda body: Scripted("no", status=status)) as server,
        pytest.raises(ModelRejectedError) as caught,
    ):
        await gateway(server).complete(text_request())
    assert len(server.requests) == 1
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 2048 tokens. However, you requested 3000 tokens.",
        "the request exceeds the available context size, try increasing it",
        "The decoder prompt (length 3000) is longer than the maximum model length of 2048.",
        "context_length_exceeded",
    ],
)
async def test_servers_context_limit_is_recognised(said: str) -> None:
    with ScriptedServer([Scripted(said, status=400)]) as server, pytest.raises(ContextTooLongError):
        await gateway(server).complete(text_request())


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ("<html>hello</html>", "text/html"),
        ('{"error": "no such thing"}', "application/json"),
        ('{"choices": null}', "application/json"),
        ('{"choices": [', "application/json"),
    ],
)
async def test_server_that_speaks_something_else_is_rejected_with_a_hint(raw: str, kind: str) -> None:
    with (
        ScriptedServer([Scripted(raw=raw, headers={"Content-Type": kind})]) as server,
        pytest.raises(ModelRejectedError, match="/v1"),
    ):
        await gateway(server).complete(text_request())


async def test_prompt_that_cannot_fit_is_not_sent() -> None:
    with ScriptedServer(["x"]) as server:
        made = gateway(server, context_tokens=2048)
        with pytest.raises(ContextTooLongError, match="answer"):
            await made.complete(text_request("several words here " * 500, max_tokens=1024))
        with pytest.raises(ContextTooLongError):
            await streamed(made, text_request("several words here " * 500, max_tokens=1024))
        assert server.requests == []
        await made.complete(text_request("several words here " * 200, max_tokens=1024))


async def test_requests_under_way_never_exceed_the_limit() -> None:
    with ScriptedServer(lambda body: Scripted("x", delay_s=0.05)) as server:
        made = gateway(server, concurrency=3)
        await asyncio.gather(*(made.complete(text_request(str(i))) for i in range(12)))
    assert len(server.requests) == 12
    assert server.peak == 3


def test_one_gateway_serves_several_event_loops_one_after_the_other() -> None:
    with ScriptedServer(lambda body: Scripted("x", delay_s=0.01)) as server:
        made = gateway(server, concurrency=2, retries=0)

        async def several() -> list[Reply[str]]:
            return await asyncio.gather(*(made.complete(text_request(str(i))) for i in range(5)))

        for _ in range(3):
            assert len(asyncio.run(several())) == 5


LONG = "The answer is long enough for several pieces, with ünïcödé 世界."


async def test_streamed_pieces_join_to_the_reply_and_tokens_are_counted() -> None:
    with ScriptedServer([LONG]) as server:
        pieces, reply = await streamed(gateway(server), text_request())
    assert len(pieces) > 3
    assert "".join(pieces) == reply.text == reply.value == LONG
    assert reply.usage.calls == 1
    assert reply.usage.tokens_out == len(LONG) // 4
    assert server.requests[0]["stream"] is True


async def test_stream_is_retried_before_its_first_token() -> None:
    with ScriptedServer([Scripted("later", status=503, headers=SOON), LONG]) as server:
        pieces, _ = await streamed(gateway(server), text_request())
    assert "".join(pieces) == LONG


async def test_stream_that_breaks_after_its_first_token_is_not_sent_again() -> None:
    with ScriptedServer([Scripted(LONG, break_after=2), LONG]) as server:
        parts = gateway(server).stream(text_request())
        got = [await anext(parts), await anext(parts)]
        with pytest.raises(ModelUnavailableError) as caught:
            await anext(parts)
    assert got == [LONG[:8], LONG[8:16]]
    assert len(server.requests) == 1
    assert caught.value.usage == Usage(calls=1)


def refuse_long(text: str) -> str:
    if len(text) > 20:
        raise ValueError("more than 20 characters")
    return text


@pytest.mark.parametrize("bad", [Scripted(LONG), Scripted("cut", finish_reason="length"), Scripted("")])
async def test_bad_streamed_output_is_repaired_unstreamed(bad: Scripted) -> None:
    with ScriptedServer([bad, "short"]) as server:
        pieces, reply = await streamed(gateway(server), text_request(parse=refuse_long))
    assert "".join(pieces) == bad.text
    assert reply.text == "short"
    assert (reply.usage.calls, reply.usage.repairs) == (2, 1)
    assert not server.requests[1].get("stream")


async def test_streamed_reply_is_cached_and_comes_back_as_one_piece(tmp_path: Path) -> None:
    with ScriptedServer([LONG]) as server:
        made = gateway(server, cache=tmp_path)
        await streamed(made, text_request())
        pieces, reply = await streamed(made, text_request())
    assert pieces == [LONG]
    assert reply.usage == Usage(disk_hits=1)


async def test_abandoned_stream_frees_its_slot() -> None:
    with ScriptedServer(lambda body: LONG) as server:
        made = gateway(server, concurrency=1)
        stream = made.stream(text_request())
        assert await anext(stream)
        await cast(Any, stream).aclose()
        async with asyncio.timeout(3):
            assert (await made.complete(text_request())).value == LONG


async def test_call_inside_a_streamed_langgraph_run_is_not_turned_into_a_stream() -> None:
    from langgraph.graph import END, START, StateGraph
    from typing_extensions import TypedDict

    class State(TypedDict):
        text: str

    with ScriptedServer(lambda body: GOOD) as server:
        made = gateway(server)

        async def node(state: State) -> State:
            return {"text": (await made.complete(text_request(beam_width=2))).text}

        graph = StateGraph(State).add_node("n", node).add_edge(START, "n").add_edge("n", END).compile()  # pyright: ignore[reportUnknownMemberType]
        async for _ in graph.astream({"text": ""}, stream_mode="messages"):  # pyright: ignore[reportUnknownMemberType]
            pass
    assert not server.requests[0].get("stream")


async def test_a_reply_from_the_cache_is_a_message_of_a_streamed_langgraph_run(tmp_path: Path) -> None:
    from langgraph.graph import END, START, StateGraph
    from typing_extensions import TypedDict

    class State(TypedDict):
        text: str

    with ScriptedServer([GOOD]) as server:
        made = gateway(server, cache=tmp_path)

        async def node(state: State) -> State:
            return {"text": (await made.complete(text_request())).text}

        graph = StateGraph(State).add_node("n", node).add_edge(START, "n").add_edge("n", END).compile()  # pyright: ignore[reportUnknownMemberType]
        shown = [
            "".join([message.text async for message, _ in graph.astream({"text": ""}, stream_mode="messages")])  # pyright: ignore
            for _ in range(2)
        ]
    assert shown == [GOOD, GOOD]
    assert len(server.requests) == 1


@pytest.mark.parametrize("stream", [True, False])
async def test_a_reply_that_is_much_longer_than_its_limit_is_cut_off(stream: bool) -> None:
    request = text_request(max_tokens=10, cut=str)
    with ScriptedServer(lambda _: "Tides rise. " * 20_000) as server:
        made = gateway(server)
        reply = (await streamed(made, request))[1] if stream else await made.complete(request)
        while server.streaming:
            await asyncio.sleep(0.01)
    assert reply.cut
    assert reply.text == ("Tides rise. " * 20)[: 10 * CHARACTERS_PER_TOKEN]


async def test_half_a_character_from_the_model_can_be_stored(tmp_path: Path) -> None:
    message = {"role": "assistant", "content": "Tides \ud83d"}
    raw = json.dumps({"id": "1", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]})
    with ScriptedServer([Scripted(raw=raw, headers={"Content-Type": "application/json"})]) as server:
        made = gateway(server, cache=tmp_path)
        assert [(await made.complete(text_request())).text for _ in range(2)] == ["Tides ?"] * 2
