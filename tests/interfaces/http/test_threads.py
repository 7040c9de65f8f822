"""Conversations over HTTP: what is asked in them stays, and nobody sees another's."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from discorag.schema.errors import StoreError
from discorag.store.conversations import Threads
from interfaces.http.access import Role
from tests.interfaces.http.conftest import Served
from tests.interfaces.http.parts import QUERY, logged, write_keys

DENSE = {"retriever": "dense"}


def create_thread(client: TestClient, **headers: Any) -> str:
    return client.post("/threads", json={}, **headers).json()["id"]


def list_threads(client: TestClient, **headers: Any) -> list[str]:
    """The threads of a tenant, the latest first."""
    return [thread["id"] for thread in client.get("/threads", **headers).json()]


def ask(client: TestClient, thread: str, query: str = QUERY, **more: Any) -> Any:
    return client.post("/ask", json={"query": query, "switches": DENSE, "thread": thread, **more})


def test_a_conversation_keeps_its_answers_under_its_first_question_until_it_is_deleted(served: Served) -> None:
    client = served()
    thread, other = create_thread(client), create_thread(client)
    asked = [ask(client, thread, query).json() for query in (QUERY, "Why?")]
    later = served()  # another server on the same store
    assert later.get(f"/threads/{thread}/turns").json() == asked
    titles = [(t["id"], t["title"]) for t in later.get("/threads").json()]
    assert titles[:2] == [(thread, QUERY), (other, "")]
    assert later.delete(f"/threads/{thread}").status_code == 204
    assert list_threads(later)[0] == other
    assert later.get(f"/threads/{thread}/turns").status_code == ask(later, thread).status_code == 404


@pytest.mark.parametrize(("method", "path"), [("DELETE", ""), ("GET", "/turns"), ("POST", "")])
def test_nobody_reaches_another_tenants_thread(served: Served, keys: Path, method: str, path: str) -> None:
    own, other = write_keys(keys, ("a", "default", tuple(Role)), ("b", "alpha", tuple(Role)))
    client = served(keys=keys)
    thread = create_thread(client, headers=own)
    if method == "POST":
        reply = client.post("/ask", json={"query": QUERY, "thread": thread}, headers=other)
    else:
        reply = client.request(method, f"/threads/{thread}{path}", headers=other)
    assert reply.status_code == 404
    assert thread not in list_threads(client, headers=other)
    assert thread in list_threads(client, headers=own)


def test_an_answer_that_cannot_be_stored_is_sent_and_logged(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, log: StringIO
) -> None:
    def fail(*_: object) -> None:
        raise StoreError("The disk is full.")

    thread = create_thread(client)
    monkeypatch.setattr(Threads, "add_turn", fail)
    asked = ask(client, thread)
    assert asked.status_code == 200, asked.text
    assert "turn_not_stored" in [line["event"] for line in logged(log)]


def test_a_thread_answers_from_its_own_corpus_only(client: TestClient) -> None:
    thread = create_thread(client)
    refused = ask(client, thread, corpus="other")
    assert refused.status_code == 422
    assert "not 'other'" in refused.json()["error"]["message"]
    assert ask(client, thread, corpus="default").status_code == 200
