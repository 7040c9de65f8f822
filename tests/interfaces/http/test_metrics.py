"""What the server counts, as a client of Prometheus reads it."""

import asyncio
import io
import math
import threading
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from interfaces.http.access import LOGGER, WRONG_KEYS, Role
from interfaces.http.service import Service
from interfaces.results import AskResult
from tests.graphs.scripts import model
from tests.interfaces.http.conftest import Served
from tests.interfaces.http.parts import PATIENCE_S, QUERY, logged, service_of, write_keys
from tests.servers.scripted import Scripted, ScriptedServer

Figures = dict[tuple[str, str], float]


def families(client: TestClient, headers: dict[str, str] | None = None) -> list[Metric]:
    reply = client.get("/metrics", headers=headers)
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/plain")
    return list(text_string_to_metric_families(reply.text))


def figures(client: TestClient, headers: dict[str, str] | None = None) -> Figures:
    """The samples by name and value of their first label."""
    found = families(client, headers)
    return {(s.name, next(iter(s.labels.values()), "")): s.value for f in found for s in f.samples}


def grown(before: Figures, after: Figures) -> Figures:
    return {key: value - before.get(key, 0) for key, value in after.items() if value != before.get(key, 0)}


def test_questions_stages_and_tokens_are_counted(served: Served) -> None:
    with ScriptedServer(model()) as llm:
        client = served(llm=llm.base_url)
        before = figures(client)
        assert client.post("/ask", json={"query": QUERY}).status_code == 200
        found = grown(before, figures(client))
    assert found["disco_rag_questions_total", "answered"] == 1
    assert {"prepare", "retrieve", "generate", "verify"} <= {
        stage for name, stage in found if name == "disco_rag_stage_seconds_count"
    }
    assert found["disco_rag_tokens_total", "in"] > 0
    assert found["disco_rag_tokens_total", "out"] > 0
    assert before["disco_rag_documents", "stored"] > 0
    assert (before["disco_rag_model", "used"], before["disco_rag_model", "paused"]) == (1, 0)


def test_a_stage_that_takes_as_long_as_the_deadline_allows_has_a_bucket(client: TestClient) -> None:
    client.post("/ask", json={"query": QUERY})
    (stages,) = [f for f in families(client) if f.name == "disco_rag_stage_seconds"]
    bounds = {float(s.labels["le"]) for s in stages.samples if s.name.endswith("_bucket")}
    deadline_s = service_of(client).settings.deadline_s
    assert max(bounds - {math.inf}) >= deadline_s
    assert len([b for b in bounds if 10 < b < deadline_s]) >= 3


def empty_corpus(client: TestClient) -> None:
    client.post("/ask", json={"query": QUERY, "corpus": "empty"})


def no_question(client: TestClient) -> None:
    client.post("/ask", json={})


def unknown_document(client: TestClient) -> None:
    client.delete("/documents/00000000-0000-0000-0000-000000000000")


def no_format(client: TestClient) -> None:
    client.post("/ingest", files={"files": ("a.exe", b"text")})


def too_many(client: TestClient) -> None:
    service_of(client).stopped = True
    client.post("/ask", json={"query": QUERY})
    service_of(client).stopped = False


@pytest.mark.parametrize(
    ("fail", "kind"),
    [
        (empty_corpus, "EmptyCorpusError"),
        (no_question, "InvalidRequestError"),
        (unknown_document, "NotFoundError"),
        (no_format, "UnknownFormatError"),
        (too_many, "StoppingError"),
    ],
)
def test_a_refused_request_is_counted_by_its_kind(
    client: TestClient, fail: Callable[[TestClient], None], kind: str
) -> None:
    before = figures(client)
    fail(client)
    assert grown(before, figures(client))["disco_rag_failures_total", kind] == 1


def outcomes(before: Figures, after: Figures) -> dict[str, float]:
    """How many questions ended how in between."""
    return {value: n for (name, value), n in grown(before, after).items() if name == "disco_rag_questions_total"}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/ask", {"query": QUERY}),
        ("/v1/chat/completions", {"model": "disco-rag", "messages": [{"role": "user", "content": QUERY}]}),
    ],
)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_question_too_many_is_counted_once_as_turned_away(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, path: str, body: dict[str, Any], streamed: bool
) -> None:
    before = figures(client)
    monkeypatch.setattr(Service, "under_way", 10**6)
    chat = {"stream": streamed} if path != "/ask" else {}
    headers = {"Accept": "text/event-stream"} if streamed else {}
    assert client.post(path, json=body | chat, headers=headers).status_code == 503
    assert outcomes(before, figures(client)) == {"turned away": 1}


