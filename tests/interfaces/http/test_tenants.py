"""Tenants never see each other's documents, and have no more than their quotas."""

from collections.abc import Callable, Iterator
from functools import reduce
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from interfaces.http.access import Role
from tests.interfaces.http.conftest import Served
from tests.interfaces.http.parts import Apps, ended, upload, write_keys

CORPUS = "shared-name"
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


def ask(me: Tenant, query: str, **more: Any) -> Any:
    return me.post("/ask", {"query": query, "corpus": CORPUS, "switches": LOCAL, **more})


def chat(me: Tenant, query: str) -> Any:
    message = {"role": "user", "content": query}
    return me.post("/v1/chat/completions", {"model": f"standard-rag/{CORPUS}", "messages": [message]})


def question(other: Tenant) -> str:
    return f"What did {SECRETS[other.name]} find?"


def theirs(other: Tenant) -> dict[str, Any]:
    """Filters that name the other tenant's documents."""
    return {"filters": {"doc_id": other.documents}}


def passage(other: Tenant) -> str:
    return other.get(f"/trees/{other.documents[0]}", corpus=CORPUS).json()[0]["id"]


Call = Callable[[Tenant, Tenant], Any]
CALLS: dict[str, tuple[Call, int]] = {
    "ask": (lambda me, other: ask(me, question(other), switches={**LOCAL, "abstain": "never"}), 200),
    "ask by id": (lambda me, other: ask(me, "What rises?", **theirs(other)), 200),  # an answer that nothing matches
    "ask for all": (
        lambda me, other: ask(me, "What rises?", **theirs(other), switches={**LOCAL, "retriever": "all"}),
        404,
    ),
    "chat": (lambda me, other: chat(me, question(other)), 200),
    "documents": (lambda me, _: me.get("/documents", corpus=CORPUS), 200),
    "corpora": (lambda me, _: me.get("/corpora"), 200),
    "trees": (lambda me, other: me.get(f"/trees/{other.documents[0]}", corpus=CORPUS), 404),
    "text": (lambda me, other: me.get(f"/documents/{other.documents[0]}/text", corpus=CORPUS), 404),
    "chunks": (lambda me, other: me.get("/chunks", id=passage(other), corpus=CORPUS), 404),
    "job": (lambda me, other: me.get(f"/ingest/{other.job}"), 404),
    "cancel": (lambda me, other: me.delete(f"/ingest/{other.job}"), 404),
    "delete": (lambda me, other: me.delete(f"/documents/{other.documents[0]}", corpus=CORPUS), 404),
}


def test_no_request_of_a_tenant_ever_shows_or_touches_a_document_of_the_other(tenants: dict[str, Tenant]) -> None:
    for name, call in product(SECRETS, CALLS):
        (other,) = SECRETS.keys() - {name}
        make, status = CALLS[call]
        reply = make(tenants[name], tenants[other])
        assert reply.status_code == status, (call, reply.text)
        assert not leaked(reply.text, other), call
    for me in tenants.values():
        assert me.get("/documents", corpus=CORPUS).json()["total"] == 2
        corpora = me.get("/corpora").json()["corpora"]
        assert [(c["name"], c["documents"]) for c in corpora].count((CORPUS, 2)) == 1


def leaked(text: str, other: str) -> bool:
    """Whether a reply holds the other tenant's word, but where it repeats the question."""
    word = SECRETS[other]
    asked = (f"mentions {word}", f"has the word {word}", f"What did {word} find?")
    return word in reduce(lambda rest, repeated: rest.replace(repeated, ""), asked, text)


def test_a_tenant_sees_its_own_job_document_and_tree(tenants: dict[str, Tenant]) -> None:
    me = tenants["north"]
    assert not set(me.documents) & set(tenants["south"].documents)  # of the same names
    assert me.get(f"/ingest/{me.job}").json()["settled"] == 2
    found = me.get(f"/trees/{me.documents[0]}", corpus=CORPUS).json()
    assert SECRETS["north"] in found[0]["text"]
    assert me.get("/chunks", id=found[0]["id"], corpus=CORPUS).json() == found[:1]
    read = me.get(f"/documents/{me.documents[0]}/text", corpus=CORPUS).json()
    span = found[0]["span"]
    assert read["text"][span["start"] : span["end"]] == found[0]["text"]
    session = me.get("/session").json()
    assert (session["tenant"], session["roles"]) == ("north", ["operate", "read", "write"])
    assert (session["keys"], session["language_model"]) == (True, "")
    assert (
        SECRETS["north"] in ask(me, "What did the trial find?", switches={**LOCAL, "abstain": "never"}).json()["text"]
    )


PLAIN = "The Moon pulls the sea. Tides rise."


def store(client: TestClient, files: dict[str, str | bytes], corpus: str, headers: Any = None) -> int:
    """Status of an upload, after its job."""
    reply = upload(client, files, corpus=corpus, headers=headers)
    if reply.status_code == 202:
        ended(client, reply.json()["job"]["id"], headers=headers)
    else:
        assert reply.json()["error"]["type"] == "QuotaError"
        assert reply.json()["error"]["hint"]
    return reply.status_code


def test_a_tenant_may_keep_so_many_documents_in_all_its_corpora_and_may_replace_and_delete_them(
    served: Served, keys: Path
) -> None:
    (headers,) = write_keys(keys, ("one", "many", tuple(Role)))
    client = served(keys=keys, quota={"documents": 2})
    client.headers.update(headers)
    assert store(client, {"a.txt": PLAIN, "b.txt": PLAIN, "c.txt": PLAIN}, "q1") == 429
    assert store(client, {"a.txt": PLAIN}, "q1") == store(client, {"a.txt": PLAIN}, "q2") == 202
    assert store(client, {"b.txt": PLAIN}, "q1") == 429
    assert store(client, {"a.txt": "Tides turn."}, "q1") == 202
    (document,) = client.get("/documents", params={"corpus": "q2"}).json()["documents"]
    client.delete(f"/documents/{document['doc_id']}", params={"corpus": "q2"})
    assert store(client, {"b.txt": PLAIN}, "q1") == 202


def test_a_tenant_may_keep_so_many_bytes(served: Served, keys: Path) -> None:
    (headers,) = write_keys(keys, ("one", "large", tuple(Role)))
    client = served(keys=keys, quota={"storage_mb": 0.002})
    client.headers.update(headers)
    assert store(client, {"a.txt": "Tides rise. " * 50}, "q3") == 202
    assert store(client, {"b.txt": "Tides rise. " * 200}, "q3") == 429


def test_a_tenant_may_have_so_many_jobs_that_have_not_ended(served: Served, keys: Path) -> None:
    (headers,) = write_keys(keys, ("one", "north", tuple(Role)))
    reply = upload(served(keys=keys, quota={"jobs": 0}), {"a.txt": PLAIN}, corpus="q4", headers=headers)
    assert (reply.status_code, "retry-after" in reply.headers) == (429, True)
