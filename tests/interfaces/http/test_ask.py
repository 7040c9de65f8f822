"""POST /ask: answers, streams, deadlines, and what is refused."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from discorag.discourse.parse.trained.parser import TrainedParser
from discorag.schema.discourse import RstTree
from discorag.schema.ledger import STAGES
from discorag.schema.statements import StatementGraph
from interfaces.http.app import create_app
from tests.graphs.scripts import ANSWER, model
from tests.interfaces.http.conftest import Listen, Served
from tests.interfaces.http.parts import PATIENCE_S, QUERY, TEXTS, Apps, Listening, events, until
from tests.servers.scripted import Body, Scripted, ScriptedServer

STREAM = {"Accept": "text/event-stream"}


def make_body(**more: Any) -> dict[str, Any]:
    return {"query": QUERY, **more}


def test_the_evidence_of_an_answer_is_the_documents_characters(client: TestClient, apps: Apps) -> None:
    reply = client.post("/ask", json=make_body())
    assert reply.status_code == 200
    found = reply.json()
    evidence = [e for s in found["answer"]["sentences"] for e in s["evidence"]]
    assert evidence
    for e in evidence:
        text = apps.shared.store.document(apps.scope(), e["doc_id"]).text
        assert text in TEXTS.values()
        assert text[e["span"]["start"] : e["span"]["end"]] == e["text"]
    sources, citations = found["sources"], found["citations"]
    assert sources == [e for i, e in enumerate(evidence) if e not in evidence[:i]]
    assert [sources[n - 1] for numbers in citations for n in numbers] == evidence
    assert [len(numbers) for numbers in citations] == [len(s["evidence"]) for s in found["answer"]["sentences"]]
    assert found["text"] == " ".join(s["text"] for s in found["answer"]["sentences"])
    plan = found["answer"]["plan"]
    assert " ".join(step["text"] for step in plan["steps"]) == plan["paragraph"]
    assert all(1 <= r["chunk"] <= len(found["graph"]["chunks"]) for step in plan["steps"] for r in step["references"])
    assert reply.headers["x-request-id"]


def test_the_answer_follows_a_plan_that_is_given(client: TestClient) -> None:
    plan = "Only tell what [2] says."
    found = client.post("/ask", json=make_body(switches={"retriever": "dense", "plan": plan})).json()
    assert {e["chunk_id"] for s in found["answer"]["sentences"] for e in s["evidence"]} == {
        found["hits"][1]["chunk_id"]
    }
    assert found["answer"]["plan"]["paragraph"] == plan


def test_a_stream_brings_stages_in_order_the_words_of_the_draft_and_the_answer_last(served: Served) -> None:
    with ScriptedServer(model()) as llm:
        reply = served(llm=llm.base_url).post("/ask", json=make_body(), headers=STREAM)
    assert reply.headers["content-type"].startswith("text/event-stream")
    found = events(reply.text)
    stages = [stage for stage in STAGES if stage != "assess"]  # the model decides whether the evidence answers
    assert [data["stage"] for name, data in found if name == "start"] == stages
    assert [data["stage"] for name, data in found if name == "end"] == stages
    assert "".join(data["token"] for name, data in found if name == "token") == ANSWER
    assert [name for name, _ in found].count("answer") == 1
    assert found[-1][0] == "answer"
    assert found[-1][1]["draft"] == ANSWER


def test_statements_relations_and_plan_come_along_and_in_chat_too(served: Served) -> None:
    with ScriptedServer(model()) as llm:
        client = served(llm=llm.base_url)
        found = client.post("/ask", json=make_body()).json()
        chat = {"model": "disco-rag", "messages": [{"role": "user", "content": QUERY}]}
        along = client.post("/v1/chat/completions", json=chat).json()["disco_rag"]
    graph = StatementGraph.model_validate(found["answer"]["statements"])
    assert [(r.source, r.relation, r.target, r.about) for r in graph.relations] == [(2, "CONTRADICTS", 1, "the effect")]
    assert [q.chunk_id for s in graph.statements for q in s.quotations] == [hit["chunk_id"] for hit in found["hits"]]
    steps = found["answer"]["plan"]["steps"]
    assert [(s["statements"], s["role"]) for s in steps] == [([n], "answers") for n in (1, 2, 3)]
    assert along["answer"]["statements"] == found["answer"]["statements"]
    assert along["answer"]["plan"] == found["answer"]["plan"]


def test_a_stream_starts_again_if_the_model_fails_and_a_strict_question_is_an_error(served: Served) -> None:
    with ScriptedServer(model({"answer": Scripted("down", status=500)})) as llm:
        client = served(llm=llm.base_url)
        found = events(client.post("/ask", json=make_body(), headers=STREAM).text)
        strict = client.post("/ask", json=make_body(switches={"strict": True}))
    assert [data["stage"] for name, data in found if name == "start"].count("prepare") == 2
    name, final = found[-1]
    assert (name, final["model_failed"]) == ("answer", True)
    assert all(s["support"] == "quoted" for s in final["answer"]["sentences"])
    [note] = final["answer"]["notes"]
    assert note.startswith("The language model did not make the graph")
    assert (strict.status_code, strict.json()["error"]["type"]) == (503, "ModelUnavailableError")


def test_a_stream_that_fails_midway_ends_in_one_error_event(client: TestClient) -> None:
    reply = client.post("/ask", json=make_body(corpus="nothing"), headers=STREAM)
    assert reply.status_code == 200
    found = events(reply.text)
    assert (found[0][0], found[0][1]["stage"]) == ("start", "prepare")
    assert found[-1][0] == "error"
    assert found[-1][1]["error"]["type"] == "EmptyCorpusError"
    assert [name for name, _ in found].count("error") == 1


@pytest.mark.parametrize("headers", [{}, STREAM], ids=["whole", "streamed"])
def test_a_model_that_hangs_is_given_up_before_the_deadline_and_the_answer_names_the_setting(
    served: Served, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interfaces.http.service.MODEL_SHARE", 0.01)
    with ScriptedServer(lambda _: Scripted("late", delay_s=600)) as llm:
        client = served(llm=llm.base_url, deadline_s=120)
        reply = client.post("/ask", json=make_body(), headers=headers)
        assert client.get("/session").json()["language_model"] == "scripted"
        sent = len(llm.requests)
        next_reply = client.post("/ask", json=make_body())
        assert len(llm.requests) == sent
    assert "is not asked until it answers" in next_reply.json()["answer"]["notes"][0]
    assert reply.status_code == 200
    result = events(reply.text)[-1][1] if headers else reply.json()
    failures = [(f["stage"], f["kind"]) for s in result["ledger"]["stages"] for f in s["failures"]]
    assert failures == [("relate", "ModelUnavailableError")]
    assert "Raise DISCO_RAG_API__DEADLINE_S" in result["answer"]["notes"][0]
    assert all(s["support"] == "quoted" for s in result["answer"]["sentences"])
    assert result["seconds"] < 120


@pytest.mark.parametrize("headers", [{}, STREAM], ids=["whole", "streamed"])
async def test_nothing_goes_on_for_a_client_that_left(
    apps: Apps, listen: Listen, uploads: Path, headers: dict[str, str]
) -> None:
    with ScriptedServer(lambda _: Scripted("late", delay_s=60)) as llm:
        app = apps(uploads, llm=llm.base_url)
        async with httpx.AsyncClient(base_url=listen(app), timeout=PATIENCE_S) as client:
            question = asyncio.create_task(client.post("/ask", json=make_body(), headers=headers))
            await asyncio.to_thread(until, lambda: llm.requests)
            assert app.state.service.under_way == 1
            question.cancel()
            with pytest.raises(asyncio.CancelledError):
                await question
        await asyncio.to_thread(until, lambda: app.state.service.under_way == 0)
        assert len(llm.requests) == 1


async def test_threads_at_work_stop_too_when_a_client_leaves(
    apps: Apps, listen: Listen, uploads: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = "\n\n".join(f"Tide {i} rises. However, tide {i} falls." for i in range(200))
    (tmp_path / "long.txt").write_text(text, encoding="utf-8")
    rag, parsed, parse = apps.rag(uploads), list[object](), TrainedParser.parse_units

    def counted(parser: TrainedParser, *given: Any) -> RstTree:
        tree = parse(parser, *given)
        parsed.append(tree)
        return tree

    await rag.aingest(tmp_path / "long.txt", corpus="long", parser="none", retriever="dense")
    monkeypatch.setattr(TrainedParser, "parse_units", counted)
    app = create_app(rag=rag)
    async with httpx.AsyncClient(base_url=listen(app), timeout=PATIENCE_S) as client:
        body = make_body(corpus="long", switches={"retriever": "discourse"})
        question = asyncio.create_task(client.post("/ask", json=body, headers=STREAM))
        await asyncio.to_thread(until, lambda: parsed)
        question.cancel()
        with pytest.raises(asyncio.CancelledError):
            await question
    await asyncio.to_thread(until, lambda: app.state.service.under_way == 0)
    at_the_end = len(parsed)
    await asyncio.sleep(0.5)
    assert len(parsed) <= at_the_end + 1 < 200


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("path", ["/ask", "/v1/chat/completions"])
async def test_who_waits_when_the_server_stops_is_told_so(apps: Apps, uploads: Path, path: str, streamed: bool) -> None:
    chat = {"model": "disco-rag", "stream": streamed, "messages": [{"role": "user", "content": QUERY}]}
    body, headers = (make_body(), STREAM if streamed else {}) if path == "/ask" else (chat, {})
    with (
        ScriptedServer(lambda _: Scripted("late", delay_s=60)) as llm,
        Listening(apps(uploads, llm=llm.base_url), drain_s=0) as server,
    ):
        async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE_S) as client:
            question = asyncio.create_task(client.post(path, json=body, headers=headers))
            await asyncio.to_thread(until, lambda: llm.requests)
            server.stop()
            reply = await question
    problem = events(reply.text)[-1][1] if streamed else reply.json()
    assert (reply.status_code, problem["error"]["type"]) == (200 if streamed else 503, "StoppingError")


async def test_who_waits_when_the_server_stops_is_answered_if_there_is_time(apps: Apps, uploads: Path) -> None:
    is_stopping = threading.Event()

    def respond(body: Body) -> Scripted | str:
        assert is_stopping.wait(PATIENCE_S)
        return model()(body)

    with ScriptedServer(respond) as llm, Listening(apps(uploads, llm=llm.base_url), drain_s=int(PATIENCE_S)) as server:
        async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE_S) as client:
            question = asyncio.create_task(client.post("/ask", json=make_body()))
            await asyncio.to_thread(until, lambda: llm.requests)
            server.stop()
            await asyncio.to_thread(until, lambda: server.refuses)
            is_stopping.set()
            reply = await question
    assert (reply.status_code, reply.json()["draft"]) == (200, ANSWER)


@pytest.mark.parametrize("headers", [{}, STREAM], ids=["whole", "streamed"])
async def test_a_question_too_many_is_turned_away_and_told_when_to_come_again(
    apps: Apps, listen: Listen, uploads: Path, headers: dict[str, str]
) -> None:
    with ScriptedServer(lambda _: Scripted("late", delay_s=60)) as llm:
        app = apps(uploads, llm=llm.base_url, questions=1)
        async with httpx.AsyncClient(base_url=listen(app), timeout=PATIENCE_S) as client:
            question = asyncio.create_task(client.post("/ask", json=make_body(), headers=headers))
            await asyncio.to_thread(until, lambda: llm.requests)
            refused = await client.post("/ask", json=make_body(), headers=headers)
            question.cancel()
            with pytest.raises(asyncio.CancelledError):
                await question
            await asyncio.to_thread(until, lambda: app.state.service.under_way == 0)
            local = {"engine": "local"}
            later = await client.post("/ask", json=make_body(switches=local))
    assert (refused.status_code, refused.json()["error"]["type"]) == (503, "BusyError")
    assert int(refused.headers["retry-after"]) >= 1
    assert later.status_code == 200


@pytest.mark.parametrize("headers", [{}, STREAM], ids=["whole", "streamed"])
def test_a_question_that_no_engine_answers_in_time_ends_at_the_deadline(
    served: Served, headers: dict[str, str]
) -> None:
    reply = served(deadline_s=0.001).post("/ask", json=make_body(), headers=headers)
    assert reply.status_code == (200 if headers else 504)
    problem = events(reply.text)[-1][1] if headers else reply.json()
    assert problem["error"]["type"] == "DeadlineError"


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (make_body(corpus="nothing"), 404, "EmptyCorpusError"),
        (make_body(filters={"doc_id": ["none"]}, switches={"abstain": "never"}), 404, "EmptyCorpusError"),
        (make_body(filters={"year": {"from": 2020}}), 422, "InputError"),
        (make_body(filters={"year": None}), 422, "InputError"),
        (make_body(switches={"colour": "red"}), 422, "no option 'colour'. Known options: abstain"),
        (make_body(switches={"profile": "verbatim"}), 422, "no option 'profile'. Use preset=verbatim"),
        (make_body(switches={"preset": "verbatim", "engine": "llm"}), 422, "exclude each other"),
        (make_body(switches={"tenant": "alpha"}), 422, "tenant"),
        (make_body(tenant="alpha"), 422, "tenant"),
        (make_body(switches={"top_k": 5, "retriever": "snapped"}), 422, "top_k"),
        (make_body(switches={"engine": "llm"}), 422, "ConfigError"),
        ({"query": "why " * 1001}, 422, "query"),
        ({"query": " "}, 422, "query"),
        ({}, 422, "query"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_its_reason(
    client: TestClient, body: dict[str, Any], status: int, said: str
) -> None:
    reply = client.post("/ask", json=body)
    assert reply.status_code == status
    assert said in str(reply.json()["error"])
    assert reply.json()["error"]["hint"]


@pytest.mark.parametrize("body", [b"{", b"\xff", b'{"query": NaN}', b'{"query": "\\ud800"}', b"[]", b""])
def test_a_body_that_is_no_question_is_refused(client: TestClient, body: bytes) -> None:
    reply = client.post("/ask", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code in {400, 422}
    assert reply.json()["error"]["message"]
