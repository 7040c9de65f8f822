"""`make verify-deploy` against a real API, and substitutes for Qdrant and vLLM."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from deploy.verify import CORPUS
from tests.conftest import EXAMPLES
from tests.graphs.scripts import model
from tests.interfaces.http.parts import until
from tests.servers.loopback import free_port, is_ready
from tests.servers.qdrant import QdrantServer
from tests.servers.scripted import ScriptedServer

ROOT = EXAMPLES.parent
VERIFY = [sys.executable, str(ROOT / "deploy/verify.py"), "--patience", "120"]
WRITES = model({"answer": "The pooled trials show no protection against influenza [1]."})
SERVE = 'while kill -0 $PPID; do "$@" & echo $! > pid; wait; done'
"""Starts the server again whenever it ends, as Compose does, for as long as the tests run."""
STOP = "kill $(cat pid) && tail --pid=$(cat pid) -f /dev/null"


@contextmanager
def served(home: Path, **settings: str) -> Generator[str]:
    """The address of ``disco-rag serve``, whose working directory and store are ``home``."""
    port = free_port()
    own = {f"DISCO_RAG_{name}": value for name, value in (settings | {"HOME": str(home)}).items()}
    command = ["sh", "-c", SERVE, "sh", sys.executable, "-m", "discorag", "serve", "--port", str(port)]
    with (home / "log").open("wb") as log:
        keeper = subprocess.Popen(
            command,
            cwd=home,
            env=os.environ | {"PYTHONPATH": str(ROOT)} | own,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        until(lambda: is_ready(port))
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(keeper.pid, signal.SIGKILL)
        keeper.wait()


def verify(*arguments: str, restart: str = "", folder: Path = ROOT) -> tuple[int, str]:
    """The exit status of the program, and what it printed."""
    command = [*VERIFY, *arguments, *(["--restart", shlex.join(["sh", "-c", restart])] if restart else [])]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def qdrant() -> Iterator[QdrantServer]:
    with QdrantServer() as server:
        yield server


@pytest.fixture
def vllm() -> Iterator[ScriptedServer]:
    """Writes answers, and encodes."""
    with ScriptedServer(WRITES, model={"max_model_len": 32_768}) as server:
        yield server


@pytest.mark.server
def test_a_deployment_that_keeps_its_documents_passes_every_check(
    tmp_path: Path, qdrant: QdrantServer, vllm: ScriptedServer
) -> None:
    models = {"MODEL": f"{vllm.base_url}#scripted", "ENCODER__BASE_URL": vllm.base_url, "ENCODER__MODEL": "scripted"}
    with served(tmp_path, STORE__URL=qdrant.address, **models) as url:
        servers = ["--api", url, "--qdrant", qdrant.address, "--chat", vllm.address, "--embed", vllm.address]
        status, said = verify(*servers, restart=STOP, folder=tmp_path)
        left = httpx.get(f"{url}/documents", params={"corpus": CORPUS}).json()["documents"]
    assert status == 0, said
    assert [line.split()[0] for line in said.splitlines()] == ["ok"] * 10
    assert vllm.requests
    assert vllm.embedding_requests
    assert left == []


@pytest.mark.server
def test_a_deployment_that_loses_its_documents_at_a_restart_fails(tmp_path: Path, qdrant: QdrantServer) -> None:
    with served(tmp_path, STORE__URL=qdrant.address) as url:
        status, said = verify("--api", url, restart=f"rm -r store && {STOP}", folder=tmp_path)
    assert status == 1
    assert "ok           restart" in said
    assert "FAILED       question after the restart" in said


@pytest.mark.server
def test_servers_that_do_not_answer_or_are_not_used_fail_and_absent_ones_are_named(
    tmp_path: Path, qdrant: QdrantServer, vllm: ScriptedServer
) -> None:
    with served(tmp_path, STORE__URL=qdrant.address) as url:
        status, unused = verify("--api", url, "--chat", vllm.address)
        qdrant.is_well = False
        ill = verify("--api", url, "--qdrant", qdrant.address)
    assert status == 1
    assert "FAILED       question: no language model wrote the answer; DISCO_RAG_MODEL must name one" in unused
    absent = {f"not checked  {name}: not part of this deployment" for name in ("qdrant", "embed")}
    assert absent <= {*unused.splitlines()}
    assert ill[0] == 1
    assert "FAILED       qdrant: HTTPStatusError: Server error '503" in ill[1]
    assert "ingest" not in ill[1]


def verify_compose(docker: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The program without addresses, where ``docker`` is this shell script."""
    (folder / "docker").write_text(f"#!/bin/sh\n{docker}\n")
    (folder / "docker").chmod(0o700)
    return subprocess.run(VERIFY, env=os.environ | {"PATH": str(folder)}, capture_output=True, text=True, check=False)


def test_a_service_of_compose_that_has_stopped_fails(tmp_path: Path) -> None:
    """As in Docker, ``ps`` lists it with ``--all`` only, and `exec` has nothing to run in."""
    done = verify_compose(
        """case "$*" in
*--all*--services*) echo api; echo qdrant ;;
*--services*) echo api ;;
*) echo 'qdrant is not running' >&2; exit 1 ;;
esac""",
        tmp_path,
    )
    assert done.returncode == 1
    assert "FAILED       qdrant: docker compose exec -T api ... ended with 1: qdrant is not running" in done.stdout
    assert "not checked  chat: not part of this deployment" in done.stdout


def test_without_compose_and_without_addresses_it_says_what_to_do(tmp_path: Path) -> None:
    done = verify_compose("echo 'no configuration file provided' >&2; exit 1", tmp_path)
    assert done.returncode == 1
    assert "no configuration file provided" in done.stderr
    assert "name the servers (--api URL" in done.stderr
