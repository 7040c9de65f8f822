"""Our gateway against a real vLLM. A model of 135 million parameters writes nonsense: not quality is tested here."""

import asyncio
import re
import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, cast

import pytest

from discorag.answering.correct import corrections_schema
from discorag.answering.statements import merge_schema, statements_schema
from discorag.config import LlmSettings
from discorag.models.chat import ChatClient
from discorag.models.gateway import Gateway
from discorag.models.protocol import Message, Request
from discorag.schema.errors import ContextTooLongError, ModelError, ModelRejectedError
from tests.models.helpers import Fruit, fruit_request, messages, text_request
from tests.vllm.server import BLOCK, CONTEXT_TOKENS, VllmServer

ONLY_FIG = {
    "type": "object",
    "properties": {"name": {"enum": ["fig"]}, "count": {"enum": [7]}},
    "required": ["name", "count"],
    "additionalProperties": False,
}
ENDLESS = {"type": "string", "minLength": 6000, "maxLength": 8000}


async def test_beams_are_accepted_and_what_they_write_without_the_schema_is_caught(gateway: Gateway) -> None:
    reply = await gateway.complete(fruit_request(schema=ONLY_FIG, max_tokens=40, beam_width=2))
    assert reply.value == Fruit(name="fig", count=7)
    assert (reply.usage.calls, reply.usage.repairs, reply.usage.beams_refused) == (2, 1, 0)


@pytest.mark.parametrize(
    "schema", [statements_schema(3), merge_schema(4), corrections_schema(2)], ids=["statements", "merge", "corrections"]
)
async def test_our_schemas_are_accepted_and_kept(llm: LlmSettings, schema: dict[str, Any]) -> None:
    client = ChatClient(llm)
    draft = await client.send(text_request("Write the JSON object.", schema=schema, max_tokens=48))
    first = next(iter(schema["properties"]))
    assert re.match(rf'\s*\{{\s*"{first}"\s*:\s*\[', draft.text)
    assert client.refused == {}


async def test_tokens_taken_from_the_prefix_cache_are_the_whole_blocks_of_the_turn_before(
    gateway: Gateway, chat: VllmServer
) -> None:
    first = messages(f"{uuid.uuid4()} " + "Bees dance, and the others fly where the dance points. " * 60)
    ok = await gateway.complete(Request(stage="a", messages=first, parse=str, schema={"enum": ["ok"]}, max_tokens=20))
    then = (*first, Message(role="assistant", content=ok.text), Message(role="user", content="And now?"))
    reply = await gateway.complete(Request(stage="b", messages=then, parse=str, schema={"enum": ["ok"]}, max_tokens=20))
    held = ok.usage.tokens_in + ok.usage.tokens_out - 1  # the last token was sampled and never read
    assert reply.usage.tokens_cached == held // BLOCK * BLOCK > 4 * BLOCK


@pytest.mark.parametrize(
    ("changed", "question", "max_tokens", "error", "says"),
    [
        ({"model": "nobody"}, "Who?", 10, ModelRejectedError, "DISCO_RAG_MODEL"),
        ({}, "a b " * CONTEXT_TOKENS, 10, ContextTooLongError, "too long"),
        ({}, "Who?", 2 * CONTEXT_TOKENS, ModelRejectedError, "max_model_len"),
    ],
    ids=["model", "prompt", "output"],
)
async def test_what_vllm_refuses_becomes_the_right_error(
    llm: LlmSettings, changed: dict[str, Any], question: str, max_tokens: int, error: type[ModelError], says: str
) -> None:
    made = Gateway(llm.model_copy(update={"context_tokens": 10 * CONTEXT_TOKENS, **changed}))
    with pytest.raises(error, match=says) as caught:
        await made.complete(text_request(question, max_tokens=max_tokens))
    assert type(caught.value) is error


async def test_a_stream_that_is_left_frees_the_server(gateway: Gateway, chat: VllmServer) -> None:
    parts = gateway.stream(text_request(schema=ENDLESS, max_tokens=4000))
    assert isinstance(parts, AsyncGenerator)
    async with aclosing(cast("AsyncGenerator[object]", parts)) as open_parts:
        await anext(open_parts)
        await until_running(chat, 1)
    await until_running(chat, 0)


async def until_running(server: VllmServer, n: int) -> None:
    """Wait until the server works on ``n`` requests; ten seconds at most."""
    end = time.monotonic() + 10
    while server.metric("vllm:num_requests_running") != n:
        assert time.monotonic() < end, f"not {n} requests after 10 seconds"
        await asyncio.sleep(0.1)
