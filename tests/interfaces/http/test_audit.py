"""The audit log: who read or changed which documents, and never a text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from discorag.schema.errors import ConfigError
from interfaces.http.access import Role
from interfaces.http.observability import log_as_json
from tests.interfaces.http.conftest import Served
from tests.interfaces.http.parts import QUERY, TEXTS, bearer, ended, upload, write_keys

PRIVATE = "Quillfeather measured tides in secret."


def test_every_document_that_was_read_or_changed_is_named_with_who_did_it_and_no_text_is(
    served: Served, tmp_path: Path, audit: Path
) -> None:
    (me,) = write_keys(tmp_path / "keys.toml", ("auditor", "alpha", tuple(Role)))
    client = served(keys=tmp_path / "keys.toml")
    mine, corpus = {d["doc_id"] for d in client.get("/documents", headers=me).json()["documents"]}, {"corpus": "audit"}
    replies = [
        client.post("/ask", json={"query": QUERY}, headers=me),
        client.post("/ask", json={"query": QUERY}, headers={**me, "Accept": "text/event-stream"}),
        client.post("/v1/chat/completions", json=chat(stream=False), headers=me),
        client.post("/v1/chat/completions", json=chat(stream=True), headers=me),
    ]
    done = lines(audit)
    assert [(line["event"], set(line["documents"]) <= mine, bool(line["documents"])) for line in done[1:]] == [
        ("read", True, True)
    ] * 4
    assert [line["request_id"] for line in done[1:]] == [reply.headers["x-request-id"] for reply in replies]
    job = upload(client, {"secret.txt": PRIVATE}, corpus="audit", headers=me).json()["job"]["id"]
    ended(client, job, headers=me)
    (document,) = [d["doc_id"] for d in client.get("/documents", params=corpus, headers=me).json()["documents"]]
    client.get(f"/trees/{document}", params=corpus, headers=me)
    client.get(f"/documents/{document}/text", params=corpus, headers=me)
    client.delete(f"/ingest/{job}", headers=me)
    client.delete(f"/documents/{document}", params=corpus, headers=me)
    client.post("/ask", json={"query": PRIVATE}, headers=bearer("dr-wrong"))
    done = lines(audit)[5:]
    assert [line["event"] for line in done] == ["accepted", "listed", "read", "read", "cancelled", "deleted", "refused"]
    assert all(line["documents"] == [document] and line["corpus"] == "audit" for line in done[:-1])
    assert {(line["key"], line["tenant"]) for line in lines(audit)[:-1]} == {("auditor", "alpha")}
    assert all(line["timestamp"] and len(line["request_id"]) == 32 for line in lines(audit))
    for private in (QUERY, "influenza", PRIVATE, "Quillfeather", "secret.txt", *TEXTS.values()):
        assert private not in audit.read_text()


def chat(*, stream: bool) -> dict[str, Any]:
    return {"model": "disco-rag", "stream": stream, "messages": [{"role": "user", "content": QUERY}]}


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_listing_that_shows_nothing_leaves_no_line(served: Served, audit: Path) -> None:
    client: TestClient = served()
    client.get("/documents", params={"corpus": PRIVATE})
    assert lines(audit) == []


def test_a_file_that_cannot_be_written_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="audit log"):
        log_as_json(texts=False, audit=tmp_path)
