"""Randomised requests of two tenants over every endpoint of the server's schema, with each other's ids.

- ``leaks``: responses that hold the other's word or an id that was not asked for, successes with an id of the other's,
  and documents that are gone although their owner did not delete them.
- ``server_errors``: responses of 500 and above other than 503 and 504, which say that something is busy or late.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import httpx

from bench.promises import Figures, Trial
from bench.server import ApiServer, Home, wait_for_job
from graphs.baselines import PRESET_NAMES

CORPUS = "shared-name"
FILES = ("note.md", "report.md")
SPARE = tuple(f"spare-{i}.md" for i in range(4))
"""Documents that their owner may delete."""
QUESTIONS = ("What is kept in the harbour archive?", "Who signed the report?", "Which word is secret?")
MODELS = (PRESET_NAMES["auto"], PRESET_NAMES["standard"], "none")
AT_ONCE = 8
RARE = {"/v1/chat/completions": 0.2, "/ingest": 0.1}
"""How often operations that take long are requested, compared with all others."""
_OWN = 0.4
_PATIENCE_S = 120.0
_BUSY = frozenset({503, 504})
Json = Any


def document(name: str, word: str) -> bytes:
    """A document of the tenant with this word; the same for all except for the word."""
    return (
        f"# Harbour archive, {name}\n\nThe harbour archive keeps the ledger {word}. The report on the ledger {word} "
        f"was signed by the keeper of {word}, because the secret word is {word}.\n\nHowever, nobody outside the "
        f"archive has read {word}. The keeper says that {word} stays where it is."
    ).encode()


@dataclass
class Owner:
    """A tenant, a client with its key, its secret word, and what belongs to it."""

    tenant: str
    client: httpx.Client
    word: str
    documents: dict[str, str] = field(default_factory=dict[str, str])
    jobs: list[str] = field(default_factory=list[str])
    threads: list[str] = field(default_factory=list[str])
    chunks: list[str] = field(default_factory=list[str])

    @property
    def ids(self) -> set[str]:
        """The ids of its documents, chunks, jobs and threads."""
        return {*self.documents.values(), *self.chunks, *self.jobs, *self.threads}

    def settle_in(self) -> None:
        """Upload its documents, and wait; ask in some threads."""
        for names in (FILES, SPARE):
            files = [("files", (name, document(name, self.word))) for name in names]
            reply = self.client.post("/ingest", files=files, data={"corpus": CORPUS}).raise_for_status()
            self.jobs.append(reply.json()["job"]["id"])
        for job in self.jobs:
            wait_for_job(self.client, job, _PATIENCE_S)
        listed = self.client.get("/documents", params={"corpus": CORPUS}).raise_for_status().json()["documents"]
        self.documents = {d["name"]: d["doc_id"] for d in listed}
        for doc_id in self.documents.values():
            trees = self.client.get(f"/trees/{doc_id}", params={"corpus": CORPUS}).raise_for_status().json()
            self.chunks += [tree["id"] for tree in trees]
        for question in QUESTIONS:
            made = self.client.post("/threads", json={"corpus": CORPUS}).raise_for_status().json()["id"]
            asked = {"query": f"{question} {self.word}", "corpus": CORPUS, "thread": made}
            self.client.post("/ask", json=asked).raise_for_status()
            self.threads.append(made)

    def find_deleted(self) -> list[str]:
        """Documents that are gone although their owner did not delete them."""
        listed = self.client.get("/documents", params={"corpus": CORPUS, "limit": 1000}).raise_for_status()
        there = {d["doc_id"] for d in listed.json()["documents"]}
        return [f"{self.tenant}: {name} is gone" for name in FILES if self.documents[name] not in there]


@dataclass(frozen=True)
class Operation:
    """One method of one path, its parameters and an example of its body, as the schema has them."""

    method: str
    path: str
    parameters: tuple[str, ...]
    body: Json = None
    is_form: bool = False


def operations(schema: Mapping[str, Json]) -> Iterator[Operation]:
    """All that the schema lists."""
    for path, methods in schema["paths"].items():
        for method, item in methods.items():
            names = tuple(p["name"] for p in item.get("parameters", ()) if p["in"] in ("path", "query"))
            body, is_form = None, False
            for kind, content in item.get("requestBody", {}).get("content", {}).items():
                found = schema["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
                body, is_form = found.get("examples", [{}])[0], kind == "multipart/form-data"
            yield Operation(method.upper(), path, names, body, is_form)


@dataclass(frozen=True)
class Probe:
    """A request, and the tenants' ids in it."""

    operation: Operation
    path: str
    params: dict[str, str]
    rest: dict[str, Json]
    ids: tuple[str, ...]


