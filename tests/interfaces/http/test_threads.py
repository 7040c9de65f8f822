"""Questions over HTTP that are stopped, looked at, edited, gone on with and forked; nobody sees another's."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from anyio.from_thread import BlockingPortal
from fastapi import FastAPI
from fastapi.testclient import TestClient

from discorag.schema.errors import NotFoundError, StoreError
from interfaces.http.access import Role
from interfaces.threads import Threads
from tests.graphs.scripts import model
from tests.interfaces.http.conftest import Address, Served
from tests.interfaces.http.parts import PATIENCE_S, QUERY, until, write_keys
from tests.servers.scripted import Scripted, ScriptedServer

DENSE = {"retriever": "dense"}


@pytest.fixture
def client(served: Served) -> TestClient:
    return served()


def made(client: TestClient, **headers: Any) -> str:
    return "/threads/" + client.post("/threads", json={}, **headers).json()["id"]


def listed(client: TestClient, **headers: Any) -> list[str]:
    """The threads of a tenant, the latest first."""
    return [thread["id"] for thread in client.get("/threads", **headers).json()]


def stopped(client: TestClient, before: str = "generate") -> tuple[str, dict[str, Any]]:
    """A thread whose question has stopped before this stage, and its state."""
    thread = made(client)
    reply = client.post(f"{thread}/runs", json={"query": QUERY, "switches": DENSE, "stop_before": [before]})
    assert reply.status_code == 200, reply.text
    return thread, reply.json()


def test_the_answer_follows_a_plan_that_was_edited_and_the_history_has_both(client: TestClient) -> None:
    thread, state = stopped(client)
    assert state["next"] == ["generate"]
    edited = client.patch(f"{thread}/state", json={"plan": "Only tell what [2] says."}).json()
    assert edited["values"]["plan"] == "Only tell what [2] says."
    done = client.post(f"{thread}/runs", json={}).json()
    cited = {e["chunk_id"] for s in done["values"]["answer"]["sentences"] for e in s["evidence"]}
    assert (done["next"], cited) == ([], {state["values"]["hits"][1]["chunk_id"]})
    plans = {s["values"].get("plan") for s in client.get(f"{thread}/history").json()}
    assert {state["values"]["plan"], "Only tell what [2] says."} <= plans


def test_a_conversation_keeps_its_answers_under_its_first_question_until_it_is_deleted(client: TestClient) -> None:
    thread = made(client)
    name = thread.removeprefix("/threads/")
    asked = [client.post("/ask", json={"query": q, "switches": DENSE, "thread": name}).json() for q in (QUERY, "Why?")]
    assert client.get(f"{thread}/turns").json() == asked
    (listed,) = [t for t in client.get("/threads").json() if t["id"] == name]
    assert listed["title"] == QUERY
    client.delete(thread)
    assert client.get(f"{thread}/turns").status_code == 404
    assert client.post("/ask", json={"query": QUERY, "thread": name}).status_code == 404


def test_evidence_that_is_taken_away_before_parse_is_not_answered_from(client: TestClient) -> None:
    thread, state = stopped(client, "parse")
    kept = state["values"]["hits"][:1]
    assert client.patch(f"{thread}/state", json={"hits": kept}).status_code == 200
    done = client.post(f"{thread}/runs", json={}).json()["values"]["answer"]
    assert {e["chunk_id"] for s in done["sentences"] for e in s["evidence"]} == {kept[0]["chunk_id"]}
    none = stopped(client, "parse")[0]
    client.patch(f"{none}/state", json={"hits": []})
    assert "No evidence is left" in client.post(f"{none}/runs", json={}).json()["values"]["answer"]["abstained"]


def test_a_fork_goes_its_own_way_and_the_first_thread_stays(client: TestClient) -> None:
    thread, state = stopped(client)
    fork = "/threads/" + client.post(f"{thread}/fork", json={}).json()["id"]
    client.patch(f"{fork}/state", json={"plan": "Only tell what [1] says."})
    assert client.post(f"{fork}/runs", json={}).json()["next"] == []
    assert client.get(thread).json() == state


def test_threads_survive_the_server(served: Served) -> None:
    thread, state = stopped(served())
    later = served()
    assert later.get(thread).json() == state
    assert later.post(f"{thread}/runs", json={}).json()["values"]["answer"]["sentences"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("DELETE", "", None),
        ("GET", "/history", None),
        ("POST", "/runs", {}),
        ("PATCH", "/state", {"plan": "x"}),
        ("POST", "/fork", {}),
    ],
)
def test_nobody_reaches_another_tenants_thread(
    served: Served, tmp_path: Path, method: str, path: str, body: Any
) -> None:
    own, other = write_keys(tmp_path / "keys.toml", ("a", "default", tuple(Role)), ("b", "alpha", tuple(Role)))
    client = served(keys=tmp_path / "keys.toml")
    thread = made(client, headers=own)
    assert client.request(method, thread + path, json=body, headers=other).status_code == 404
    assert thread.removeprefix("/threads/") not in listed(client, headers=other)
    assert client.get(thread, headers=own).status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/runs", {}, 409, "no run that has stopped"),
        ("/runs", {"checkpoint": "none", "query": "Why?"}, 404, "no checkpoint none"),
        ("/state", {"plan": "x"}, 409, "not stopped where it could be edited"),
        ("/state", {}, 422, "Nothing is changed"),
        ("/state", {"plan": None, "graph": None}, 422, "Nothing is changed"),
        ("/state", {"evidence": {"chunk": [[0, 10**20]]}}, 422, "less than or equal"),
    ],
)
def test_what_a_thread_cannot_do_is_an_error_that_says_so(
    client: TestClient, path: str, body: Any, status: int, message: str
) -> None:
    thread, method = made(client), "PATCH" if path == "/state" else "POST"
    reply = client.request(method, thread + path, json=body)
    assert reply.status_code == status
    assert message in reply.json()["error"]["message"]
    operation = client.get("/openapi.json").json()["paths"][f"/threads/{{thread_id}}{path}"][method.lower()]
    assert str(status) in operation["responses"]


def test_a_deleted_thread_is_gone(client: TestClient) -> None:
    thread, _ = stopped(client)
    assert client.delete(thread).status_code == 204
    assert client.get(thread).status_code == 404
    assert thread.removeprefix("/threads/") not in listed(client)


async def test_a_run_that_its_client_left_stops_and_the_thread_goes_on(listening: Address) -> None:
    late = [60.0, 0.0]
    with ScriptedServer(lambda body: Scripted(str(model()(body)), delay_s=late[0])) as llm:
        async with httpx.AsyncClient(base_url=listening(llm=llm.base_url), timeout=PATIENCE_S) as client:
            thread = "/threads/" + (await client.post("/threads", json={})).json()["id"]
            asked = {"query": QUERY, "switches": DENSE}
            run = asyncio.create_task(client.post(f"{thread}/runs", json=asked))
            await asyncio.to_thread(until, lambda: llm.requests)
            busy = await client.post(f"{thread}/runs", json=asked)
            assert "under way" in busy.json()["error"]["message"]
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
            late.pop(0)
            await asyncio.to_thread(until, lambda: httpx.get(f"{client.base_url}{thread}").json()["next"] == ["relate"])
            done = await client.post(f"{thread}/runs", json={})
    assert done.json()["values"]["answer"]["sentences"]


def parts(client: TestClient) -> tuple[Threads, BlockingPortal]:
    """The server's threads, and what calls them on its event loop."""
    assert client.portal
    return cast("FastAPI", client.app).state.service.threads, client.portal


