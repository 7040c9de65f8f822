"""Health, readiness, numbers and logs."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from discorag.schema.errors import StoreError
from discorag.schema.values import Vectors
from interfaces.http.access import Role
from interfaces.http.service import CALL_S, SharedCall
from tests.graphs.scripts import model
from tests.interfaces.http.conftest import Served
from tests.interfaces.http.parts import QUERY, TEXTS, Apps, logged, service_of, write_keys
from tests.servers.scripted import Scripted, ScriptedServer

Sample = tuple[str, frozenset[tuple[str, str]]]


def test_a_server_whose_store_fails_is_alive_and_not_ready(client: TestClient, apps: Apps) -> None:
    assert client.get("/readyz").json() == {"status": "ready", "encoder": apps.shared.encoder.version}
    service_of(client).readiness = SharedCall()
    service_of(client).rag.backends.store = Broken()
    reply = client.get("/readyz")
    assert (reply.status_code, reply.json()["error"]["type"]) == (503, "StoreError")
    assert int(reply.headers["retry-after"]) >= 1
    assert client.get("/healthz").status_code == 200


def test_who_asks_often_whether_the_server_is_ready_makes_it_work_once(
    client: TestClient, apps: Apps, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, asked, encode = [100.0], list[str](), apps.shared.encoder.encode_query

    async def counted(text: str) -> Vectors:
        asked.append(text)
        return await encode(text)

    monkeypatch.setattr("interfaces.http.service.monotonic", lambda: now[0])
    monkeypatch.setattr(apps.shared.encoder, "encode_query", counted)
    assert {client.get("/readyz").status_code for _ in range(5)} == {200}
    assert asked.count("probe") == 1
    now[0] += CALL_S
    client.get("/readyz")
    assert asked.count("probe") == 2


class Broken:
    """A store whose disk fails."""

    def manifest(self, *_: object) -> None:
        raise StoreError("The disk fails.", hint="Replace it.")

    def page(self, *_: object) -> None:
        raise RuntimeError(f"{QUERY} is a text that no log may hold")


def samples(client: TestClient) -> dict[Sample, float]:
    """Every number of the metrics, read as Prometheus reads them."""
    families = text_string_to_metric_families(client.get("/metrics").text)
    return {(s.name, frozenset(s.labels.items())): s.value for f in families for s in f.samples}


def summed(found: dict[Sample, float], name: str, **labels: str) -> float:
    return sum(value for (n, own), value in found.items() if n == name and labels.items() <= dict(own).items())


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_the_numbers_are_those_of_the_ledgers(served: Served, streamed: bool) -> None:
    script = model({"plan": Scripted("broken", status=500)})
    with ScriptedServer(script) as llm:
        client = served(llm=llm.base_url)
        asked = [ask(client, streamed) for _ in range(2)]
    stages = [stage for reply in asked for stage in reply["ledger"]["stages"]]
    found = samples(client)
    for name in {s["stage"] for s in stages}:
        mine = [s for s in stages if s["stage"] == name]
        usage = [s["usage"] for s in mine]
        assert summed(found, "disco_rag_stage_seconds_count", stage=name) == len(mine)
        assert summed(found, "disco_rag_stage_seconds_sum", stage=name) == pytest.approx(
            sum(s["seconds"] for s in mine)
        )
        for kind, field in (("in", "tokens_in"), ("out", "tokens_out"), ("cached", "tokens_cached")):
            assert summed(found, "disco_rag_tokens_total", stage=name, kind=kind) == sum(u[field] for u in usage)
        assert summed(found, "disco_rag_model_calls_total", stage=name) == sum(u["calls"] for u in usage)
        failures = [f for s in mine for f in s["failures"]]
        assert summed(found, "disco_rag_failures_total", stage=name, fallback="yes") == len(failures)
    assert summed(found, "disco_rag_failures_total", kind="ModelUnavailableError") >= 2
    assert summed(found, "disco_rag_tokens_total") > 0
    assert summed(found, "disco_rag_requests_total", route="/ask", status="200") == 2
    assert summed(found, "disco_rag_request_seconds_count", route="/ask") == 2


def ask(client: TestClient, streamed: bool) -> dict[str, Any]:
    if not streamed:
        return client.post("/ask", json={"query": QUERY}).json()
    reply = client.post("/ask", json={"query": QUERY}, headers={"Accept": "text/event-stream"})
    return json.loads(reply.text.split("event: answer\ndata: ")[1].split("\n")[0])


def test_no_request_makes_a_series_of_its_own(client: TestClient) -> None:
    for i in range(5):
        client.get(f"/nowhere/{i}")
        client.get(f"/ingest/{i:032x}")
        client.request(f"VERB{i}", "/ask")
    found = samples(client)
    assert summed(found, "disco_rag_requests_total", route="other", status="404") == 5
    assert summed(found, "disco_rag_requests_total", route="/ingest/{job_id}", status="404") == 5
    methods = {dict(labels)["method"] for name, labels in found if name == "disco_rag_requests_total"}
    assert methods == {"GET", "other"}


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
        ]
    written = [line for line in logged(log) if line["event"] == "request"]
    assert [line["request_id"] for line in written] == [r.headers["x-request-id"] for r in replies]
    assert [(line["route"], line["method"], line["status"]) for line in written] == [
        ("/ask", "POST", 200),
        ("/ask", "POST", 422),
        ("/ask", "POST", 401),
        ("/documents", "GET", 200),
    ]
    assert [(line.get("key"), line.get("tenant")) for line in written] == [
        ("operator", "alpha"),
        ("operator", "alpha"),
        (None, None),
        ("operator", "alpha"),
    ]
    check_private(log.getvalue())
    assert operator["Authorization"].removeprefix("Bearer ") not in log.getvalue()


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
