"""A language model that stops short, thinks aloud or keeps to no form: what a user gets, and what is said of it."""

import json
from typing import Any

import pytest

from discorag import AskResult
from discorag.schema.ledger import WITHOUT_MODEL
from tests.graphs.conftest import Opened
from tests.graphs.scripts import ANSWER, QUERY, TEXTS, model, sentence_in, turn_of
from tests.inputs import stage_of
from tests.servers.greedy import greedy
from tests.servers.scripted import Body, Script, Scripted, ScriptedServer


def ask(opened: Opened, script: Script, **switches: Any) -> tuple[AskResult, list[Body]]:
    with ScriptedServer(script) as server:
        given: dict[str, Any] = {"retriever": "dense", "top_k": 3, **switches}
        result = opened(server).ask(QUERY, **given)
    return result, server.requests


def failures(result: AskResult) -> list[tuple[str, str, str]]:
    return [(f.stage, f.kind, f.fallback) for f in result.ledger.failures]


def test_cut_off_prose_is_kept_up_to_its_last_whole_sentence_and_marked(opened: Opened) -> None:
    result, requests = ask(opened, model({"answer": Scripted(ANSWER + " And if the", finish_reason="length")}))
    assert [turn_of(r) for r in requests] == ["both"]
    assert result.draft == ANSWER
    assert failures(result) == [("relate", "OutputTruncatedError", "the part before the cut")]
    assert any("cut off" in note for note in result.answer.notes)


def test_statements_that_were_cut_off_are_kept_as_far_as_they_are_whole_and_marked(opened: Opened) -> None:
    quotation = {"passage": 1, "text": sentence_in(TEXTS["a.txt"])}
    whole = json.dumps({"id": 1, "says": "It lowered it", "role": "answers", "quotations": [quotation]})
    cut = Scripted(f'{{"statements": [{whole}, {{"id": 2, "says": "Oth', finish_reason="length")
    result, requests = ask(opened, model({"statements": cut}))
    assert [turn_of(r) for r in requests] == ["both", "answer"]
    assert stage_of(result.ledger, "relate").counts["statements"] == 1
    assert failures(result) == [("relate", "OutputTruncatedError", "the part before the cut")]


THINKS = "<think>The first one says so.</think>\n"


@pytest.mark.parametrize("thinks", [THINKS, THINKS.removeprefix("<think>")], ids=["whole", "only closed"])
async def test_what_a_model_thinks_is_neither_shown_nor_in_the_answer(opened: Opened, thinks: str) -> None:
    script: Script = lambda body: f"{thinks}{model()(body)}"  # noqa: E731
    with ScriptedServer(script) as server:
        events = [e async for e in opened(server).astream(QUERY)]
    tokens = [e for e in events if isinstance(e, dict) and e["event"] in ("token", "restart")]
    last = max((i for i, e in enumerate(tokens) if e["event"] == "restart"), default=-1)
    assert "".join(e["token"] for e in tokens[last + 1 :]) == ANSWER
    assert isinstance(events[-1], AskResult)
    assert events[-1].draft == ANSWER


def test_a_server_that_continues_every_list_as_long_as_it_may_still_gets_an_answer(opened: Opened) -> None:
    script: Script = lambda body: greedy(body) if turn_of(body) == "statements" else model()(body)  # noqa: E731
    with ScriptedServer(script) as server:
        result = opened(server, context_tokens=3200).ask(QUERY, retriever="dense", top_k=3)
    assert {turn_of(r) for r in server.requests} == {"statements", "answer"}  # a schema is sent with the first only
    assert result.draft == ANSWER
    assert WITHOUT_MODEL not in [fallback for _, _, fallback in failures(result)]
