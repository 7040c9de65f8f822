"""The audit log names who read or changed what and never a text; the audit of a corpus over HTTP."""

from io import StringIO
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from interfaces.http.access import LOGGER, Role
from tests.conflicts.test_audit import LEAFLET, POLICY
from tests.interfaces.http.conftest import Served
from tests.interfaces.http.parts import QUERY, TEXTS, bearer, ended, logged, upload, write_keys

PRIVATE = "Quillfeather measured tides in secret."


def test_every_document_that_was_read_or_changed_is_named_with_who_did_it_and_no_text_is(
    served: Served, keys: Path, log: StringIO
) -> None:
    (me,) = write_keys(keys, ("auditor", "alpha", tuple(Role)))
    client = served(keys=keys)
    mine, corpus = {d["doc_id"] for d in client.get("/documents", headers=me).json()["documents"]}, {"corpus": "audit"}
    replies = [
        client.post("/ask", json={"query": QUERY}, headers=me),
        client.post("/ask", json={"query": QUERY}, headers={**me, "Accept": "text/event-stream"}),
        client.post("/v1/chat/completions", json=chat(stream=False), headers=me),
        client.post("/v1/chat/completions", json=chat(stream=True), headers=me),
    ]
    done = logged(log, LOGGER)
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
    done = logged(log, LOGGER)[5:]
    assert [line["event"] for line in done] == ["accepted", "listed", "read", "read", "cancelled", "deleted", "refused"]
    assert all(line["documents"] == [document] and line["corpus"] == "audit" for line in done[:-1])
    assert {(line["key"], line["tenant"]) for line in logged(log, LOGGER)[:-1]} == {("auditor", "alpha")}
    assert all(line["timestamp"] and len(line["request_id"]) == 32 for line in logged(log, LOGGER))
    for private in (QUERY, "influenza", PRIVATE, "Quillfeather", "secret.txt", *TEXTS.values()):
        assert private not in log.getvalue()


def chat(*, stream: bool) -> dict[str, Any]:
    return {"model": "disco-rag", "stream": stream, "messages": [{"role": "user", "content": QUERY}]}


SHOP = {"corpus": "shop"}


def fill(client: TestClient, headers: Any, **texts: str) -> None:
    job = upload(client, {f"{name}.md": text for name, text in texts.items()}, corpus="shop", headers=headers).json()
    assert ended(client, job["job"]["id"], headers=headers)["failed"] == 0


def test_an_audit_is_run_stays_and_says_what_has_changed_since(served: Served, keys: Path) -> None:
    (me,) = write_keys(keys, ("me", "auditing", tuple(Role)))
    client = served(keys=keys)
    fill(client, me, policy=POLICY, leaflet=LEAFLET)

    def stored() -> dict[str, Any]:
        return client.get("/audit", params=SHOP, headers=me).json()

    before = stored()
    assert (before["findings"], before["changed"], before["documents"]) == ([], 2, 2)
    report = client.post("/audit", json=SHOP, headers=me).json()
    assert report["changed"] == 0
    assert [f["kind"] for f in report["findings"]] == ["duration", "polarity", "name"]
    assert stored() == client.post("/audit", json=SHOP, headers=me).json() == report
    fill(client, me, leaflet=LEAFLET.replace("14 days", "30 days"))
    assert (stored()["findings"], stored()["changed"]) == ([], 1)
    again = client.post("/audit", json=SHOP, headers=me).json()
    assert [f["kind"] for f in again["findings"]] == ["polarity", "name"]


def test_who_may_write_settles_a_finding_and_opens_it_again(served: Served, keys: Path, log: StringIO) -> None:
    writer, reader, stranger = write_keys(
        keys, ("w", "settling", tuple(Role)), ("r", "settling", (Role.READ,)), ("s", "stranger", tuple(Role))
    )
    client = served(keys=keys)
    fill(client, writer, policy=POLICY, leaflet=LEAFLET)
    finding = client.post("/audit", json=SHOP, headers=reader).json()["findings"][0]

    def put(headers: dict[str, str], note: str | None, finding_id: str = finding["id"]) -> int:
        return client.put(f"/audit/{finding_id}", params=SHOP, json={"note": note}, headers=headers).status_code

    def settled() -> dict[str, str]:
        return client.get("/audit", params=SHOP, headers=reader).json()["settled"]

    assert (put(reader, "No."), put(stranger, "No."), put(writer, "No.", finding["left"]["doc_id"])) == (403, 404, 404)
    assert (put(writer, "Out of date."), settled()) == (204, {finding["id"]: "Out of date."})
    assert (put(writer, None), settled()) == (204, {})
    assert client.post("/audit", json=SHOP, headers=stranger).status_code == 404
    assert client.get("/audit", params=SHOP, headers=stranger).json()["documents"] == 0
    assert "30 days" not in log.getvalue()
    assert "settled" in [line["event"] for line in logged(log, LOGGER)]
