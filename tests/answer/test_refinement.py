"""Refinement keeps what it cannot better, and tells why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import prompts
from discorag.answer.refinement import RefiningSummariser, refine_answer
from discorag.models.gateway import Gateway
from discorag.models.protocol import Reply
from discorag.settings import LlmSettings
from discorag.trees.builder import Summary
from discorag.types.errors import InvalidOutputError
from discorag.types.usage import Usage
from tests.servers.scripted import Scripted, ScriptedServer

TEXTS = ["Gold shines.", "Iron < gold & rusts."]
PASSAGES = ["Gold shines.", "Iron rusts."]


class Given:
    """A summariser whose summary is given."""

    version = "given"

    def __init__(self, summary: Summary) -> None:
        self._summary = summary

    async def summarise(self, texts: Sequence[str], *, words: int) -> Summary:
        return self._summary


def gateway(server: ScriptedServer) -> Gateway:
    settings = LlmSettings(base_url=server.base_url, cache=None, model="scripted", retries=0, timeout_s=5.0)
    return Gateway(settings, base_wait_s=0.01)


async def summarised(server: ScriptedServer, old: Summary, words: int = 5) -> Summary:
    model = gateway(server)
    try:
        made = RefiningSummariser(Given(old), model, prompts.load("refine-summary"))
        return await made.summarise(TEXTS, words=words)
    finally:
        await model.aclose()


async def answered(server: ScriptedServer, answer: str, passages: Sequence[str] = PASSAGES) -> Reply[str]:
    model = gateway(server)
    template = prompts.load("refine-answer")
    try:
        return await refine_answer(model, template, question="What rusts?", answer=answer, passages=passages)
    finally:
        await model.aclose()


def prompt(server: ScriptedServer, request: int = 0) -> str:
    return server.requests[request]["messages"][0]["content"]


async def test_a_summary_is_replaced_by_the_better_one_and_both_calls_are_counted() -> None:
    with ScriptedServer(["Gold shines, iron rusts."]) as server:
        made = await summarised(server, Summary("Metals.", Usage(calls=1)))
    assert (made.text, made.failure) == ("Gold shines, iron rusts.", "")
    assert made.usage.calls == 2


async def test_the_model_sees_the_texts_the_summary_and_the_limit() -> None:
    with ScriptedServer(["Fine."]) as server:
        await summarised(server, Summary("Metals <so>."))
    assert "Gold shines.\n\nIron &lt; gold &amp; rusts." in prompt(server)
    assert "Metals &lt;so&gt;." in prompt(server)
    assert "at most 5 words" in prompt(server)


async def test_characters_escaped_for_the_prompt_come_back_as_they_were() -> None:
    with ScriptedServer([" Iron &lt; gold. \n"]) as server:
        assert (await summarised(server, Summary("Metals."))).text == "Iron < gold."


@pytest.mark.parametrize("reply", [Scripted("down", status=503), Scripted("cut", finish_reason="length")])
async def test_a_failed_refinement_keeps_the_summary_and_says_so(reply: Scripted) -> None:
    with ScriptedServer([reply, reply]) as server:
        made = await summarised(server, Summary("Metals.", Usage(calls=1)))
    assert made.text == "Metals."
    assert made.failure.startswith("refine: ")
    assert made.usage.calls >= 1


async def test_a_summary_that_grows_too_long_is_sent_back_once_and_then_not_taken() -> None:
    with ScriptedServer(["word " * 20, "word " * 20]) as server:
        made = await summarised(server, Summary("Metals."))
    assert len(server.requests) == 2
    assert "20 words" in server.requests[1]["messages"][-1]["content"]
    assert made.text == "Metals."
    assert "InvalidOutputError" in made.failure


async def test_a_summary_that_was_longer_before_may_stay_as_it_is() -> None:
    old = "word " * 20
    with ScriptedServer([old]) as server:
        made = await summarised(server, Summary(old.strip()))
    assert (made.text, made.failure) == (old.strip(), "")


async def test_an_extractive_summary_in_the_place_of_a_failed_one_is_not_refined() -> None:
    with ScriptedServer([]) as server:
        old = Summary("Gold shines.", Usage(calls=1), "ModelUnavailableError: down")
        assert await summarised(server, old) == old
    assert server.requests == []


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


def test_the_version_tells_refined_summaries_from_others() -> None:
    with ScriptedServer([]) as server:
        made = RefiningSummariser(Given(Summary("x")), gateway(server), prompts.load("refine-summary"))
    assert made.version.startswith("given+refined:scripted:")
