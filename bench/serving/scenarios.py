"""The faults: each a server of its own, load on it, and what came of the requests and of what was acknowledged."""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import Any

import httpx
from pydantic import BaseModel, ConfigDict

from bench.replies import respond
from bench.serving.corpus import questions, texts
from bench.serving.load import Load, Plan
from bench.serving.outcomes import Sent, Tally
from bench.serving.promises import Promise, Refusal, lost, post, promised, retry_failed, settle
from bench.serving.relay import Relay
from bench.serving.server import ApiServer, Home
from graphs.serving.middleware import GRACE_S
from tests.servers.qdrant import QdrantServer
from tests.servers.scripted import Script, Scripted, ScriptedServer

ASKED, LOADED = "asker", "loader"
"""Tenants: one asks about the examples, the other's documents come while something breaks."""
CORPUS = "arrivals"
HANG_DEADLINE_S, DEADLINE_S = 10.0, 60.0
HANG_S = 3600.0
FAULTY = 1 / 3
STORE_DOWN_S = 5.0
KILLS = 3
SETTLE_S = 120.0
_FULL = (1, 65_536, 1_000_000)
_NO_TOKENS = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


class Scenario(BaseModel):
    """What came of a scenario.

    Args:
        what: What was done.
        deadline_s: Of every request.
        tally: The questions; None where none were asked.
        lost: What was acknowledged and not kept.
        notes: What else was seen.
    """

    model_config = ConfigDict(frozen=True)

    what: str
    deadline_s: float
    tally: Tally | None = None
    lost: list[str] = []
    notes: dict[str, Any] = {}


@dataclass(frozen=True)
class Bench:
    """Where scenarios run, and how large they are.

    Args:
        folder: For the files of all.
        home: With the examples stored in an Edge store, for `ASKED`.
        users: Clients at once.
        seconds: How long new questions are sent.
        seed: Of what is random.
    """

    folder: Path
    home: Home
    users: int
    seconds: float
    seed: int = 0

    def lasting(self, seconds: float) -> Bench:
        """The same for another time."""
        return replace(self, seconds=seconds)

    def load(
        self,
        server: ApiServer,
        name: str,
        *,
        fresh_connections: bool = False,
        asked: Sequence[tuple[str, str]] | None = None,
    ) -> Load:
        """Questions, about the examples if none are given."""
        return Load(
            Plan(
                url=server.url,
                keys=[server.home.keys[ASKED]],
                questions=list(asked or questions()),
                out=self.folder / f"{name}.jsonl",
                users=self.users,
                seconds=self.seconds,
                fresh_connections=fresh_connections,
            )
        )


def store_examples(server: ApiServer, documents: Mapping[str, Mapping[str, str]] | None = None) -> int:
    """Ingest documents, by default the examples, for `ASKED`, and wait. Returns their number."""
    with server.client(ASKED) as client:
        promises = [promised(client, corpus, files) for corpus, files in (documents or texts()).items()]
        settle(client, promises, seconds=SETTLE_S)
        return sum(len(p.names) for p in promises)


def warm_up(server: ApiServer, asked: Sequence[tuple[str, str]] | None = None) -> float:
    """Ask one question of each kind with local engines, so that models are loaded. Returns seconds of the first."""
    start, first = time.monotonic(), 0.0
    local = dict.fromkeys(("relater", "planner", "generator"), "local")
    with server.client(ASKED) as client:
        for corpus, query in asked or questions():
            client.post("/ask", json={"query": query, "corpus": corpus, "switches": local}).raise_for_status()
            first = first or time.monotonic() - start
    return first


def llm_fault(bench: Bench, name: str, what: str, script: Script, deadline_s: float) -> Scenario:
    """Questions while the language model answers as ``script`` says."""
    with ScriptedServer(script) as model:
        settings = {
            "LLM__BASE_URL": model.base_url,
            "LLM__LAYOUT": "inline",
            "LLM__MODEL": "scripted",
            "LLM__CACHE": "",
            "LLM__CONTEXT_TOKENS": "1000000",
            "API__DEADLINE_S": str(deadline_s),
        }
        with ApiServer(bench.home, settings) as server:
            warm_up(server)
            with bench.load(server, name) as load:
                sent = load.sent()
        notes = {"calls of the model": len(model.requests)}
    return Scenario(what=what, deadline_s=deadline_s, tally=_tally(sent, deadline_s), notes=notes)


