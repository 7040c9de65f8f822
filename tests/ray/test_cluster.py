"""The last step of `docs/cluster.md`: a Ray that runs already works, not one of the command's own."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL
from tempfile import TemporaryDirectory

import psutil
import pytest

from tests.ray.conftest import ROOT, Line
from tests.ray.test_documents import statuses, write
from tests.servers.qdrant import QdrantServer

STEP = re.compile(r"^RAY_ADDRESS=auto disco-rag ingest /shared/library --engine ray$", re.MULTILINE)


@pytest.fixture
def head(monkeypatch: pytest.MonkeyPatch) -> Iterator[psutil.Process]:
    """A cluster of one core, which ``auto`` finds; as Ray starts it, it asks for a token."""
    with TemporaryDirectory(prefix="ray-") as folder:  # a short path: sockets lie below it
        monkeypatch.setenv("RAY_TMPDIR", folder)
        monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", f"{folder}/token")
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
        Path(folder, "token").write_text("0" * 64)
        words = "start --head --block --num-cpus=1 --port=0 --node-ip-address=127.0.0.1 --include-dashboard=false"
        command = [sys.executable, "-m", "ray.scripts.scripts", *words.split(), "--disable-usage-stats"]
        with open(os.devnull, "w") as nowhere:
            started = subprocess.Popen(command, stdout=nowhere, stderr=nowhere)
        while not Path(folder, "ray", "ray_current_cluster").exists():
            assert started.poll() is None
            time.sleep(0.1)
        known = psutil.Process(started.pid)
        yield known
        family = known.children(recursive=True)
        for pid in (started.pid, *(process.pid for process in family)):
            with suppress(ProcessLookupError):  # some end with the first
                os.kill(pid, SIGKILL)
        started.wait()
        psutil.wait_procs(family, timeout=30)


def test_a_running_cluster_reads_the_documents(head: psutil.Process, line: Line) -> None:
    [step] = STEP.findall((ROOT / "docs" / "cluster.md").read_text(encoding="utf-8"))
    _, _, *words = shlex.split(step)
    folder = write(line.home / "library", a="Iron rusts.", b="Salt is white.")
    with QdrantServer() as server:
        there = Line(line.home, {"RAY_ADDRESS": "auto", "DISCO_RAG_STORE__URL": server.url})
        process = there.start(*[folder if w == "/shared/library" else w for w in words], "--json", "--parser", "rules")
        while process.poll() is None and not any("MapWorker" in p.name() for p in head.children(recursive=True)):
            time.sleep(0.1)
        assert process.poll() is None, "it has ended, and the cluster had nothing to do"
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert statuses(json.loads(out)) == {"a": "added", "b": "added"}
