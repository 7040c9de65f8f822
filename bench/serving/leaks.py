"""Whether a tenant ever sees what is another's: randomised requests of many tenants with the same names for everything.

Every document holds a word that no other tenant's has. A request is made with one tenant's key and, where it takes an
id, mostly with one of another; no response may hold another tenant's word, and no foreign id may be known.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from bench.serving.promises import Promise, promised, settle, whole_documents
from bench.serving.server import PATIENCE_S, ApiServer

CORPUS = "shared-name"
FILES = ("note.md", "report.md")
QUESTIONS = ("What is kept in the harbour archive?", "Who signed the report?", "Which word is secret?")
AT_ONCE = 16
SHARES = {
    "list": 20, "tree": 25, "job": 20, "ask": 8, "chat": 2, "retry": 5, "cancel": 5, "delete": 10, "other corpus": 4,
    "wrong key": 1,
}  # fmt: skip
"""How often each kind of request is made, in per cent."""


@dataclass
class Owner:
    """A tenant with what belongs to it."""

    tenant: str
    word: str
    promise: Promise
    doc_ids: list[str] = field(default_factory=list[str])

    @property
    def job_id(self) -> str:
        """Of the job that read its documents."""
        return self.promise.job_id


@dataclass
class Leaks:
    """What came of the requests: how many of each kind, what must not be seen and was, other statuses."""

    requests: Counter[str] = field(default_factory=Counter[str])
    statuses: Counter[str] = field(default_factory=Counter[str])
    found: list[str] = field(default_factory=list[str])
    unexpected: list[str] = field(default_factory=list[str])

    def report(self) -> dict[str, Any]:
        """For the result file."""
        counts = {"requests": self.requests.total(), "kinds": dict(self.requests), "statuses": dict(self.statuses)}
        other = {"unexpected": len(self.unexpected), "unexpected_first": self.unexpected[:5]}
        return counts | {"leaks": len(self.found), "found": self.found[:20]} | other


def tenants(count: int) -> list[str]:
    """Names of so many tenants."""
    return [f"tenant-{i:02}" for i in range(count)]


def settled_in(server: ApiServer, names: Sequence[str], seed: int) -> list[Owner]:
    """Give every tenant its documents, all under the same names."""
    rng = random.Random(seed)
    owners: list[Owner] = []
    for tenant in names:
        word = f"Q{rng.getrandbits(48):012x}"
        with server.client(tenant) as client:
            promise = promised(client, CORPUS, {name: made_text(name, word) for name in FILES})
            owners.append(Owner(tenant, word, promise))
    for owner in owners:
        with server.client(owner.tenant) as client:
            settle(client, [owner.promise], seconds=PATIENCE_S * len(names))
            listed = client.get("/documents", params={"corpus": CORPUS}).raise_for_status().json()["documents"]
            owner.doc_ids = [d["doc_id"] for d in listed]
    return owners


def made_text(name: str, word: str) -> str:
    """A document of its own for the tenant with this word; but for the word the same for all."""
    return (
        f"# Harbour archive, {name}\n\nThe harbour archive keeps the ledger {word}. The report on the ledger {word} "
        f"was signed by the keeper of {word}, because the secret word is {word}.\n\nHowever, nobody outside the "
        f"archive has read {word}. The keeper says that {word} stays where it is."
    )


async def probe(server: ApiServer, owners: Sequence[Owner], count: int, seed: int) -> Leaks:
    """Make ``count`` requests, `AT_ONCE` at a time."""
    rng, leaks = random.Random(seed), Leaks()
    left = iter(rng.choices(list(SHARES), list(SHARES.values()), k=count))
    async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE_S) as client:

        async def work() -> None:
            for kind in left:
                who, other = rng.sample(owners, 2)
                asked = request(kind, who, other, rng)
                key = "dr-nobody" if kind == "wrong key" else server.home.keys[who.tenant]
                reply = await client.send(asked.built(client, key))
                leaks.requests[kind] += 1
                leaks.statuses[str(reply.status_code)] += 1
                leaks.found += [f"{kind}: {said}" for said in seen(reply.status_code, reply.text, asked, who, owners)]
                if reply.status_code not in asked.allowed:
                    leaks.unexpected.append(f"{kind}: {reply.status_code} {reply.text[:200]}")

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return leaks


@dataclass(frozen=True)
class Asked:
    """A request, and the statuses that it may be answered with."""

    method: str
    path: str
    allowed: tuple[int, ...]
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    json: Mapping[str, Any] | None = None

    def built(self, client: httpx.AsyncClient, key: str) -> httpx.Request:
        """As it is sent."""
        headers = {"Authorization": f"Bearer {key}"}
        return client.build_request(self.method, self.path, params=self.params, json=self.json, headers=headers)


def request(kind: str, who: Owner, other: Owner, rng: random.Random) -> Asked:
    """A request of this kind by ``who``.

    Its ids are two times in three those of ``other``; always, where the request would change something.
    """
    scope, owner = {"corpus": CORPUS}, rng.choice((who, other, other))
    known, query = (200 if owner is who else 404,), rng.choice(QUESTIONS)
    chat = {"model": "disco-rag", "messages": [{"role": "user", "content": query}], **scope}
    guessed = (other.tenant, f"{other.tenant}/{CORPUS}", f"{other.tenant}\0{CORPUS}", f"../{CORPUS}", "*")
    made = {
        "list": Asked("GET", "/documents", (200,), scope),
        "tree": Asked("GET", f"/trees/{rng.choice(owner.doc_ids)}", known, scope),
        "job": Asked("GET", f"/ingest/{owner.job_id}", known),
        "ask": Asked("POST", "/ask", (200,), json={"query": query, **scope}),
        "chat": Asked("POST", "/v1/chat/completions", (200,), json=chat),
        "retry": Asked("POST", f"/ingest/{other.job_id}/retry", (404,)),
        "cancel": Asked("DELETE", f"/ingest/{other.job_id}", (404,)),
        "delete": Asked("DELETE", f"/documents/{rng.choice(other.doc_ids)}", (404,), scope),
        "other corpus": Asked("GET", "/documents", (200, 422), {"corpus": rng.choice(guessed)}),
        "wrong key": Asked("GET", "/documents", (401,), scope),
    }
    return made[kind]


def seen(status: int, body: str, asked: Asked, who: Owner, owners: Sequence[Owner]) -> list[str]:
    """What a response shows of other tenants; a success where none may be counts too."""
    others, succeeded = [o for o in owners if o is not who], status < 300
    words = [o.tenant for o in others if o.word.casefold() in body.casefold()]
    ids = [o.tenant for o in others if succeeded and any(i in body for i in (o.job_id, *o.doc_ids))]
    said = [f"{who.tenant} saw {what} of {tenants}" for what, tenants in (("words", words), ("ids", ids)) if tenants]
    passed = [f"{asked.method} {asked.path} was answered {status}"] if succeeded and status not in asked.allowed else []
    return said + passed


def touched(server: ApiServer, owners: Sequence[Owner]) -> list[str]:
    """What is no longer as its owner left it: documents that are gone, jobs that were changed."""
    found: list[str] = []
    for owner in owners:
        with server.client(owner.tenant) as client:
            status = client.get(f"/ingest/{owner.job_id}").raise_for_status().json()["job"]["status"]
            missing = set(FILES) - whole_documents(client, CORPUS)
        found += [f"{owner.tenant}: {name} is gone" for name in missing]
        found += [f"{owner.tenant}: the job is {status}"] * (status != "done")
    return found
