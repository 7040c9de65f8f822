"""Heads without end, half requests, bodies that never come; how the server stops; the page that it serves."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from discorag.config import Settings
from interfaces.http.app import create_app, show_page
from interfaces.http.server import HEAD_BYTES
from tests.conftest import EXAMPLES
from tests.interfaces.http.parts import PATIENCE_S, Apps, Listening, until, write_keys
from tests.web.api_types import FILE, typescript

HEAD = b"POST /ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@pytest.fixture
def server(apps: Apps, uploads: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Listening]:
    """A server with keys that looks for idle connections every second."""
    monkeypatch.setattr("interfaces.http.server.HEAD_S", 1)
    write_keys(tmp_path / "keys.toml", ("a", "alpha", ()))
    with Listening(apps(uploads, keys=tmp_path / "keys.toml")) as listening:
        yield listening


def connected(server: Listening) -> closing[socket.socket]:
    url = httpx.URL(server.url)
    return closing(socket.create_connection((url.host, url.port or 0), timeout=PATIENCE_S))


def rest_of(connection: socket.socket) -> bytes:
    """What the server sends until it closes the connection."""
    found = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(65_536):
            found += part
    return found


@pytest.mark.parametrize("begin", [HEAD + b"X-A: ", HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;extension="])
def test_a_head_without_end_is_refused(server: Listening, begin: bytes) -> None:
    with connected(server) as connection:
        with suppress(ConnectionError):
            connection.sendall(begin + bytes([65]) * 100 * HEAD_BYTES)
        assert b" 200 " not in rest_of(connection)
    assert httpx.get(f"{server.url}/healthz").is_success


@pytest.mark.parametrize("sent", [b"", HEAD, HEAD + b"Content-Length: 1000\r\n\r\n{"], ids=["nothing", "half", "body"])
def test_a_connection_without_a_request_under_way_is_closed_even_if_bytes_keep_coming(
    server: Listening, sent: bytes
) -> None:
    with connected(server) as connection:
        connection.sendall(sent)
        connection.settimeout(0.1)

        def is_closed() -> bool:
            try:
                if sent:
                    connection.sendall(b"X")
                return not connection.recv(65_536)
            except TimeoutError:
                return False
            except ConnectionError:
                return True

        until(is_closed)


def test_a_request_under_way_is_not_closed(server: Listening) -> None:
    body = b"[]"
    with connected(server) as under_way, connected(server) as idle:
        under_way.sendall(b"POST /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n")
        under_way.sendall(f"Content-Length: {len(body)}\r\n\r\n".encode())
        assert rest_of(idle) == b""
        under_way.sendall(body)
        assert rest_of(under_way).startswith(b"HTTP/1.1 404")


def test_every_answer_has_security_headers(client: TestClient) -> None:
    listed = client.get("/documents").json()["documents"]
    tree = f"/trees/{listed[0]['doc_id']}?format=rs3"
    answers = {path: client.get(path) for path in ("/", "/healthz", "/docs", "/openapi.json", "/nothing", tree)}
    answers["error"] = client.post("/ask", json=[])
    assert answers[tree].headers["content-type"].startswith("application/xml")
    for answer in answers.values():
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
    assert {path for path, a in answers.items() if "script-src" in a.headers["content-security-policy"]} <= {
        "/",
        "/docs",
    }
    scripts = re.findall(r'<script src="([^"]+)"', answers["/docs"].text)
    assert scripts
    assert all(client.get(script).is_success for script in scripts)


STUCK = """
from contextlib import asynccontextmanager
import asyncio, signal, sys, time
from starlette.applications import Starlette
from interfaces.http import server
from discorag.config import ApiSettings

server.END_S = server.CLOSE_S = 1

class Service:
    def stop(self): pass

def compute():
    print("computing", flush=True)
    while True: time.sleep(0.01)

@asynccontextmanager
async def life(app):
    asyncio.get_running_loop().run_in_executor(None, compute)
    yield {"service": Service()}
    print("closed", flush=True)

signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # as disco-rag serve has it
api = ApiSettings(drain_s=0).model_copy(update={"port": 0})
server.Server(Starlette(lifespan=life), api).run()
"""


@pytest.mark.server
def test_a_thread_that_computes_for_ever_does_not_keep_a_stopped_process() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK], cwd=EXAMPLES.parent, env=os.environ, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"computing\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=PATIENCE_S) == 1
    assert process.stdout.read() == b"closed\n"
    process.stdout.close()


def _client(files: Path) -> TestClient:
    app = FastAPI()
    app.add_api_route("/healthz", lambda: "ok")
    show_page(app, files)
    return TestClient(app)


def test_the_page_reaches_only_its_own_server_and_its_named_files_are_kept(tmp_path: Path) -> None:
    assert "make web" in _client(tmp_path).get("/").text  # without a build the API says how to get the page
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>page</title>", "utf-8")
    (tmp_path / "assets" / "a-1.js").write_text("export {}", "utf-8")
    client = _client(tmp_path)
    found = client.get("/")
    policy = found.headers["content-security-policy"]
    assert (found.status_code, found.headers["cache-control"]) == (200, "no-cache")
    assert "default-src 'none'" in policy
    assert not re.search("unsafe|http", policy)
    assert "immutable" in client.get("/assets/a-1.js").headers["cache-control"]
    assert client.get("/healthz").json() == "ok"
    assert [client.get(path).status_code for path in ("/nothing", "/../pyproject.toml")] == [404, 404]


def test_the_types_of_the_page_are_those_of_the_api() -> None:
    assert FILE.read_text("utf-8") == typescript(create_app(Settings()).openapi()), "run `make api-types`"
