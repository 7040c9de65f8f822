"""A refined answer is taken if it still cites what there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import prompts
from discorag.config import LlmSettings
from discorag.generation.prompted.rewriting import refine_answer
from discorag.models.gateway import Gateway
from discorag.models.protocol import Reply
from discorag.schema.errors import InvalidOutputError
from tests.servers.scripted import ScriptedServer

PASSAGES = ["Gold shines.", "Iron rusts."]


def gateway(server: ScriptedServer) -> Gateway:
    settings = LlmSettings(base_url=server.base_url, cache=None, model="scripted", retries=0, timeout_s=5.0)
    return Gateway(settings)


async def answered(server: ScriptedServer, answer: str, passages: Sequence[str] = PASSAGES) -> Reply[str]:
    model = gateway(server)
    template = prompts.load("refine-answer")
    try:
        return await refine_answer(model, template, question="What rusts?", answer=answer, passages=passages)
    finally:
        await model.aclose()


def prompt(server: ScriptedServer, request: int = 0) -> str:
    return server.requests[request]["messages"][0]["content"]


async def test_an_answer_is_replaced_by_the_better_one() -> None:
    with ScriptedServer(["Iron rusts [2]."]) as server:
        made = await answered(server, "Something rusts [1].")
    assert (made.value, made.usage.calls) == ("Iron rusts [2].", 1)
    assert "[1] Gold shines.\n\n[2] Iron rusts." in prompt(server)


@pytest.mark.parametrize(
    ("reply", "told"),
    [("Iron rusts [3].", "cites [3]"), ("Iron rusts.", "cites no passage"), ("Iron [1, 0].", "cites [0]")],
)
async def test_an_answer_that_loses_or_invents_citations_is_not_taken(reply: str, told: str) -> None:
    with ScriptedServer([reply, reply]) as server:
        with pytest.raises(InvalidOutputError) as caught:
            await answered(server, "Something rusts [1].")
        repair: Any = server.requests[1]["messages"][-1]["content"]
    assert told in repair
    assert caught.value.usage is not None
    assert caught.value.usage.calls == 2


async def test_a_number_that_a_passage_writes_itself_is_no_invented_citation() -> None:
    with ScriptedServer(["Iron rusts [17] [2]."]) as server:
        made = await answered(server, "Iron rusts [2].", ["Gold shines.", "Iron rusts [17]."])
    assert (made.value, made.usage.repairs) == ("Iron rusts [17] [2].", 0)


async def test_an_answer_without_citations_needs_none_when_refined() -> None:
    with ScriptedServer(["The passages do not say."]) as server:
        assert (await answered(server, "Unknown.")).value == "The passages do not say."


async def test_characters_escaped_for_the_prompt_come_back_as_they_were() -> None:
    with ScriptedServer([" Iron &lt; gold [2]. \n"]) as server:
        made = await answered(server, "Iron > gold [1].", ["Gold & silver.", "Iron < gold."])
    assert made.value == "Iron < gold [2]."
    assert "[1] Gold &amp; silver.\n\n[2] Iron &lt; gold." in prompt(server)
    assert "Iron &gt; gold [1]." in prompt(server)


async def test_an_empty_answer_is_not_taken() -> None:
    with ScriptedServer([" ", " "]) as server:
        with pytest.raises(InvalidOutputError):
            await answered(server, "Something rusts [1].")
        assert "empty" in server.requests[1]["messages"][-1]["content"]
