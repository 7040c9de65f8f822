"""Statements and answer in one reply."""

import pytest

from discorag.answering.single import AnswerWithStatements, answer_in_one_call, fits_one_call
from discorag.schema.answer import Outcome
from discorag.schema.errors import InvalidOutputError
from tests.answering.cases import inputs_over, reader_of, written
from tests.servers.scripted import ScriptedServer


async def asked(server: ScriptedServer) -> tuple[str, Outcome[AnswerWithStatements]]:
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
        shown, outcome = await asked(server)
    assert shown.strip() == outcome.value.text == "It did not [1]. A review says it did [2]."
    assert len(outcome.value.collected.graph.statements) == outcome.counts["statements"] == 3


@pytest.mark.parametrize("reply", ["It did not [1].", written(), f"{written()}\nANSWER:", "ANSWER: It did not [1]."])
async def test_a_reply_without_both_parts_is_asked_for_again_once(reply: str) -> None:
    good = f"{written()}\nANSWER: It did not [1]."
    with ScriptedServer([reply, good]) as server:
        _, outcome = await asked(server)
    assert (outcome.value.text, outcome.usage.repairs) == ("It did not [1].", 1)
    with ScriptedServer([reply, reply]) as server, pytest.raises(InvalidOutputError):
        await asked(server)


async def test_one_call_holds_few_passages_and_not_many() -> None:
    with ScriptedServer() as server:
        reader = reader_of(server, context_tokens=8192)
        assert await fits_one_call(inputs_over(), reader)
        assert not await fits_one_call(inputs_over(["The hall is dry in summer. " * 30] * 60), reader)
