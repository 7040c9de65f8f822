"""Refined answers that still cite what there is."""

from collections.abc import Sequence
from typing import Any

import pytest

import prompts
from discorag.generation.prompted.rewriting import refine_answer
from discorag.models.protocol import Reply
from discorag.schema.errors import InvalidOutputError
from discorag.text.citations import references
from tests.models.helpers import gateway
from tests.servers.scripted import ScriptedServer

PASSAGES = ["Gold shines.", "Iron rusts."]


async def answered(server: ScriptedServer, answer: str, passages: Sequence[str] = PASSAGES) -> Reply[str]:
    model = gateway(server)
    template = prompts.load("refine-answer")
    return await refine_answer(model, template, question="What rusts?", answer=answer, passages=passages)


def prompt(server: ScriptedServer, request: int = 0) -> str:
    return server.requests[request]["messages"][0]["content"]


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


@pytest.mark.parametrize(
    "reply",
    [
        "Iron rusts [1, 2].",
        "Iron rusts【1】【2】.",
        "Iron rusts [Passage 1][Passage 2].",
        '{"answer": "Iron rusts [1][2]."}',
    ],
)
async def test_citations_in_another_form_are_read(reply: str) -> None:
    with ScriptedServer([reply]) as server:
        made = await answered(server, "Something rusts [1].")
    assert [(r.chunk, r.first) for r in references(made.value)] == [(1, None), (2, None)]


async def test_a_number_that_a_passage_writes_itself_is_no_invented_citation() -> None:
    with ScriptedServer(["Iron rusts [17] [2]."]) as server:
        made = await answered(server, "Iron rusts [2].", ["Gold shines.", "Iron rusts [17]."])
    assert (made.value, made.usage.repairs) == ("Iron rusts [17] [2].", 0)


async def test_an_empty_answer_is_not_taken() -> None:
    with ScriptedServer([" ", " "]) as server:
        with pytest.raises(InvalidOutputError):
            await answered(server, "Something rusts [1].")
        assert "empty" in server.requests[1]["messages"][-1]["content"]