def test_a_run_during_a_question_and_a_deletion_change_only_what_is_theirs(client: TestClient) -> None:
    thread = made(client)
    threads, portal = parts(client)
    before = portal.call(threads.get, "default", thread.removeprefix("/threads/"))
    client.post(f"{thread}/runs", json={"query": QUERY, "switches": DENSE, "stop_before": ["generate"]})
    portal.call(lambda: threads.add_turn(before, question=QUERY, text="It does.", reply="{}"))
    assert client.get("/threads").json()[0]["switches"] == DENSE
    portal.call(lambda: threads.remember(before, {}))
    assert client.get("/threads").json()[0]["title"] == QUERY
    assert client.get(f"{thread}/turns").json() == []  # a reply that does not validate is left out
    client.delete(thread)
    with pytest.raises(NotFoundError):
        portal.call(threads.remember, before, DENSE)
    assert before.id not in listed(client)


def test_an_answer_that_cannot_be_stored_is_sent_and_counted(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = made(client).removeprefix("/threads/")

    def fail(*_: object, **__: object) -> None:
        raise StoreError("The disk is full.")

    monkeypatch.setattr("discorag.store.conversations.ThreadTable.add_turn", fail)
    asked = client.post("/ask", json={"query": QUERY, "switches": DENSE, "thread": thread})
    assert asked.status_code == 200, asked.text
    assert 'disco_rag_failures_total{fallback="no",kind="StoreError",stage="store"} 1.0' in client.get("/metrics").text


def test_a_thread_answers_from_its_own_corpus_only(client: TestClient) -> None:
    thread = made(client).removeprefix("/threads/")
    refused = client.post("/ask", json={"query": QUERY, "corpus": "other", "thread": thread})
    assert refused.status_code == 422
    assert "not 'other'" in refused.json()["error"]["message"]
    own = client.post("/ask", json={"query": QUERY, "corpus": "default", "switches": DENSE, "thread": thread})
    assert own.status_code == 200
