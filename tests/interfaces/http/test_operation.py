"""Health, readiness and logs."""

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from discorag.schema.errors import StoreError
from interfaces.http.access import Role
from interfaces.http.server import log_as_json
from tests.graphs.scripts import model
from tests.interfaces.http.conftest import Served
from tests.interfaces.http.parts import QUERY, TEXTS, logged, service_of, write_keys
from tests.servers.scripted import ScriptedServer


def test_a_server_whose_store_fails_is_alive_and_not_ready(client: TestClient) -> None:
    assert client.get("/readyz").json() == {"status": "ok"}
    service_of(client).rag.backends.store = Broken()
    reply = client.get("/readyz")
    assert (reply.status_code, reply.json()["error"]["type"]) == (503, "StoreError")
    assert int(reply.headers["retry-after"]) >= 1
    assert client.get("/healthz").status_code == 200


class Broken:
    """A store whose disk fails."""

    def manifest(self, *_: object) -> None:
        raise StoreError("The disk fails.", hint="Replace it.")

    def page(self, *_: object) -> None:
        raise RuntimeError(f"{QUERY} is a text that no log may hold")


@pytest.fixture
def operator(tmp_path: Path) -> dict[str, str]:
    (headers,) = write_keys(tmp_path / "keys.toml", ("operator", "alpha", tuple(Role)))
    return headers


def test_a_request_is_one_line_of_json_that_holds_no_text_and_no_key(
    served: Served, tmp_path: Path, operator: dict[str, str], log: io.StringIO
) -> None:
    with ScriptedServer(model()) as llm:
        client = served(llm=llm.base_url, keys=tmp_path / "keys.toml")
        replies = [
            client.post("/ask", json={"query": QUERY}, headers=operator),
            client.post("/ask", json={"query": ""}, headers=operator),
            client.post("/ask", json={"query": QUERY}),
            client.get("/documents", params={"corpus": QUERY}, headers=operator),
            client.get(f"/nowhere/{QUERY}"),
        ]
    written = [line for line in logged(log) if line["event"] == "request"]
    assert [line["request_id"] for line in written] == [r.headers["x-request-id"] for r in replies]
    assert [(line["route"], line["method"], line["status"]) for line in written] == [
        ("/ask", "POST", 200),
        ("/ask", "POST", 422),
        ("/ask", "POST", 401),
        ("/documents", "GET", 200),
        ("other", "GET", 404),
    ]
    assert [(line.get("key"), line.get("tenant")) for line in written] == [
        ("operator", "alpha"),
        ("operator", "alpha"),
        (None, None),
        ("operator", "alpha"),
        (None, None),
    ]
    check_private(log.getvalue())
    assert operator["Authorization"].removeprefix("Bearer ") not in log.getvalue()


def test_without_an_access_log_only_what_fails_is_logged(
    client: TestClient, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", log)
    log_as_json(texts=False, access=False)
    client.get("/documents")
    client.get("/documents", params={"corpus": ""})
    assert log.getvalue() == ""
    service_of(client).rag.backends.store = Broken()
    client.get("/documents")
    assert [(line["event"], line["level"]) for line in logged(log)] == [("failed", "error"), ("request", "warning")]


def check_private(text: str) -> None:
    for private in (QUERY, "incidence of influenza", *TEXTS.values()):
        assert private not in text


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_an_unexpected_error_is_logged_under_the_id_of_the_response_and_quotes_no_text(
    client: TestClient, log: io.StringIO, streamed: bool
) -> None:
    service_of(client).rag.backends.store = Broken()
    stream: dict[str, Any] = {"json": {"query": QUERY}, "headers": {"Accept": "text/event-stream"}}
    reply = client.post("/ask", **stream) if streamed else client.get("/documents")
    assert '"InternalError"' in reply.text
    check_private(reply.text.rpartition("event: error")[2])
    (failed,) = [line for line in logged(log) if line["event"] == "failed"]
    assert failed["request_id"] == reply.headers["x-request-id"]
    raised = failed["exception"][0]
    assert streamed or (raised["exc_type"], raised["frames"][-1]["name"]) == ("RuntimeError", "page")
    check_private(log.getvalue())
    (request,) = [line for line in logged(log) if line["event"] == "request"]
    assert request["status"] == reply.status_code == (200 if streamed else 500)
