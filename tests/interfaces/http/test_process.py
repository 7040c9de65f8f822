"""``disco-rag serve --workers``: workers that die, and a first process that is killed."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.conftest import EXAMPLES
from tests.interfaces.http.parts import PATIENCE_S, until
from tests.servers.loopback import free_port, is_ready, workers_of
from tests.servers.postgres import PostgresServer

COMMAND = [sys.executable, "-m", "discorag", "serve", "--workers", "2", "--port"]


@pytest.mark.deep
@pytest.mark.server
def test_workers_are_replaced_even_while_the_database_is_away_and_end_when_the_first_process_is_killed(
    tmp_path: Path, postgres: PostgresServer, new_database: Callable[[], str]
) -> None:
    port, log = free_port(), tmp_path / "log.jsonl"
    env = os.environ | {"DISCO_RAG_HOME": str(tmp_path), "DISCO_RAG_DATABASE_URL": new_database()}
    with log.open("wb") as err:
        server = subprocess.Popen([*COMMAND, str(port)], cwd=EXAMPLES.parent, env=env, stdout=err, stderr=err)

    def workers() -> list[psutil.Process]:
        return workers_of(psutil.Process(server.pid))

    def refuses() -> bool:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            return True
        return False

    until(lambda: is_ready(port) or server.poll() is not None)
    assert server.poll() is None, log.read_text()
    postgres.stop("immediate")
    try:
        workers()[0].kill()
        until(lambda: "Application startup failed" in log.read_text())
        assert workers()
    finally:
        postgres.start()
    until(lambda: len(workers()) == 2)
    assert is_ready(port)
    server.send_signal(signal.SIGKILL)
    assert server.wait(timeout=PATIENCE_S) == -signal.SIGKILL
    until(refuses)
