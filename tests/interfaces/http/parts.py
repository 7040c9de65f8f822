"""What the tests of the API share: a corpus, apps over it, keys, a listening server, and reading of streams."""

import copy
import json
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Self, TypeVar, cast

from fastapi import FastAPI
from fastapi.testclient import TestClient

from discorag import DiscoRAG
from discorag.config import ApiSettings, LlmSettings
from discorag.schema.document import Scope
from interfaces.http.access import Role, new_key
from interfaces.http.app import create_app
from interfaces.http.server import Server
from nodes.backends import Backends, configured_model

T = TypeVar("T")

QUERY = "Does vitamin D lower the incidence of influenza?"
TEXTS = {
    "a.txt": "Daily vitamin D lowered the incidence of influenza by 12 % in deficient adults. The trial was short.",
    "b.txt": "Daily vitamin D did not lower the incidence of influenza in deficient adults. Other trials saw none.",
    "c.txt": "Vitamin D is made in the skin. However, winter sun is too weak.",
}
TENANTS = ("default", "alpha")
PATIENCE_S = 120.0
"""How long a test waits for what takes a second on an idle machine."""


@dataclass
class Apps:
    """Makes apps that share a store, an encoder and parsers; each has its own settings and language model."""

    shared: Backends

    def __call__(self, uploads: Path, *, llm: str | None = None, keys: Path | None = None, **api: Any) -> FastAPI:
        """An app with the LLM endpoint ``llm``, if given; ``api`` goes to `ApiSettings`."""
        return create_app(rag=self.rag(uploads, llm=llm, keys=keys, **api))

    def scope(self, tenant: str = "default", corpus: str = "default") -> Scope:
        """Whose documents."""
        return Scope(tenant=tenant, corpus=corpus)

    def rag(self, uploads: Path, *, llm: str | None = None, keys: Path | None = None, **api: Any) -> DiscoRAG:
        """The pipeline of such an app."""
        served = ApiSettings.model_validate({"uploads": uploads, "keys": keys, "requests_per_minute": 100_000, **api})
        model = LlmSettings(base_url=llm, model="scripted", cache=None, retries=0)
        backends = copy.copy(self.shared)
        backends.settings = self.shared.settings.model_copy(update={"api": served, "llm": model})
        backends.model = configured_model(backends.settings)
        return DiscoRAG(backends=backends)


class Listening:
    """An app on a loopback port as ``disco-rag serve`` has it, between ``with`` and its end, in a thread."""

    def __init__(self, app: FastAPI, *, drain_s: int = 5) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._server = Server(app, ApiSettings(drain_s=drain_s))
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    @property
    def refuses(self) -> bool:
        """Whether nobody listens any more."""
        return not self._server.servers or not any(s.is_serving() for s in self._server.servers)

    def __enter__(self) -> Self:
        self._socket.bind(("127.0.0.1", 0))
        self._thread.start()
        until(lambda: self._server.started)
        return self

    def stop(self) -> None:
        """What SIGTERM does."""
        self._server.should_exit = True

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._thread.join(timeout=PATIENCE_S)
        self._socket.close()


def until(condition: Callable[[], T], *, seconds: float = PATIENCE_S) -> T:
    """What the condition gives as soon as that is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
    return found


def write_keys(file: Path, *keys: tuple[str, str, Sequence[Role]]) -> list[dict[str, str]]:
    """Write a file of keys (name, tenant, roles); the headers that each key's owner sends."""
    made = [new_key(*key) for key in keys]
    file.write_text("\n".join(entry for _, entry in made), encoding="utf-8")
    return [bearer(key) for key, _ in made]


def bearer(key: str) -> dict[str, str]:
    """The header that carries a key."""
    return {"Authorization": f"Bearer {key}"}


def events(body: str) -> list[tuple[str, Any]]:
    """Name and data of every server-sent event of a stream whose data are JSON; comments are left out."""
    found: list[tuple[str, Any]] = []
    for block in body.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if "data" in lines:
            found.append((lines.get("event", ""), json.loads(lines["data"])))
    return found


def logged(log: StringIO, *loggers: str) -> list[dict[str, Any]]:
    """The lines that a server wrote, or those of some loggers."""
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    return [line for line in lines if line["logger"] in loggers] if loggers else lines


def service_of(client: TestClient) -> Any:
    """What the client's app works with."""
    return cast("FastAPI", client.app).state.service


def upload(client: TestClient, files: dict[str, str | bytes], *, corpus: str, headers: Any = None) -> Any:
    """Post files; the reply."""
    parts = [("files", (name, text)) for name, text in files.items()]
    return client.post("/ingest", files=parts, data={"corpus": corpus}, headers=headers)


def ended(client: TestClient, job_id: str, *, headers: Any = None) -> dict[str, Any]:
    """The progress of a job when it has ended."""

    def progress() -> dict[str, Any]:
        found = client.get(f"/ingest/{job_id}", headers=headers).json()
        return found if found["job"]["ended"] else {}

    return until(progress)
