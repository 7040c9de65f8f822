"""Two tenants with the same corpus and the same file names never see each other's documents."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from discorag.config import StoreSettings
from discorag.schema.document import Scope
from discorag.store.backup import restore
from discorag.store.store import open_store
from interfaces.http.access import Role
from tests.interfaces.http.parts import Apps, ended, upload, write_keys

CORPUS = "shared-name"
REQUESTS = 300
SECRETS = {"north": "Quillfeather", "south": "Bramblewick"}
"""A word that stands in every sentence of a tenant's documents, and nowhere else."""
LOCAL = {"retriever": "dense", "use_graph": False, "use_plan": False}


def body(tenant: str) -> str:
    return f"The {SECRETS[tenant]} trial measured tides. {SECRETS[tenant]} found that tides rise twice a day."


class Tenant:
    """One tenant's client."""

    def __init__(self, name: str, client: TestClient, headers: dict[str, str]) -> None:
        self.name, self._client, self._headers = name, client, headers
        files: dict[str, str | bytes] = {n: body(name) for n in ("report.txt", "notes.md")}
        self.job = upload(client, files, corpus=CORPUS, headers=headers).json()["job"]["id"]
        assert ended(client, self.job, headers=headers)["failed"] == 0
        self.documents = [d["doc_id"] for d in self.get("/documents", corpus=CORPUS).json()["documents"]]

    def get(self, path: str, **params: Any) -> Any:
        return self._client.get(path, params=params, headers=self._headers)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        return self._client.post(path, json=body, headers=self._headers)

    def delete(self, path: str, **params: Any) -> Any:
        return self._client.delete(path, params=params, headers=self._headers)


@pytest.fixture(scope="module")
def tenants(apps: Apps, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Tenant]]:
    home = tmp_path_factory.mktemp("tenants")
    every = [(name, name, tuple(Role)) for name in SECRETS]
    headers = write_keys(home / "keys.toml", *every)
    with TestClient(apps(home / "uploads", keys=home / "keys.toml"), base_url="http://127.0.0.1") as client:
        yield {name: Tenant(name, client, h) for name, h in zip(SECRETS, headers, strict=True)}


def ask(me: Tenant, other: Tenant) -> Any:
    return me.post(
        "/ask",
        {"query": f"What did {SECRETS[other.name]} find?", "corpus": CORPUS, "switches": {**LOCAL, "abstain": "never"}},
    )


def ask_by_id(me: Tenant, other: Tenant) -> Any:
    filters = {"doc_id": other.documents}
    return me.post("/ask", {"query": "What rises?", "corpus": CORPUS, "filters": filters, "switches": LOCAL})


def ask_for_all(me: Tenant, other: Tenant) -> Any:
    filters = {"doc_id": other.documents}
    switches = {**LOCAL, "retriever": "all"}
    return me.post("/ask", {"query": "What rises?", "corpus": CORPUS, "filters": filters, "switches": switches})


def chat(me: Tenant, other: Tenant) -> Any:
    message = {"role": "user", "content": f"What did {SECRETS[other.name]} find?"}
    return me.post("/v1/chat/completions", {"model": "standard-rag", "corpus": CORPUS, "messages": [message]})


def listing(me: Tenant, other: Tenant) -> Any:
    return me.get("/documents", corpus=CORPUS)


def sets(me: Tenant, other: Tenant) -> Any:
    reply = me.get("/corpora")
    assert [(c["name"], c["documents"]) for c in reply.json()["corpora"]].count((CORPUS, 2)) == 1
    return reply


def tree(me: Tenant, other: Tenant) -> Any:
    return me.get(f"/trees/{other.documents[0]}", corpus=CORPUS)


def levels(me: Tenant, other: Tenant) -> Any:
    return me.get(f"/trees/{other.documents[0]}/nodes", corpus=CORPUS)


def text(me: Tenant, other: Tenant) -> Any:
    return me.get(f"/documents/{other.documents[0]}/text", corpus=CORPUS)


def passages(me: Tenant, other: Tenant) -> Any:
    [theirs, *_] = other.get(f"/trees/{other.documents[0]}", corpus=CORPUS).json()
    return me.get("/chunks", id=theirs["chunk"]["id"], corpus=CORPUS)


def job(me: Tenant, other: Tenant) -> Any:
    return me.get(f"/ingest/{other.job}")


def cancel(me: Tenant, other: Tenant) -> Any:
    return me.delete(f"/ingest/{other.job}")


