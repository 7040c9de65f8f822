"""The page in a real browser: serves really ingested examples, and runs the tests of ``web/e2e`` against them.

Usage: ``python -m tests.web [SHOTS]``; SHOTS is a folder for pictures of every view.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).parents[2]
CORPORA = ("vitamin-d", "tides")
START_S = 120.0


@contextmanager
def served(home: Path) -> Generator[str]:
    """The URL of a server over the examples, with its store below ``home``."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DISCO_RAG_")} | {
        "DISCO_RAG_HOME": str(home),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "discorag"]
    for name in CORPORA:
        ingest = [*command, "ingest", str(ROOT / "examples" / name), "--corpus", name]
        subprocess.run(ingest, cwd=home, env=environment, check=True, stdout=subprocess.DEVNULL)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    log = (home / "server.log").open("wb")
    server = subprocess.Popen([*command, "serve", "--port", str(port)], cwd=home, env=environment, stderr=log)
    try:
        yield _ready(f"http://127.0.0.1:{port}", server)
    finally:
        server.terminate()
        server.wait(30)
        log.close()


def _ready(url: str, server: subprocess.Popen[bytes]) -> str:
    end = time.monotonic() + START_S
    while time.monotonic() < end and server.poll() is None:
        try:
            with urlopen(f"{url}/readyz", timeout=5):
                return url
        except URLError:
            time.sleep(0.3)
    raise SystemExit("The server did not start.")


def node(*arguments: str, **environment: str) -> int:
    """Exit code of Node with these arguments, next to a server of its own, with a Chromium."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not chromium:
        raise SystemExit("There is no Chromium: install Debian's package chromium, or set CHROMIUM.")
    with TemporaryDirectory() as home, served(Path(home)) as url:
        known = os.environ | {"DISCO_RAG_URL": url, "CHROMIUM": chromium} | environment
        return subprocess.run(["node", *arguments], cwd=ROOT / "web", env=known, check=False).returncode


def main() -> int:
    """The tests' exit code."""
    tests = sorted(map(str, (ROOT / "web/e2e").glob("*.test.mjs")))
    shots = {"SHOTS": str(Path(sys.argv[1]).resolve())} if len(sys.argv) > 1 else {}
    return node("--test", "--test-concurrency=1", *tests, **shots)


if __name__ == "__main__":
    sys.exit(main())
