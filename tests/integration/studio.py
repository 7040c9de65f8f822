"""The server that LangGraph Studio talks to, and the pieces of docs/studio.md."""

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.conftest import EXAMPLES
from tests.servers.loopback import free_port

ROOT = EXAMPLES.parent
PAGE = (ROOT / "docs/studio.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:2024"
"""The server's address on the page."""
_RECIPE = re.findall(r"^studio:.*\n\t\$\(BIN\)/(.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[0]


def pieces(kind: str, page: str = PAGE) -> list[str]:
    """The page's blocks of this language, in order."""
    return re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL)


def run_pieces(page: str, url: str, names: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run the Python of a page against a server, as one session: the names at its end; those given are known before."""
    names = {} if names is None else names
    for piece in pieces("python", page):
        exec(piece.replace(ADDRESS, url), names)
    return names


@contextmanager
def studio(home: Path) -> Generator[str]:
    """What `make studio` starts, in a folder with the examples, and with ``.env`` if it is there: its address.

    The store is in the folder, too.
    """
    port = free_port()
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "LANGSMITH_TRACING": "false",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "DISCO_RAG_HOME": str(home / "data"),
    }
    (home / "examples").symlink_to(EXAMPLES)
    program, *words = shlex.split(_RECIPE)
    command = [str(Path(sys.executable).with_name(program)), *words, "--no-reload", "--port", str(port)]
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            [*command, "--config", str(ROOT / "langgraph.json")], cwd=home, env=env, stdout=log, stderr=log
        )
        try:
            yield _wait_for(f"http://127.0.0.1:{port}", server, home / "log")
        finally:
            server.terminate()
            server.wait(20)


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> str:
    for _ in range(240):
        assert server.poll() is None, log.read_text()
        try:
            if httpx.get(f"{url}/ok", timeout=2).status_code == 200:
                return url
        except httpx.TransportError:
            time.sleep(0.5)
    raise AssertionError(log.read_text())
