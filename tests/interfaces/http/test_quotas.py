"""What a tenant may have: documents, bytes, jobs, questions a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from interfaces.http.access import Role
from tests.interfaces.http.conftest import Served
from tests.interfaces.http.parts import QUERY, ended, upload, write_keys

PLAIN = "The Moon pulls the sea. Tides rise."
LOCAL = {"retriever": "dense", "use_graph": False, "use_plan": False}


def stored(client: TestClient, files: dict[str, str | bytes], corpus: str, headers: Any = None) -> int:
    """Status of an upload, after its job."""
    reply = upload(client, files, corpus=corpus, headers=headers)
    if reply.status_code == 202:
        ended(client, reply.json()["job"]["id"], headers=headers)
    else:
        assert reply.json()["error"]["type"] == "QuotaError"
        assert reply.json()["error"]["hint"]
    return reply.status_code


def test_a_tenant_may_keep_so_many_documents_in_all_its_corpora_and_may_replace_and_delete_them(
    served: Served, tmp_path: Path
) -> None:
    (headers,) = write_keys(tmp_path / "keys.toml", ("one", "many", tuple(Role)))
    client = served(keys=tmp_path / "keys.toml", quota={"documents": 2})
    client.headers.update(headers)
    assert stored(client, {"a.txt": PLAIN, "b.txt": PLAIN, "c.txt": PLAIN}, "q1") == 429
    assert stored(client, {"a.txt": PLAIN}, "q1") == stored(client, {"a.txt": PLAIN}, "q2") == 202
    assert stored(client, {"b.txt": PLAIN}, "q1") == 429
    assert stored(client, {"a.txt": "Tides turn."}, "q1") == 202
    (document,) = client.get("/documents", params={"corpus": "q2"}).json()["documents"]
    client.delete(f"/documents/{document['doc_id']}", params={"corpus": "q2"})
    assert stored(client, {"b.txt": PLAIN}, "q1") == 202
    assert 'disco_rag_refused_total{kind="QuotaError"} 2.0' in client.get("/metrics").text


def test_a_tenant_may_keep_so_many_bytes(served: Served, tmp_path: Path) -> None:
    (headers,) = write_keys(tmp_path / "keys.toml", ("one", "large", tuple(Role)))
    client = served(keys=tmp_path / "keys.toml", quota={"storage_mb": 0.002})
    client.headers.update(headers)
    assert stored(client, {"a.txt": "Tides rise. " * 50}, "q3") == 202
    assert stored(client, {"b.txt": "Tides rise. " * 200}, "q3") == 429


def test_a_tenant_may_have_so_many_jobs_that_have_not_ended(served: Served, tmp_path: Path) -> None:
    keys = tmp_path / "keys.toml"
    one, other = write_keys(keys, ("one", "north", tuple(Role)), ("other", "south", tuple(Role)))
    keys.write_text(keys.read_text() + '[[tenant]]\nname = "north"\njobs = 0\n', encoding="utf-8")
    client = served(keys=keys)
    reply = upload(client, {"a.txt": PLAIN}, corpus="q4", headers=one)
    assert (reply.status_code, "retry-after" in reply.headers) == (429, True)
    assert stored(client, {"a.txt": PLAIN}, "q4", headers=other) == 202


def test_the_questions_of_all_keys_of_a_tenant_count_together(served: Served, tmp_path: Path) -> None:
    entries = [("one", "alpha", tuple(Role)), ("two", "alpha", tuple(Role)), ("other", "default", tuple(Role))]
    one, two, other = write_keys(tmp_path / "keys.toml", *entries)
    client = served(keys=tmp_path / "keys.toml", quota={"questions_per_minute": 2})
    body = {"query": QUERY, "switches": LOCAL}
    replies = [client.post("/ask", json=body, headers=headers) for headers in (one, two, one, other)]
    assert [reply.status_code for reply in replies] == [200, 200, 429, 200]
    assert 1 <= int(replies[2].headers["retry-after"]) <= 60
    assert client.get("/documents", headers=one).status_code == 200
