"""``disco-rag serve --workers 2`` as processes: what one was told all know, and none is missed."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from signal import SIGCONT, SIGHUP, SIGKILL, SIGSTOP

import httpx
import pytest

from bench.serving.server import ApiServer, Home
from discorag.settings import Settings, StoreSettings
from discorag.types.errors import ConfigError
from graphs.owner import asked
from graphs.workers.supervisor import serve_with_workers
from tests.serving.parts import PATIENCE_S, until

pytestmark = pytest.mark.server
TEXT = "The survey of {} measured tides. It found that tides rise twice a day."
DENSE = {"retriever": "dense", "abstain": "never"}


class Server(ApiServer):
    """A server of two workers, one of which can be made to answer alone."""

    def client(self, tenant: str, *, timeout_s: float = PATIENCE_S) -> httpx.Client:
        """One that makes a connection for each request, so that any worker may have it."""
        headers = {"Authorization": f"Bearer {self.home.keys[tenant]}"}
        limits = httpx.Limits(max_keepalive_connections=0)
        return httpx.Client(base_url=self.url, headers=headers, timeout=timeout_s, limits=limits)

    @contextmanager
    def only(self, worker: int) -> Generator[None]:
        """A block in which no other worker runs."""
        others = [pid for pid in self.workers() if pid != worker]
        for other in others:
            os.kill(other, SIGSTOP)
        try:
            yield
        finally:
            for other in others:
                os.kill(other, SIGCONT)

    def audit(self) -> str:
        """The audit log."""
        return (self.home.folder / "audit.jsonl").read_text()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = Home.made(tmp_path_factory.mktemp("workers") / "home", ["alpha", "beta"])
    keys = home.folder / "keys.toml"
    keys.write_text(keys.read_text() + '\n[[tenant]]\nname = "beta"\nquestions_per_minute = 3\n')
    settings = {"API__WORKERS": "2", "API__AUDIT": str(home.folder / "audit.jsonl"), "LLM__CACHE": ""}
    with Server(home, settings) as running:
        until(lambda: len(running.workers()) == 2)
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client("alpha") as found:
        yield found


def sent(client: httpx.Client, name: str) -> str:
    """Upload a text; the job's id."""
    reply = client.post("/ingest", files={"files": (name, TEXT.format(name).encode())}, data={"corpus": "tides"})
    assert reply.status_code == 202, reply.text
    return reply.json()["job"]["id"]


def done(client: httpx.Client, job: str) -> dict[str, str]:
    """The job's files by what became of them, when it has ended."""

    def files() -> list[dict[str, str]]:
        found = client.get(f"/ingest/{job}").json()["job"]
        return found["files"] if found["ended"] else []

    return {f["name"]: f["status"] for f in until(files)}


def ask(client: httpx.Client) -> httpx.Response:
    return client.post("/ask", json={"query": "When do tides rise?", "corpus": "tides", "switches": DENSE})


def processes(server: Server) -> set[int]:
    return {*server.workers(), *server.keepers()}


def names(client: httpx.Client) -> list[str]:
    listed = client.get("/documents", params={"corpus": "tides", "limit": 1000}).json()
    return [d["name"] for d in listed["documents"]]


def test_what_one_worker_stored_all_find(server: Server, client: httpx.Client) -> None:
    first, second = server.workers()
    with server.only(first):
        assert done(client, sent(client, "seen.txt")) == {"seen.txt": "added"}
        assert ask(client).json()["answer"]["sentences"]
    with server.only(second):
        assert "seen.txt" in names(client)
        assert ask(client).json()["answer"]["sentences"]


def test_a_limit_holds_over_all_workers(server: Server) -> None:
    with server.client("beta") as client:
        statuses = list[int]()
        for worker in (*server.workers(), *server.workers()):
            with server.only(worker):
                statuses.append(ask(client).status_code)
    assert statuses == [404, 404, 404, 429]


