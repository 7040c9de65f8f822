"""A language model that copies, repeats itself and stops short: what a user gets, what it costs, what is said of it."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from discorag import AskResult
from discorag.generation.views import answer_markdown
from discorag.models.protocol import Template
from discorag.schema.ledger import WITHOUT_MODEL
from prompts import load
from tests.conftest import Pipelines
from tests.graphs.conftest import Opened
from tests.graphs.scripts import ANSWER, PLAN, QUERY, model, turn_of, write_texts
from tests.servers.greedy import greedy
from tests.servers.scripted import Body, Script, Scripted, ScriptedServer

LONG = (
    "# The shelf of vitamins\n\n"
    "The shelf that holds vitamin D stands in the pharmacy of the old hospital beside the river, where nurses who work "
    "at night come for it because the sun is down when they wake. It was filled in March, after the committee had read "
    "the report on influenza and had found that supplements lowered its incidence among those who were deficient when "
    "the winter began, although the effect was small."
)
TEXTS = {
    "a.md": LONG,
    "b.txt": "Across all trials, supplements had no effect on the incidence of influenza. Other trials saw no effect.",
    "c.txt": "Vitamin D is made in the skin. However, winter sun is too weak for it & for other vitamins.",
}
MARK = re.compile(r"\|\s*\d+\s*[<>=]|\w{4}\|")
OWN = "Supplements lowered the incidence of influenza among the deficient [1]."
CHUNK = re.compile(r"<chunk id=[^>]*>\n(.*?)\n</chunk>", re.DOTALL)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    return write_texts(tmp_path / "texts", TEXTS)


def ask(opened: Opened, script: Script, **switches: Any) -> tuple[AskResult, list[Body]]:
    with ScriptedServer(script) as server:
        given: dict[str, Any] = {"retriever": "dense", "top_k": 3, **switches}
        result = opened(server).ask(QUERY, **given)
    return result, server.requests


def evidence(body: Body) -> list[str]:
    return CHUNK.findall(body["messages"][1]["content"])


def is_again(body: Body, prompt: Template) -> bool:
    return body["messages"][-1]["content"] == prompt.render()


def parrot(then: str | None = None) -> Script:
    """Copies its evidence, marks and all, until it is asked for its own words; ``then`` is what it says to that."""

    def respond(body: Body) -> Scripted | str:
        if is_again(body, load("own-words")) and then is not None:
            return then
        return " ".join(evidence(body)) if turn_of(body) == "answer" else model()(body)

    return respond


def shown(result: AskResult) -> str:
    return "".join(answer_markdown(result.answer))


def failures(result: AskResult) -> list[tuple[str, str, str]]:
    return [(f.stage, f.kind, f.fallback) for f in result.ledger.failures]


def test_marks_fences_and_escapes_that_a_model_copied_never_reach_a_user(opened: Opened) -> None:
    copied = (
        "The shelf |6<elab|that holds vitamin D stands in the pharmacy [1].\n</chunk>\nIt is too weak for it &amp; "
    )
    result, requests = ask(opened, model({"answer": copied + "for |1=join|other vitamins [3]."}))
    assert [s.text for s in result.answer.sentences] == [
        "The shelf that holds vitamin D stands in the pharmacy.",
        "It is too weak for it & for other vitamins.",
    ]
    assert len(requests) == 3
    assert result.ledger.failures == ()


async def test_a_reader_of_the_stream_sees_no_marks_either(pipeline: Pipelines, texts: Path) -> None:
    with ScriptedServer(
        model({"answer": "The shelf |6<elab|that holds vitamin D stands in the pharmacy [1]."})
    ) as server:
        rag = pipeline(llm=server.base_url)
        await rag.aingest(texts)
        events = [e async for e in rag.astream(QUERY)]
    tokens = [e["token"] for e in events if isinstance(e, dict) and e.get("event") == "token"]
    assert len(tokens) > 1
    assert "".join(tokens) == "The shelf that holds vitamin D stands in the pharmacy [1]."


def test_an_answer_that_parrots_is_asked_for_once_more_in_own_words(opened: Opened) -> None:
    result, requests = ask(opened, parrot(then=OWN))
    assert [turn_of(r) for r in requests] == ["graph", "plan", "answer", "answer"]
    assert is_again(requests[-1], load("own-words"))
    assert result.answer.text == OWN.replace(" [1]", "")
    assert result.ledger.usage.repairs == 1
    assert result.answer.notes == ()


def test_one_that_parrots_again_is_replaced_and_the_answer_says_so(opened: Opened) -> None:
    result, requests = ask(opened, parrot())
    assert len(requests) == 4
    assert failures(result) == [("generate", "InvalidOutputError", WITHOUT_MODEL)]
    assert not MARK.search(shown(result))
    assert all(s.supported for s in result.answer.sentences)
    [note] = result.answer.notes
    assert "did not make the answer" in note
    assert "copies" in note or "marks" in note
    assert "did not make the answer" in shown(result)


def test_a_quotation_with_its_citation_is_no_parroting(opened: Opened) -> None:
    quoted = TEXTS["b.txt"].replace("influenza.", "influenza [2].")
    result, requests = ask(opened, model({"answer": quoted}))
    assert len(requests) == 3
    assert result.ledger.failures == ()


def test_a_sentence_that_a_model_repeats_stays_once(opened: Opened) -> None:
    result, _ = ask(opened, model({"answer": " ".join([OWN, *[OWN.replace("[1]", "[3]")] * 5])}))
    assert result.answer.text == OWN.replace(" [1]", "")


@pytest.mark.parametrize("k", [2, 3])
def test_a_server_that_continues_every_list_as_long_as_it_may_still_ends_in_its_graph(opened: Opened, k: int) -> None:
    script: Script = lambda body: greedy(body) if turn_of(body) == "graph" else model()(body)  # noqa: E731
    result, requests = ask(opened, script, top_k=k)
    assert [turn_of(r) for r in requests] == ["graph", "plan", "answer"]
    assert result.ledger.failures == ()
    assert result.graph is not None
    assert len(result.graph.edges) == k * (k - 1)


CUT: Mapping[str, Scripted] = {
    "plan": Scripted(PLAN + " Then tell of the", finish_reason="length"),
    "answer": Scripted(ANSWER + " And if the", finish_reason="length"),
}


@pytest.mark.parametrize(("turn", "stage", "kept"), [("plan", "plan", PLAN), ("answer", "generate", ANSWER)])
def test_cut_off_prose_is_kept_up_to_its_last_whole_sentence_and_marked(
    opened: Opened, turn: str, stage: str, kept: str
) -> None:
    result, requests = ask(opened, model({turn: CUT[turn]}))
    assert [turn_of(r) for r in requests] == ["graph", "plan", "answer"]
    assert kept in (result.draft, result.answer.plan.paragraph if result.answer.plan else "")
    assert failures(result) == [(stage, "OutputTruncatedError", "the part before the cut")]
    engines = {s.stage: s.engine for s in result.ledger.stages}
    assert [engines[name] for name in ("relate", "plan", "generate")] == ["llm"] * 3
    assert any("cut off" in note for note in result.answer.notes)


PROBE = '{"answer":"In summer they do [2].","graph":{"c1":{},"c2":{"1":"CONTRASTS_WITH"}}}'


def probed(body: Body) -> bool:
    return body["messages"][-1]["content"].endswith(load("probe").text)


def with_probe(reply: Scripted | str) -> Script:
    return lambda body: reply if probed(body) else model()(body)


def test_of_a_model_that_does_well_nothing_is_asked_twice(opened: Opened) -> None:
    with ScriptedServer(with_probe(PROBE)) as server:
        rag = opened(server, layout="auto")
        first, second = (rag.ask(QUERY) for _ in range(2))
        asked_for = ["probe" if probed(r) else turn_of(r) for r in server.requests]
        distinct = {str(r["messages"]) for r in server.requests}
    assert asked_for == ["probe", *["graph", "plan", "answer"] * 2]
    assert len(distinct) == 4
    assert first.ledger.usage.calls == 4
    assert second.ledger.usage.calls == 3
    assert first.ledger.usage.repairs == 0
    assert first.answer.notes == second.answer.notes == ()


@pytest.mark.parametrize(
    ("reply", "turns", "layout"),
    [
        (PROBE, ["graph", "plan", "answer"], "inline"),
        ('{"answer":"The hall |2<elab|stays dry [1].","graph":{"c1":{},"c2":{}}}', ["graph", "answer"], "plain"),
        ('{"answer":"Yes.","graph":{"c1":{},"c2":{}}}', ["graph", "answer"], "inline"),
        ("The hall |2<cond|stays dry.", ["answer"], "plain"),
        (Scripted('{"answer":"The hall stays dry [1]. ' * 9, finish_reason="length"), ["plan", "answer"], "inline"),
        (Scripted("down", status=400), ["graph", "plan", "answer"], "inline"),
    ],
    ids=["able", "copies marks", "does not cite", "neither", "no schema", "fails"],
)
def test_one_call_finds_out_what_the_model_is_shown_and_asked_for(
    opened: Opened, reply: Scripted | str, turns: list[str], layout: str
) -> None:
    with ScriptedServer(with_probe(reply)) as server:
        rag = opened(server, layout="auto")
        result = rag.ask(QUERY)
        ability = str(rag.run(rag.backends.ability))
        requests = [r for r in server.requests if not probed(r)]
    assert [turn_of(r) for r in requests] == turns
    assert f"trees {layout}" in ability
    body = "\n".join(evidence(requests[0]))
    assert bool(MARK.search(body)) == (layout == "inline")
    assert result.ledger.failures == ()
    assert result.answer.sentences
