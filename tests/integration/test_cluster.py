"""docs/cluster.md, replayed: a folder moves into PostgreSQL and a Qdrant server, and several workers serve it."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from uvicorn.config import STARTUP_FAILURE

from discorag import DiscoRAG
from discorag.config import Settings
from tests.conftest import EXAMPLES
from tests.servers.loopback import free_port, is_ready
from tests.servers.qdrant import QdrantServer

ROOT = EXAMPLES.parent
PROGRAM = [sys.executable, "-m", "discorag"]
SERVE = [*PROGRAM, "serve", "--workers", "2"]
PAGE = (ROOT / "docs/cluster.md").read_text("utf-8")
pytestmark = pytest.mark.server


def commands(database: str, qdrant: str, port: int) -> list[str]:
    """The commands of the page, for these servers."""
    (block,) = re.findall(r"## Five commands.*?```sh\n(.*?)```", PAGE, re.DOTALL)
    block = re.sub(r"DATABASE_URL=\S+", f"DATABASE_URL='{database}'", block)
    block = block.replace("http://HOST:6333", qdrant).replace("--workers 4", f"--workers 2 --port {port}")
    return [line.replace("disco-rag ", f"{' '.join(PROGRAM)} ", 1) for line in block.strip().splitlines()]


def test_the_five_commands_move_a_folder_to_two_workers_that_answer_the_same(
    new_database: Callable[[], str], tmp_path: Path
) -> None:
    question = {"query": "Why do tides occur?", "corpus": "default"}
    with DiscoRAG(Settings(home=tmp_path / "home")) as rag:
        rag.ingest(EXAMPLES / "tides")
        expected = [sentence.text for sentence in rag.ask(question["query"]).answer.sentences]
    port = free_port()
    with QdrantServer() as qdrant:
        *moving, serving = commands(new_database(), qdrant.address, port)
        assert len(moving) + 1 == 5
        environment = {**os.environ, "DISCO_RAG_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}
        script = "\n".join(["set -e", f"cd {tmp_path}", *moving, f"exec {serving}"])
        log = tmp_path / "log"
        with log.open("wb") as out:
            server = subprocess.Popen(["bash", "-c", script], env=environment, stdout=out, stderr=out)
        try:
            while not is_ready(port):
                assert server.poll() is None, log.read_text()
                time.sleep(0.1)
            for _ in range(6):
                reply = httpx.post(f"http://127.0.0.1:{port}/ask", json=question, timeout=120).json()
                assert [sentence["text"] for sentence in reply["answer"]["sentences"]] == expected
            name, text = "late.txt", b"The Quillfeather trial found that tides rise twice a day."
            sent = httpx.post(f"http://127.0.0.1:{port}/ingest", files=[("files", (name, text))], timeout=120)
            job = f"http://127.0.0.1:{port}/ingest/{sent.json()['job']['id']}"
            while httpx.get(job, timeout=60).json()["job"]["status"] != "done":
                time.sleep(0.1)
            asked = {"query": "What did the Quillfeather trial find?"}
            found = httpx.post(f"http://127.0.0.1:{port}/ask", json=asked, timeout=120).json()
            assert "twice a day" in found["answer"]["sentences"][0]["text"]
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()
    written = log.read_text()
    assert "The store is consistent." in written
    assert "Searches are exact" not in written


def test_several_workers_over_a_folder_are_refused(tmp_path: Path) -> None:
    environment = {**os.environ, "DISCO_RAG_HOME": str(tmp_path)}
    done = subprocess.run(SERVE, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "one process" in done.stderr
    assert "DISCO_RAG_DATABASE_URL" in done.stderr


def test_workers_that_cannot_start_are_a_failure_of_the_command(tmp_path: Path) -> None:
    nowhere = {"DISCO_RAG_DATABASE_URL": "postgresql+psycopg://u:p@127.0.0.1:9/db", "DISCO_RAG_HOME": str(tmp_path)}
    done = subprocess.run([*SERVE, "--port", str(free_port())], cwd=ROOT, env=os.environ | nowhere, check=False)
    assert done.returncode == STARTUP_FAILURE