def hangs(bench: Bench) -> Scenario:
    """The language model takes every request and never answers."""
    return llm_fault(bench, "hangs", "LLM never answers", lambda _: Scripted(delay_s=HANG_S), HANG_DEADLINE_S)


def refuses(bench: Bench) -> Scenario:
    """One call in three is answered 500 or 429."""
    rng = random.Random(bench.seed)

    def script(body: dict[str, Any]) -> Scripted | str:
        if rng.random() > FAULTY:
            return respond(body)
        return Scripted("no", status=500) if rng.random() < 0.5 else _too_many()

    return llm_fault(bench, "refuses", "LLM: 500 or 429 one time in three", script, DEADLINE_S)


def breaks_json(bench: Bench) -> Scenario:
    """One call in three is answered with JSON that ends too early: the protocol's own, or the output's."""
    rng = random.Random(bench.seed)

    def script(body: dict[str, Any]) -> Scripted | str:
        if rng.random() > FAULTY:
            return respond(body)
        return Scripted(raw='{"id": "x", "choices": [') if rng.random() < 0.5 else _cut()

    return llm_fault(bench, "breaks-json", "LLM: broken JSON one time in three", script, DEADLINE_S)


def store_restarts(bench: Bench) -> Scenario:
    """A server store goes away for `STORE_DOWN_S` seconds under questions and an ingest, and comes back as it was."""
    home = Home.made(bench.folder / "on-server", [ASKED, LOADED])
    with QdrantServer() as store, Relay(_port_of(store.url)) as relay:
        url = f"http://127.0.0.1:{relay.port}"
        settings = {"STORE__URL": url, "STORE__TIMEOUT_S": "5", "API__DEADLINE_S": str(DEADLINE_S)}
        with ApiServer(home, settings) as server, server.client(LOADED) as client:
            store_examples(server)
            warm_up(server)
            with bench.load(server, "store-restarts") as load:
                promises = _arrivals(client, "before", 2)
                time.sleep(bench.seconds / 3)
                relay.down()
                promises += _arrivals(client, "while-down", 2)
                time.sleep(STORE_DOWN_S)
                relay.up()
                sent = load.sent()
            retried = retry_failed(client, promises, seconds=SETTLE_S)
            gone = lost(client, promises, seconds=SETTLE_S) + _failed(client, promises)
    notes = {"jobs": len(promises), "jobs with files that failed, and were read again": retried}
    what = f"server store away for {STORE_DOWN_S:g} s"
    return Scenario(what=what, deadline_s=DEADLINE_S, tally=_tally(sent, DEADLINE_S), lost=gone, notes=notes)


def killed(bench: Bench) -> Scenario:
    """The API is killed while it reads documents, and started again, `KILLS` times; then all must be there."""
    rng, promises = random.Random(bench.seed), list[Promise]()
    for kill in range(KILLS):
        server = ApiServer(bench.home)
        with server.client(LOADED) as client:
            promises += _arrivals(client, f"kill-{kill}", 3)
            time.sleep(rng.uniform(0.0, 2.5))
        server.end(SIGKILL)
    with ApiServer(bench.home) as server, server.client(LOADED) as client:
        gone = lost(client, promises, seconds=SETTLE_S) + _failed(client, promises)
    what = f"SIGKILL during an ingest, {KILLS} times"
    return Scenario(what=what, deadline_s=DEADLINE_S, lost=gone, notes={"jobs": len(promises)})