def test_an_audit_and_a_search_are_no_questions_however_they_end(client: TestClient) -> None:
    before = figures(client)
    search = {"name": "search", "arguments": {"question": QUERY}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": search}
    accepted = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
    replies = list[str]()
    for stopped in (False, True):
        service_of(client).stopped = stopped
        assert client.post("/audit", json={}).status_code == (503 if stopped else 200)
        replies.append(client.post("/mcp", json=call, headers=accepted).text)
    service_of(client).stopped = False
    assert ["StoppingError" in reply for reply in replies] == [False, True]
    assert not outcomes(before, figures(client))


def test_a_client_that_leaves_while_its_answer_is_recorded_is_counted_once(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, before = service_of(client), figures(client)
    recording, goes_on = threading.Event(), threading.Event()

    async def leave() -> None:
        result = await service.rag.aask(QUERY)

        async def answered(**_: Any) -> AsyncGenerator[AskResult]:
            yield result

        def read(*_: Any) -> dict[str, Any]:
            recording.set()
            goes_on.wait(PATIENCE_S)
            return {}

        monkeypatch.setattr(service.rag, "astream", answered)
        monkeypatch.setattr(service.rag.backends.store, "stored_chunks", read)
        parts = service.events(service.access.who(None), {"query": QUERY, "corpus": None})
        waiting = asyncio.create_task(anext(parts))
        await asyncio.to_thread(recording.wait, PATIENCE_S)
        waiting.cancel()
        await asyncio.wait({waiting})
        goes_on.set()

    assert client.portal
    client.portal.call(leave)
    assert recording.is_set()
    assert outcomes(before, figures(client)) == {"answered": 1}


def test_a_model_that_fails_is_counted_and_degrades_the_server(served: Served) -> None:
    with ScriptedServer(lambda _: Scripted("down", status=500)) as llm:
        client = served(llm=llm.base_url)
        before = figures(client)
        for _ in range(3):
            assert client.post("/ask", json={"query": QUERY}).status_code == 200
        after = figures(client)
        assert client.get("/readyz").json() == {"status": "degraded"}
    found = grown(before, after)
    assert found["disco_rag_questions_total", "without model"] == 3
    assert found["disco_rag_failures_total", "ModelUnavailableError"] == 3
    assert after["disco_rag_model", "paused"] == 1


def test_only_an_operator_reads_metrics(served: Served, tmp_path: Path) -> None:
    keys = tmp_path / "keys.toml"
    reader, operator = write_keys(keys, ("r", "alpha", (Role.READ, Role.WRITE)), ("o", "beta", (Role.OPERATE,)))
    client = served(keys=keys)
    assert client.get("/metrics", headers=reader).status_code == 403
    assert figures(client, headers=operator)


def test_requests_with_wrong_keys_are_limited_and_logged_so_often_and_those_with_a_key_are_not(
    served: Served, tmp_path: Path, log: io.StringIO
) -> None:
    (reader,) = write_keys(tmp_path / "keys.toml", ("r", "alpha", (Role.READ,)))
    client = served(keys=tmp_path / "keys.toml")
    wrong = {"Authorization": "Bearer dr-wrong"}
    statuses = [client.get("/session", headers=wrong).status_code for _ in range(WRONG_KEYS)]
    assert set(statuses) == {401}
    reply = client.get("/session", headers=wrong)
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "60")
    assert [line["event"] for line in logged(log, LOGGER)] == ["refused"] * WRONG_KEYS
    assert client.get("/session", headers=reader).status_code == 200


def test_a_log_line_has_the_clients_address_and_the_proxys_id_beside_the_servers_own(
    served: Served, log: io.StringIO
) -> None:
    client = served()
    given = client.get("/session", headers={"X-Request-ID": "proxy-7"})
    forged = client.get("/session", headers={"X-Request-ID": 'x" y'})
    lines = [line for line in logged(log) if line["event"] == "request"]
    assert [line.get("proxy_id") for line in lines] == ["proxy-7", None]
    assert [line["request_id"] for line in lines] == [reply.headers["x-request-id"] for reply in (given, forged)]
    assert all(len(line["request_id"]) == 32 for line in lines)
    assert {line["client"] for line in lines} == {"testclient"}