def test_a_job_that_a_killed_worker_accepted_is_done(server: Server, client: httpx.Client) -> None:
    worker, _ = server.workers()
    with server.only(worker):
        job = sent(client, "killed.txt")
        os.kill(worker, SIGKILL)
    assert done(client, job) == {"killed.txt": "added"}
    assert names(client).count("killed.txt") == 1
    until(lambda: len(server.workers()) == 2)


def test_a_thread_is_gone_on_with_in_another_worker(server: Server, client: httpx.Client) -> None:
    first, second = server.workers()
    with server.only(first):
        done(client, sent(client, "thread.txt"))
        thread = f"/threads/{client.post('/threads', json={'corpus': 'tides'}).json()['id']}"
        run = {"query": "When do tides rise?", "switches": DENSE, "stop_before": ["plan"]}
        assert client.post(f"{thread}/runs", json=run).json()["next"] == ["plan"]
    with server.only(second):
        assert client.post(f"{thread}/runs", json={}).json()["values"]["answer"]["sentences"]
    with server.only(first):
        assert client.get(thread).json()["next"] == []


def test_numbers_and_audit_are_those_of_all_workers(server: Server, client: httpx.Client) -> None:
    def asked_so_far() -> float:
        lines = client.get("/metrics").text.splitlines()
        found = [line for line in lines if line.startswith("disco_rag_requests_total") and 'route="/corpora"' in line]
        return sum(float(line.rpartition(" ")[2]) for line in found)

    done(client, sent(client, "listed.txt"))
    before, lines = asked_so_far(), server.audit().count('"event": "listed"')
    for worker in server.workers():
        with server.only(worker):
            client.get("/corpora").raise_for_status()
            names(client)
    for worker in server.workers():
        with server.only(worker):
            assert asked_so_far() == before + 2
    assert server.audit().count('"event": "listed"') == lines + 2
    assert all(json.loads(line) for line in server.audit().splitlines())


async def test_the_command_line_is_answered_beside_the_server(server: Server, client: httpx.Client) -> None:
    done(client, sent(client, "beside.txt"))
    store = StoreSettings(path=server.home.folder / "store")
    found = await asked(store, "When do tides rise?", {"tenant": "alpha", "corpus": "tides", **DENSE})
    assert found
    assert found.answer.sentences


@pytest.mark.deep
def test_questions_wait_for_a_keeper_that_was_killed(server: Server, client: httpx.Client) -> None:
    done(client, sent(client, "kept.txt"))
    job = sent(client, "during.txt")
    os.kill(server.keepers()[0], SIGKILL)
    assert ask(client).json()["answer"]["sentences"]
    assert done(client, job)["during.txt"] in ("added", "unchanged")
    assert Counter(names(client))["during.txt"] == 1


@pytest.mark.deep
def test_workers_are_renewed_under_load_and_no_request_is_lost(server: Server, client: httpx.Client) -> None:
    done(client, sent(client, "renewed.txt"))
    before, over, statuses = processes(server), threading.Event(), list[object]()

    def load(kept: bool) -> None:
        with httpx.Client(base_url=server.url, headers=client.headers, timeout=PATIENCE_S) as own:
            while not over.is_set():
                try:
                    statuses.append(ask(own if kept else client).status_code)
                except httpx.TransportError as error:
                    statuses.append(repr(error))
                time.sleep(0.05)

    with ThreadPoolExecutor() as pool:
        loads = [pool.submit(load, kept) for kept in (True, False)]
        try:
            server.signal(SIGHUP)
            until(lambda: len(processes(server)) == 3 and not before & processes(server))
            ask(client)
        finally:
            over.set()
        for one in loads:
            one.result()
    assert set(statuses) == {200}
    assert len(statuses) > 20


def test_workers_that_share_nothing_are_refused() -> None:
    settings = Settings(store=StoreSettings(kind="memory"))
    api = settings.api.model_copy(update={"workers": 2})
    with pytest.raises(ConfigError, match="2 workers cannot share a store in memory"):
        serve_with_workers(settings.model_copy(update={"api": api}))
