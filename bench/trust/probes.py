"""Randomised requests of two tenants over every endpoint, drawn from the server's own schema, with each other's ids.

- ``leaks``: responses that hold the other's word or an id that was not asked for, successes with an id of the other's,
  and what is no longer as its owner left it.
- ``server_errors``: responses of 500 and above but 503 and 504, which say truly that something is busy or late.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx

from bench.serving.leaks import made_text
from bench.serving.server import ApiServer, Home
from bench.trust.drawn import Drawer, Drawn, Known, Operation, operations
from bench.trust.jobs import ended
from bench.trust.trial import Figures, Trial
from graphs.baselines import PRESET_NAMES

CORPUS = "shared-name"
FILES = ("note.md", "report.md")
SPARE = tuple(f"spare-{i}.md" for i in range(4))
"""Documents that their owner may delete."""
QUESTIONS = ("What is kept in the harbour archive?", "Who signed the report?", "Which word is secret?")
MODELS = (PRESET_NAMES["default"], PRESET_NAMES["standard"], "none")
AT_ONCE = 8
RARE = {"/v1/chat/completions": 0.2, "/ingest": 0.1, "/metrics": 0.3}
"""How often what takes long is asked for, against all others."""
_OWN = 0.4
_PATIENCE_S = 120.0
_TRUE = frozenset({503, 504})


@dataclass
class Owner:
    """A tenant, a client with its key, its secret word, and what belongs to it."""

    tenant: str
    client: httpx.Client
    word: str
    documents: dict[str, str] = field(default_factory=dict[str, str])
    jobs: list[str] = field(default_factory=list[str])
    threads: list[str] = field(default_factory=list[str])

    @property
    def ids(self) -> set[str]:
        """Of its documents, jobs and threads."""
        return {*self.documents.values(), *self.jobs, *self.threads}

    def settle_in(self) -> None:
        """Upload its documents, and wait; ask in some threads."""
        for names in (FILES, SPARE):
            files = [("files", (name, made_text(name, self.word).encode())) for name in names]
            reply = self.client.post("/ingest", files=files, data={"corpus": CORPUS}).raise_for_status()
            self.jobs.append(reply.json()["job"]["id"])
        for job in self.jobs:
            ended(self.client, job, _PATIENCE_S)
        listed = self.client.get("/documents", params={"corpus": CORPUS}).raise_for_status().json()["documents"]
        self.documents = {d["name"]: d["doc_id"] for d in listed}
        for question in QUESTIONS:
            made = self.client.post("/threads", json={"corpus": CORPUS}).raise_for_status().json()["id"]
            asked = {"query": f"{question} {self.word}", "corpus": CORPUS, "thread": made}
            self.client.post("/ask", json=asked).raise_for_status()
            self.threads.append(made)

    def touched(self) -> list[str]:
        """What is no longer as it was: nobody may have taken what the owner did not delete."""
        listed = self.client.get("/documents", params={"corpus": CORPUS, "limit": 1000}).raise_for_status()
        there = {d["doc_id"] for d in listed.json()["documents"]}
        return [f"{self.tenant}: {name} is gone" for name in FILES if self.documents[name] not in there]


@dataclass
class Found:
    """What came of the requests."""

    statuses: Counter[str] = field(default_factory=Counter[str])
    asked: Counter[str] = field(default_factory=Counter[str])
    leaks: list[str] = field(default_factory=list[str])
    errors: list[str] = field(default_factory=list[str])

    def add(self, drawn: Drawn, reply: httpx.Response, other: Owner) -> None:
        """Take in one reply."""
        where = f"{drawn.method} {drawn.template}"
        self.asked[where] += 1
        self.statuses[str(reply.status_code)] += 1
        self.leaks += [f"{where}: {reply.status_code} showed {what}" for what in leaked(drawn, reply, other)]
        if reply.status_code >= 500 and reply.status_code not in _TRUE:
            self.errors.append(f"{where}: {reply.status_code} {str(dict(drawn.rest))[:300]}")


def leaked(drawn: Drawn, reply: httpx.Response, other: Owner) -> list[str]:
    """What a reply shows of the other tenant."""
    body, said = reply.text, str((drawn.path, drawn.rest))
    found = ["its word"] if other.word.casefold() in body.casefold() and other.word not in said else []
    found += [f"id {i}" for i in other.ids if i in body and i not in said]
    succeeded = reply.is_success and any(i in other.ids for i in drawn.ids)
    return found + ["success with its id"] * succeeded


def known(who: Owner, other: Owner, method: str) -> Known:
    """Values that mean something: ids of either tenant, the corpus that both have, questions about it."""
    names = SPARE if method == "DELETE" else (*FILES, *SPARE)
    mine, theirs = [who.documents[name] for name in names], [*other.documents.values()]
    corpora = (CORPUS, CORPUS, CORPUS, f"{other.tenant}/{CORPUS}", f"../{CORPUS}", "*")

    def value(name: str, rng: random.Random) -> Any:
        is_own = rng.random() < _OWN
        values: dict[str, Sequence[Any]] = {
            "doc_id": [*(mine if is_own else theirs), str(UUID(int=rng.getrandbits(128)))],
            "thread_id": [*(who if is_own else other).threads, f"{rng.getrandbits(128):032x}"],
            "job_id": [*(who if is_own else other).jobs, f"{rng.getrandbits(128):032x}"],
            "corpus": corpora,
            "query": QUESTIONS,
            "content": QUESTIONS,
            "model": MODELS,
            "name": MODELS,
            "role": ("user", "user", "system"),
            "files": [[(f"more-{rng.randrange(5)}.md", made_text("more.md", who.word).encode())]],
        }
        return rng.choice(values[name]) if name in values else None

    return value


def probe(owners: Sequence[Owner], schema: dict[str, Any], trial: Trial, *, at_once: int = AT_ONCE) -> Found:
    """``trial.count`` requests."""
    listed, found = operations(schema), Found()
    weights = [RARE.get(o.path, 1.0) for o in listed]

    def one(number: int) -> None:
        rng = random.Random(f"{trial.seed} {number}")
        who, other = rng.sample(owners, 2)
        operation: Operation = rng.choices(listed, weights)[0]
        drawn = Drawer(schema, known(who, other, operation.method), rng).request(operation)
        try:
            found.add(drawn, who.client.request(drawn.method, drawn.path, **drawn.rest), other)
        except (httpx.InvalidURL, httpx.LocalProtocolError):  # what no client can send
            found.statuses["unsendable"] += 1
        trial.tick()

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, range(trial.count)))
    found.leaks += [said for owner in owners for said in owner.touched()]
    return found


def report(found: Found, seconds: float) -> Figures:
    """The figures."""
    return {
        "leaks": len(found.leaks),
        "server_errors": len(found.errors),
        "statuses": dict(sorted(found.statuses.items())),
        "endpoints": dict(sorted(found.asked.items())),
        "leaks_first": found.leaks[:10],
        "server_errors_first": found.errors[:10],
        "requests_per_s": round(found.asked.total() / seconds, 1),
    }


def run(trial: Trial, settings: Mapping[str, str] | None = None, *, workers: int = 1) -> Figures:
    """Against a server of its own."""
    home = Home.create(trial.folder / "home", ["ann", "bob"])
    rng = random.Random(trial.seed)
    with ApiServer(home, settings, workers=workers) as server:
        owners = [Owner(t, server.client(t), f"Q{rng.getrandbits(48):012x}") for t in home.keys]
        for owner in owners:
            owner.settle_in()
        schema = httpx.get(f"{server.url}/openapi.json").raise_for_status().json()
        start = time.monotonic()
        found = probe(owners, schema, trial)
        for owner in owners:
            owner.client.close()
    return report(found, time.monotonic() - start)