def disk_full(bench: Bench) -> Scenario:
    """No file of the server may grow any more, during an ingest and under questions; then it may again."""
    with ApiServer(bench.home, {"API__DEADLINE_S": str(DEADLINE_S)}) as server, server.client(LOADED) as client:
        before = _arrivals(client, "roomy", 1)
        settle(client, before, seconds=SETTLE_S)
        warm_up(server)
        with bench.load(server, "disk-full") as load:
            accepted: list[Promise] = _arrivals(client, "filling", 2)
            refusals: list[Refusal] = []
            for limit in _FULL:
                _limit_files(server, limit)
                made = [post(client, CORPUS, _files(f"full-{limit}-{i}")) for i in range(2)]
                accepted += [m for m in made if isinstance(m, Promise)]
                refusals += [m for m in made if isinstance(m, Refusal)]
                time.sleep(bench.seconds / 4)
            _limit_files(server, resource.RLIM_INFINITY)
            sent = load.sent()
        promises = [*before, *accepted]
        gone = lost(client, promises, seconds=SETTLE_S)
        retried = retry_failed(client, promises, seconds=SETTLE_S)
        gone += [g for g in lost(client, promises, seconds=SETTLE_S) if g not in gone] + _failed(client, promises)
    notes = {
        "ingests acknowledged": len(accepted),
        "ingests refused": [f"{r.status} {r.error}" for r in refusals],
        "refused wrongly": [r.model_dump() for r in refusals if r.status != HTTPStatus.INSUFFICIENT_STORAGE],
        "jobs with files that failed, and were read again": retried,
    }
    tally = _tally(sent, DEADLINE_S)
    return Scenario(what="disk full (RLIMIT_FSIZE)", deadline_s=DEADLINE_S, tally=tally, lost=gone, notes=notes)


def terminated(bench: Bench) -> Scenario:
    """SIGTERM under questions and during an ingest; then it starts again."""
    server = ApiServer(bench.home, {"API__DEADLINE_S": str(DEADLINE_S)})
    warm_up(server)
    with server.client(LOADED) as client, bench.load(server, "terminated", fresh_connections=True) as load:
        time.sleep(bench.seconds / 2)
        promises = _arrivals(client, "sigterm", 2)
        start = time.monotonic()
        code = server.end(SIGTERM)
        drained = time.monotonic() - start
        sent = load.sent()
    answered = sum(s.status > 0 for s in sent)
    taken_in = server.log.questions - len(questions())  # without those of `warm_up`
    dropped = [s for s in sent if s.status == 0 and not s.refused]
    with ApiServer(bench.home) as again, again.client(LOADED) as client:
        gone = lost(client, promises, seconds=SETTLE_S) + _failed(client, promises)
    notes = {
        "exit code": code,
        "seconds from SIGTERM to the end": round(drained, 2),
        "taken in by the server": taken_in,
        "responses": answered,
        "taken in, not answered": taken_in - answered,
        "connections closed before they were taken in": len(dropped),
    }
    tally = Tally.of([s for s in sent if s not in dropped], within_s=DEADLINE_S + GRACE_S, stopping=True)
    return Scenario(what="SIGTERM", deadline_s=DEADLINE_S, tally=tally, lost=gone, notes=notes)


SCENARIOS: Mapping[str, Callable[[Bench], Scenario]] = {
    "llm-hangs": hangs,
    "llm-500-429": refuses,
    "llm-broken-json": breaks_json,
    "store-restarts": store_restarts,
    "killed": killed,
    "disk-full": disk_full,
    "sigterm": terminated,
}


def _tally(sent: Sequence[Sent], deadline_s: float) -> Tally:
    return Tally.of(sent, within_s=deadline_s + GRACE_S)


def _arrivals(client: httpx.Client, name: str, jobs: int) -> list[Promise]:
    """So many acknowledged jobs, each with the files of an example corpus."""
    return [promised(client, CORPUS, _files(f"{name}-{i}")) for i in range(jobs)]


def _files(name: str) -> dict[str, str]:
    """Four texts of their own under names that begin with ``name``."""
    return {f"{name}-{file}": f"{text}\n\nThis is copy {name}.\n" for file, text in texts()["bees"].items()}


def _failed(client: httpx.Client, promises: Sequence[Promise]) -> list[str]:
    """Files that still fail when what they need is there again."""
    progress = [client.get(f"/ingest/{p.job_id}").json() for p in promises]
    files = [f for p in progress if "job" in p for f in p["job"]["files"]]
    return [f"{f['name']} failed: {f['note']}" for f in files if f["status"] == "failed"]


def _limit_files(server: ApiServer, size: int) -> None:
    """Let no write of the running server reach beyond ``size`` bytes of a file."""
    _, hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (size, hard))


def _port_of(url: str) -> int:
    return int(url.rsplit(":", 1)[1])


def _too_many() -> Scripted:
    return Scripted("slower", status=429, headers={"Retry-After": "1"})


def _cut() -> Scripted:
    return Scripted('{"c1": {"2": "SUPP', usage=_NO_TOKENS)
