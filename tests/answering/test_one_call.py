"""Statements and answer in one reply."""

import json

import pytest

from discorag.answering.one_call import AnswerWithStatements, answer_in_one_call, fits_one_call
from discorag.schema.answer import Outcome
from discorag.schema.errors import InvalidOutputError
from tests.answering.cases import inputs_over, reader_of, reply, written
from tests.servers.scripted import Scripted, ScriptedServer


async def answer_from(server: ScriptedServer) -> tuple[str, Outcome[AnswerWithStatements]]:
    parts = [part async for part in answer_in_one_call(inputs_over(), reader_of(server))]
    assert isinstance(parts[-1], Outcome)
    return "".join(part for part in parts[:-1] if isinstance(part, str)), parts[-1]


@pytest.mark.parametrize(
    "mark", ["\nANSWER: ", "\n\nANSWER:\n", "\n**ANSWER:** ", "\n```\n# ANSWER: ", "\n**ANSWER**: ", "\nANSWER：\n"]
)
async def test_only_the_answer_is_streamed_and_the_statements_come_with_it(mark: str) -> None:
    with ScriptedServer(
        [f"<think>{{}}\nHm.</think>{written()}{mark}It did not [1]. A review says it did [2]."]
    ) as server:
        shown, outcome = await answer_from(server)
    assert shown.strip() == outcome.value.text == "It did not [1]. A review says it did [2]."
    assert len(outcome.value.collected.graph.statements) == outcome.counts["statements"] == 3


@pytest.mark.parametrize("reply", ["It did not [1].", "ANSWER: It did not [1]."])
async def test_a_reply_without_statements_is_asked_for_again_once(reply: str) -> None:
    good = f"{written()}\nANSWER: It did not [1]."
    with ScriptedServer([reply, good]) as server:
        _, outcome = await answer_from(server)
    assert (outcome.value.text, outcome.usage.repairs) == ("It did not [1].", 1)
    with ScriptedServer([reply, reply]) as server, pytest.raises(InvalidOutputError):
        await answer_from(server)


CUT = '{"statements": [' + json.dumps(reply()["statements"][0]) + ', {"id": 2, "says": "A rev'


@pytest.mark.parametrize(
    ("sent", "statements"),
    [
        (written(), 3),
        (f"{written()}\nANSWER:", 3),
        (f"{written()}\nANSWER: [1].", 3),
        (Scripted(f"{written()}\nANSWER: It did", finish_reason="length"), 3),
        (Scripted(CUT, finish_reason="length"), 1),
    ],
    ids=["no answer", "nothing behind the mark", "only a citation", "cut in its first sentence", "cut in a statement"],
)
async def test_a_reply_that_ends_before_its_answer_still_has_statements(sent: Scripted | str, statements: int) -> None:
    with ScriptedServer([sent]) as server:
        shown, outcome = await answer_from(server)
    assert (outcome.value.text, outcome.usage.repairs) == ("", 0)
    assert (outcome.counts["statements"], outcome.counts["answers"]) == (statements, 0)
    assert "A rev" not in shown


async def test_an_answer_that_was_cut_off_is_kept_up_to_its_last_whole_sentence() -> None:
    cut = Scripted(f"{written()}\nANSWER: It did not [1]. A review", finish_reason="length")
    with ScriptedServer([cut]) as server:
        _, outcome = await answer_from(server)
    assert outcome.value.text == "It did not [1]."
    assert [failure.kind for failure in outcome.failures] == ["OutputTruncatedError"]


async def test_statements_are_shown_one_by_one_before_the_answer_begins() -> None:
    events: list[str] = []
    with ScriptedServer([f"{written()}\nANSWER: It did not [1]."]) as server:
        call = answer_in_one_call(inputs_over(), reader_of(server), lambda statement: events.append(statement.says))
        async for part in call:
            events += [part] if isinstance(part, str) else []
    assert events[:3] == [statement["says"] for statement in reply()["statements"]]
    assert "".join(events[3:]).strip() == "It did not [1]."


async def test_one_call_holds_few_passages_and_not_many() -> None:
    with ScriptedServer() as server:
        reader = reader_of(server, context_tokens=8192)
        assert await fits_one_call(inputs_over(), reader)
        assert not await fits_one_call(inputs_over(["The hall is dry in summer. " * 30] * 60), reader)
