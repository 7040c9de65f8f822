"""``disco-rag serve`` as a process: killed, told to stop, and what it writes into its log."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from fastapi.testclient import TestClient

from discorag import DiscoRAG
from discorag.config import ApiSettings, LlmSettings, Settings, StoreSettings
from discorag.models.protocol import Encoder
from discorag.store.store import open_store
from interfaces.http.access import Role
from interfaces.http.app import create_app
from nodes.backends import Backends
from tests.conftest import EXAMPLES
from tests.graphs.scripts import model
from tests.interfaces.http.parts import PATIENCE_S, ended, until, write_keys
from tests.servers.loopback import free_port, workers_of
from tests.servers.postgres import PostgresServer
from tests.servers.scripted import Body, Scripted, ScriptedServer

pytestmark = pytest.mark.server
FILES = [f"part-{i:02}.txt" for i in range(3)]
SECRET = "Quillfeather"


def text(name: str) -> str:
    return f"The {SECRET} trial of {name} measured tides. It found that tides rise twice a day."


class Process:
    """One server process over the folder ``home``, on a port of its own."""

    def __init__(self, home: Path, llm: str | None = None, *, workers: int = 1, **settings: str) -> None:
        self.home = home
        keys = home / "keys.toml"
        if not keys.exists():
            (headers,) = write_keys(keys, ("operator", "alpha", tuple(Role)))
            (home / "headers.json").write_text(json.dumps(headers))
        self.headers: dict[str, str] = json.loads((home / "headers.json").read_text())
        self.port = free_port()
        fields = {"STORE__PATH": home / "store", "API__UPLOADS": home / "uploads", "API__KEYS": keys}
        own = {f"DISCO_RAG_{name}": str(value) for name, value in fields.items()}
        own["DISCO_RAG_API__REQUESTS_PER_MINUTE"] = "1000000"  # jobs are asked for until they are done
        own |= {f"DISCO_RAG_{name}": value for name, value in settings.items()}
        if llm:
            own |= {"DISCO_RAG_LLM__BASE_URL": llm, "DISCO_RAG_LLM__CACHE": str(home / "cache")}
            own |= {"DISCO_RAG_LLM__LAYOUT": "inline"}
        run = [sys.executable, "-c", "from interfaces.cli.main import main; main()", "serve", "--port", str(self.port)]
        run += ["--workers", str(workers)] if workers > 1 else []
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                run, cwd=EXAMPLES.parent, env={**os.environ, **own}, stdout=subprocess.DEVNULL, stderr=log
            )
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", headers=self.headers, timeout=PATIENCE_S)
        until(self._answers)

    @property
    def log(self) -> Path:
        """What it writes on standard error."""
        return self.home / "log.jsonl"

    def _answers(self) -> bool:
        assert self._process.poll() is None, self.log.read_text()
        try:
            return self.client.get("/readyz").is_success
        except httpx.TransportError:
            return False

    def ingest(self) -> str:
        """Upload all files; the job's id."""
        parts = [("files", (name, text(name).encode())) for name in FILES]
        reply = self.client.post("/ingest", files=parts, data={"corpus": "tides"})
        assert reply.status_code == 202
        return reply.json()["job"]["id"]

    def settled(self, job: str) -> int:
        """Files of a job that are settled."""
        reply = self.client.get(f"/ingest/{job}").json()
        assert "settled" in reply, reply
        return reply["settled"]

    def refuses(self) -> bool:
        """Whether nobody listens any more."""
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except ConnectionRefusedError:
            return True
        return False

    def workers(self) -> list[psutil.Process]:
        """Its processes that serve."""
        return workers_of(psutil.Process(self._process.pid))

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    def end(self) -> int:
        """Its exit code, when it has ended."""
        self.client.close()
        return self._process.wait(timeout=PATIENCE_S)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.mark.deep
def test_workers_are_replaced_even_while_the_database_is_away_and_end_when_the_first_process_is_killed(
    home: Path, postgres: PostgresServer, new_database: Callable[[], str]
) -> None:
    server = Process(home, workers=2, DATABASE_URL=new_database())
    postgres.stop("immediate")
    try:
        server.workers()[0].kill()
        until(lambda: "Application startup failed" in server.log.read_text())
        assert server.workers()
    finally:
        postgres.start()
    until(lambda: len(server.workers()) == 2)
    assert server.client.get("/readyz").is_success
    server.send(signal.SIGKILL)
    assert server.end() == -signal.SIGKILL
    until(server.refuses)


@pytest.fixture
def llm() -> Iterator[ScriptedServer]:
    """A language model whose first reply takes a while."""
    usual, calls = model(), iter([2.0])

    def respond(body: Body) -> Scripted | str:
        reply = usual(body)
        return Scripted(reply, delay_s=next(calls, 0)) if isinstance(reply, str) else reply

    with ScriptedServer(respond) as server:
        yield server


@pytest.mark.deep
def test_a_server_that_is_told_to_stop_answers_who_waits_refuses_who_comes_and_loses_no_job(
    home: Path, llm: ScriptedServer, encoder: Encoder
) -> None:
    server = Process(home, llm.base_url)
    job = server.ingest()
    until(lambda: server.settled(job) >= 1)
    replies: list[httpx.Response] = []
    body = {
        "query": f"What did {SECRET} measure?",
        "corpus": "tides",
        "switches": {"retriever": "dense", "abstain": "never"},
    }
    question = threading.Thread(target=lambda: replies.append(server.client.post("/ask", json=body)))
    question.start()
    until(lambda: llm.requests)
    server.send(signal.SIGTERM)
    until(server.refuses)
    question.join(timeout=PATIENCE_S)
    assert server.end() == 0
    assert replies[0].status_code == 200
    assert replies[0].json()["answer"]["sentences"]
    check_finished(home, job, encoder)


def check_finished(home: Path, job: str, encoder: Encoder) -> None:
    """A server over the folder that another has left ends that one's job, and has every file."""
    headers = json.loads((home / "headers.json").read_text())
    with TestClient(create_app(rag=opened(home, encoder)), base_url="http://127.0.0.1", headers=headers) as client:
        progress = ended(client, job)
        assert (progress["job"]["status"], progress["settled"], progress["failed"]) == ("done", len(FILES), 0)
        listed = client.get("/documents", params={"corpus": "tides"}).json()
    assert [d["name"] for d in listed["documents"]] == FILES


def opened(home: Path, encoder: Encoder) -> DiscoRAG:
    """The pipeline over the folder that the process has left."""
    settings = Settings(
        store=StoreSettings(path=home / "store"),
        llm=LlmSettings(cache=None),
        api=ApiSettings(uploads=home / "uploads", keys=home / "keys.toml"),
    )
    store = open_store(settings.store, (encoder.version, encoder.dimension))
    return DiscoRAG(backends=Backends(settings, store, encoder, None))