def draw(operation: Operation, who: Owner, other: Owner, rng: random.Random) -> Probe:
    """A request of this operation, with ids of either tenant in its path, its query and its filters."""
    names, me = (SPARE if operation.method == "DELETE" else (*FILES, *SPARE)), rng.random() < _OWN
    owner, corpora = (who if me else other), (CORPUS, CORPUS, f"{other.tenant}/{CORPUS}", f"../{CORPUS}", "*")
    ids = {
        "doc_id": rng.choice([owner.documents[name] for name in names]),
        "thread_id": rng.choice(owner.threads),
        "job_id": rng.choice(owner.jobs),
        "id": rng.choice(owner.chunks),
    }
    values = ids | {"corpus": rng.choice(corpora), "name": rng.choice(MODELS)}
    path = operation.path
    for name in operation.parameters:
        path = path.replace(f"{{{name}}}", values.get(name, "1"))
    params = {
        name: values[name] for name in operation.parameters if f"{{{name}}}" not in operation.path and name in values
    }
    rest: dict[str, Json] = {}
    if operation.is_form:
        files = [("files", (f"more-{rng.randrange(5)}.md", document("more.md", who.word)))]
        rest = {"files": files, "data": {"corpus": values["corpus"]}}
    elif operation.body is not None:
        query = rng.choice(QUESTIONS)
        known: dict[str, Json] = {
            "query": query,
            "messages": [{"role": "user", "content": query}],
            "model": values["name"],
            "corpus": values["corpus"],
        }
        body = {name: known.get(name, value) for name, value in operation.body.items()}
        if operation.path == "/ask":
            body |= rng.choice(({}, {"filters": {"doc_id": [values["doc_id"]]}}, {"thread": values["thread_id"]}))
        rest = {"json": body}
    used = tuple(value for name, value in ids.items() if name in operation.parameters)
    used += (rest["json"]["thread"],) if "thread" in rest.get("json", {}) else ()
    return Probe(operation, path, params, rest, used)


@dataclass
class Found:
    """What came of the requests."""

    statuses: Counter[str] = field(default_factory=Counter[str])
    requests: Counter[str] = field(default_factory=Counter[str])
    leaks: list[str] = field(default_factory=list[str])
    errors: list[str] = field(default_factory=list[str])

    def add(self, probe: Probe, reply: httpx.Response, other: Owner) -> None:
        """Take in one reply."""
        where = f"{probe.operation.method} {probe.operation.path}"
        self.requests[where] += 1
        self.statuses[str(reply.status_code)] += 1
        self.leaks += [f"{where}: {reply.status_code} showed {what}" for what in leaked(probe, reply, other)]
        if reply.status_code >= 500 and reply.status_code not in _BUSY:
            self.errors.append(f"{where}: {reply.status_code} {str(probe.rest)[:300]}")


def leaked(probe: Probe, reply: httpx.Response, other: Owner) -> list[str]:
    """What a reply shows of the other tenant."""
    body, sent = reply.text, str((probe.path, probe.params, probe.rest))
    found = ["its word"] if other.word.casefold() in body.casefold() else []
    found += [f"id {i}" for i in other.ids if i in body and i not in sent]
    return found + ["success with its id"] * (reply.is_success and any(i in other.ids for i in probe.ids))


def probe(owners: Sequence[Owner], schema: dict[str, Json], trial: Trial, *, at_once: int = AT_ONCE) -> Found:
    """``trial.count`` requests."""
    listed, found = list(operations(schema)), Found()
    weights = [RARE.get(operation.path, 1.0) for operation in listed]

    def one(number: int) -> None:
        rng = random.Random(f"{trial.seed} {number}")
        who, other = rng.sample(owners, 2)
        drawn = draw(rng.choices(listed, weights)[0], who, other, rng)
        reply = who.client.request(drawn.operation.method, drawn.path, params=drawn.params, **drawn.rest)
        found.add(drawn, reply, other)
        trial.tick()

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, range(trial.count)))
    found.leaks += [gone for owner in owners for gone in owner.find_deleted()]
    return found


def run(trial: Trial, settings: Mapping[str, str] | None = None, *, workers: int = 1) -> Figures:
    """Against a server of its own."""
    home = Home.create(trial.folder / "home", ["ann", "bob"])
    rng = random.Random(trial.seed)
    with ApiServer(home, settings, workers=workers) as server:
        owners = [Owner(t, server.client(t), f"Q{rng.getrandbits(48):012x}") for t in home.keys]
        for owner in owners:
            owner.settle_in()
        schema = httpx.get(f"{server.url}/openapi.json").raise_for_status().json()
        found = probe(owners, schema, trial)
        for owner in owners:
            owner.client.close()
    return {
        "leaks": len(found.leaks),
        "server_errors": len(found.errors),
        "statuses": dict(sorted(found.statuses.items())),
        "endpoints": dict(sorted(found.requests.items())),
        "leaks_first": found.leaks[:10],
        "server_errors_first": found.errors[:10],
    }
