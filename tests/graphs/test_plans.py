"""Plans over statements: when there is one, what names a wrong statement, and which statements an edited one names."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from langgraph.checkpoint.memory import InMemorySaver

from discorag import AnswerContext, DiscoRAG, build_answer_graph
from discorag.schema.errors import InputError
from interfaces.http.app import create_app
from tests.graphs.conftest import Opened
from tests.graphs.scripts import ANSWER, QUERY, model, passages_in, prompt_of, turn_of
from tests.inputs import stage_of
from tests.interfaces.test_cli import run
from tests.servers.scripted import Body, Script, Scripted, ScriptedServer

THREAD: Any = {"configurable": {"thread_id": "1"}}
SAYS = {"a": "Vitamin D lowered influenza", "b": "Supplements had no effect", "c": "The skin makes vitamin D"}
QUOTED = {"a": "lowered the incidence of influenza", "b": "had no effect", "c": "is made in the skin"}

WRONG = re.compile("names statement 9, which does not exist|has the unknown role 'answer'")


def moody() -> Script:
    """A model that writes its statements in another order whenever it is asked again."""
    orders: Iterator[str] = iter(("abc", "cba", "bca", "abc"))

    def statements(body: Body) -> str:
        passages = passages_in(body).items()
        number = {name: next(n for n, text in passages if words in text) for name, words in QUOTED.items()}
        found = [
            {"id": i, "says": SAYS[name], "quotations": [{"passage": number[name], "text": QUOTED[name]}]}
            for i, name in enumerate(next(orders), start=1)
        ]
        return json.dumps({"statements": found, "relations": [], "order": [[1], [2], [3]]})

    return model({"statements": statements})


def stopped(rag: DiscoRAG) -> Any:
    """A graph whose run has stopped before ``generate``."""
    graph: Any = build_answer_graph(checkpointer=InMemorySaver(), interrupt_before=["generate"])
    graph.invoke({"query": QUERY}, THREAD, context=AnswerContext(backends=rag.backends))
    return graph


async def test_an_edit_of_the_plan_names_the_statements_in_the_state_and_costs_one_call(opened: Opened) -> None:
    with ScriptedServer(moody()) as server:
        rag = opened(server)
        graph = stopped(rag)
        assert "{2}" in graph.get_state(THREAD).values["plan"]
        for wrong in ("1. answers: No effect {9}", "1. answer: No effect {2}"):
            with pytest.raises(InputError, match=WRONG):
                graph.update_state(THREAD, {"plan": wrong}, as_node="plan")
            with pytest.raises(InputError, match=WRONG):
                await graph.aupdate_state(THREAD, {"plan": wrong}, as_node="plan")
        graph.update_state(THREAD, {"plan": "1. answers: Tell of the supplements {2}"}, as_node="plan")
        graph.invoke(None, THREAD, context=AnswerContext(backends=rag.backends))
    assert [turn_of(body) for body in server.requests] == ["both", "answer"]
    plan = prompt_of(server.requests[-1]).partition("<plan>")[2]
    assert re.findall(r"had no effect|lowered|skin", plan.partition("</plan>")[0]) == ["had no effect"]


def test_a_plan_for_statements_that_now_have_other_numbers_is_refused_and_the_error_says_what_to_do(
    opened: Opened,
) -> None:
    with ScriptedServer(moody()) as server:
        rag = opened(server)
        first = rag.ask(QUERY).answer.plan
        assert first is not None
        with pytest.raises(InputError, match=r"Step 1 .* statement 1, which now says “The skin.*DISCO_RAG_LLM__CACHE"):
            rag.ask(QUERY, plan=first.paragraph)
        unsure = rag.ask(QUERY, plan="1. answers: Be brief {2}")
    assert any("Step 1 of the plan names statement 2" in note for note in unsure.answer.notes)


def test_a_plan_for_statements_that_have_the_same_words_is_followed_without_a_note(opened: Opened) -> None:
    with ScriptedServer(model()) as server:
        rag = opened(server)
        plan = rag.ask(QUERY).answer.plan
        assert plan is not None
        assert rag.ask(QUERY, plan=plan.paragraph).answer.notes == ()


def test_a_single_statement_needs_no_plan(opened: Opened) -> None:
    def one(body: Body) -> str:
        number = next(n for n, text in passages_in(body).items() if QUOTED["a"] in text)
        quotations = [{"passage": number, "text": QUOTED["a"]}]
        found = {"id": 1, "says": SAYS["a"], "role": "answers", "quotations": quotations}
        return json.dumps({"statements": [found], "relations": [], "order": [[1]], "missing": ""})

    with ScriptedServer(model({"statements": one})) as server:
        rag = opened(server)
        result = rag.ask(QUERY)
        assert (result.draft, result.answer.plan, len(server.requests)) == (ANSWER, None, 1)
        assert "generate: a single statement needs none" in stage_of(result.ledger, "plan").decisions
        assert rag.ask(QUERY, plan="1. answers: Vitamin D lowered it {1}").answer.plan is not None


def test_an_edited_plan_that_no_model_can_follow_is_replaced_and_the_notes_say_why(opened: Opened) -> None:
    with ScriptedServer(lambda _: Scripted("wrong key", status=401)) as server:
        answer = opened(server).ask(QUERY, plan="1. answers: Tell of the supplements {2}").answer
    unreached, replaced = answer.notes
    assert "wrong key" in unreached
    assert "the language model that collects them was not reached. Used instead: a plan by rules." in replaced
    assert answer.plan is not None
    assert "{2}" not in answer.plan.paragraph
    assert answer.sentences


def test_over_http_a_wrong_number_is_an_error_that_names_it(opened: Opened) -> None:
    with (
        ScriptedServer(model()) as server,
        TestClient(create_app(rag=opened(server)), base_url="http://127.0.0.1") as client,
    ):
        asked = {"query": QUERY, "switches": {"plan": "1. answers: Tell this {9}"}}
        whole = client.post("/ask", json=asked)
        streamed = client.post("/ask", json=asked, headers={"Accept": "text/event-stream"}).text
    assert whole.status_code == 422
    for said in (whole.text, streamed.rpartition("event: error")[2]):
        assert "names statement 9, which does not exist." in said
        assert "There are statements 1 to 3." in said


def test_on_the_command_line_a_wrong_number_is_an_error_that_names_it(tmp_path: Path, texts: Path) -> None:
    run(tmp_path, "ingest", str(texts), "--parser", "rules")
    with ScriptedServer(model()) as server:
        asked = ("ask", QUERY, "--llm", f"{server.base_url}#scripted", "--set", "plan=1. answers: Tell this {9}")
        said = run(tmp_path, *asked, ok=2)
    assert "names statement 9, which does not exist. There are statements 1 to 3." in " ".join(said.split())
