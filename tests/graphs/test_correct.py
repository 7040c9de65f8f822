"""The option ``correct``: sentences in which the check found a problem are written again, in one more call."""

import json
from typing import Any

import pytest

from discorag import AskResult
from interfaces.facade import DiscoRAG
from tests.graphs.conftest import Opened
from tests.graphs.scripts import QUERY, model, passages_in, prompt_of, turn_of
from tests.inputs import stage_of
from tests.servers.scripted import Scripted, ScriptedServer

SOUND = "Other trials saw no effect [2]."
WRONG = f"Daily vitamin D lowered the incidence of influenza by 57 % [1]. {SOUND}"
RIGHT = "Daily vitamin D lowered the incidence of influenza by 12 % [1]."


def corrections(*texts: str) -> str:
    return json.dumps({"sentences": [{"number": n, "text": text} for n, text in enumerate(texts, start=1)]})


def ask(opened: Opened, draft: str, reply: Scripted | str, **options: Any) -> tuple[AskResult, list[dict[str, Any]]]:
    """The result for a first draft and the reply to the request for corrections, and these requests."""
    with ScriptedServer(model({"answer": draft, "correct": reply})) as server:
        asked: dict[str, Any] = {"correct": True, **options}
        result = opened(server).ask(QUERY, **asked)
    return result, [body for body in server.requests if turn_of(body) == "correct"]


def test_a_value_that_no_source_has_is_corrected_in_one_more_call(opened: Opened) -> None:
    result, requests = ask(opened, WRONG, corrections(RIGHT))
    assert result.draft == f"{RIGHT} {SOUND}"
    assert result.answer.problems == ()
    assert result.answer.sentences[0].statements
    stage = stage_of(result.ledger, "correct")
    assert (stage.usage.calls, stage.counts, len(requests)) == (1, {"problems": 1, "corrected": 1}, 1)
    prompt = prompt_of(requests[0])
    assert "influenza by 57 % [1].\n   In none of its sources: the number 57 %." in prompt
    assert list(passages_in(requests[0])) == [1]
    assert "Passage 2 makes a point" in prompt


def test_it_is_off_by_default_and_a_sound_draft_costs_no_call(opened: Opened) -> None:
    result, requests = ask(opened, WRONG, corrections(RIGHT), correct=False)
    assert (len(result.answer.problems), requests) == (1, [])
    result, requests = ask(opened, f"{RIGHT} {SOUND}", corrections("no"))
    assert (result.draft, requests) == (f"{RIGHT} {SOUND}", [])


@pytest.mark.parametrize(
    "reply",
    [
        corrections(RIGHT.replace("12", "58")),
        corrections(f"Others {SOUND.removesuffix(' [2].')} at all, and"),
        '{"sentences": []}',
        Scripted("broken", status=400),
        "I cannot.",
    ],
    ids=["still wrong", "joins the next sentence", "nothing corrected", "fails", "no JSON"],
)
def test_a_correction_that_does_not_help_leaves_the_draft_as_it_was(opened: Opened, reply: Scripted | str) -> None:
    result, requests = ask(opened, WRONG, reply)
    assert requests
    assert result.draft == WRONG
    assert [s.text for s in result.answer.problems] == [result.answer.sentences[0].text]
    assert stage_of(result.ledger, "correct").usage.calls == (0 if isinstance(reply, Scripted) else len(requests))


def test_a_citation_of_a_passage_that_does_not_exist_is_a_problem_too(opened: Opened) -> None:
    result, requests = ask(opened, f"{RIGHT} Other trials saw no effect [7].", corrections(SOUND))
    assert "cites [7]; there are 3 passages" in prompt_of(requests[0])
    assert result.draft == f"{RIGHT} {SOUND}"


def test_an_empty_correction_removes_the_sentence_and_paragraphs_stay(opened: Opened) -> None:
    result, _ = ask(opened, f"{RIGHT}\n\n{SOUND} It cost 990 euros [1].", corrections(""))
    assert result.draft == f"{RIGHT}\n\n{SOUND}"


def test_a_plain_call_without_statements_is_corrected_from_its_passages(opened: Opened) -> None:
    result, requests = ask(opened, WRONG, corrections(RIGHT), use_graph=False, use_plan=False)
    assert result.draft == f"{RIGHT} {SOUND}"
    assert 1 in passages_in(requests[0])


async def test_the_corrected_answer_takes_the_place_of_what_was_streamed(opened: Opened) -> None:
    with ScriptedServer(model({"answer": WRONG, "correct": corrections(RIGHT)})) as server:
        rag: DiscoRAG = opened(server)
        events = [e async for e in rag.astream(QUERY, correct=True) if isinstance(e, dict)]
    last = max(i for i, event in enumerate(events) if event["event"] == "restart")
    assert "".join(e["token"] for e in events[last:] if e["event"] == "token") == f"{RIGHT} {SOUND}"