def retry(me: Tenant, other: Tenant) -> Any:
    return me.post(f"/ingest/{other.job}/retry", {})


def delete(me: Tenant, other: Tenant) -> Any:
    return me.delete(f"/documents/{other.documents[0]}", corpus=CORPUS)


Call = Callable[[Tenant, Tenant], Any]
ALLOWED: dict[Call, set[int]] = {
    ask: {200},
    ask_by_id: {200},  # an answer that nothing matches
    ask_for_all: {404},
    chat: {200},
    listing: {200},
    sets: {200},
    tree: {404},
    levels: {404},
    text: {404},
    passages: {404},
    job: {404},
    cancel: {404},
    retry: {404},
    delete: {404},
}


EACH_ONCE = list(product(SECRETS, ALLOWED))
MANY = random.Random(7).choices(EACH_ONCE, k=REQUESTS)


@pytest.mark.parametrize("requests", [EACH_ONCE, pytest.param(MANY, marks=pytest.mark.deep)], ids=["each once", "many"])
def test_no_request_of_a_tenant_ever_shows_or_touches_a_document_of_the_other(
    tenants: dict[str, Tenant], requests: list[tuple[str, Call]]
) -> None:
    for name, call in requests:
        (other,) = SECRETS.keys() - {name}
        allowed = ALLOWED[call]
        reply = call(tenants[name], tenants[other])
        assert reply.status_code in allowed, (call.__name__, reply.text)
        assert not leaked(reply.text, other), call.__name__
    for name in SECRETS:
        assert tenants[name].get("/documents", corpus=CORPUS).json()["total"] == 2


def leaked(text: str, other: str) -> bool:
    """Whether a reply holds the other tenant's word, but where it repeats the question."""
    word = SECRETS[other]
    text = text.replace(f"No passage mentions {word}", "")
    try:
        found = json.loads(text)
    except ValueError:
        return word in text
    return word in json.dumps(_without_query(found))


def _without_query(found: Any) -> Any:
    if isinstance(found, dict):
        return {k: _without_query(v) for k, v in found.items() if k != "query"}  # pyright: ignore[reportUnknownVariableType]
    return [_without_query(f) for f in found] if isinstance(found, list) else found  # pyright: ignore[reportUnknownVariableType]


def test_the_same_names_of_two_tenants_are_different_documents(tenants: dict[str, Tenant]) -> None:
    north, south = (set(tenants[name].documents) for name in SECRETS)
    assert len(north) == len(south) == 2
    assert not north & south


def test_a_tenant_sees_its_own_job_document_and_tree(tenants: dict[str, Tenant]) -> None:
    me = tenants["north"]
    assert me.get(f"/ingest/{me.job}").json()["settled"] == 2
    found = me.get(f"/trees/{me.documents[0]}", corpus=CORPUS).json()
    assert SECRETS["north"] in found[0]["chunk"]["text"]
    assert "flowchart" in found[0]["mermaid"]
    assert me.get("/chunks", id=found[0]["chunk"]["id"], corpus=CORPUS).json() == [found[0]["chunk"]]
    read = me.get(f"/documents/{me.documents[0]}/text", corpus=CORPUS).json()
    span = found[0]["chunk"]["span"]
    assert read["text"][span["start"] : span["end"]] == found[0]["chunk"]["text"]
    assert me.get(f"/trees/{me.documents[0]}/nodes", corpus=CORPUS).json()["leaves"] == 2
    assert me.get("/session").json() == {"tenant": "north", "roles": ["operate", "read", "write"], "keys": True}
    assert SECRETS["north"] in ask(me, tenants["south"]).json()["text"]


def test_a_backup_holds_the_tenants_own_documents_and_can_be_restored(
    tenants: dict[str, Tenant], apps: Apps, tmp_path: Path
) -> None:
    file = tmp_path / "north.backup"
    file.write_bytes(tenants["north"].get("/backup").content)
    assert SECRETS["south"].encode() not in file.read_bytes()
    settings = StoreSettings(path=tmp_path / "restored")
    assert restore(settings, file) == 2
    with open_store(settings) as store:
        assert [c.documents for c in store.corpora("north")] == [2]
        assert store.corpora("south") == []
        found = [store.document(Scope(tenant="north", corpus=CORPUS), d) for d in tenants["north"].documents]
    assert all(SECRETS["north"] in document.text for document in found)
