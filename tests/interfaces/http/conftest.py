"""Servers over one small corpus, which is read once."""

import io
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import structlog
from fastapi import FastAPI
from fastapi.testclient import TestClient

from discorag.models.protocol import Encoder
from interfaces.http.access import LOGGER
from interfaces.http.problems import ACCESS_LOGGER
from interfaces.http.server import log_as_json
from tests.conftest import Pipelines
from tests.interfaces.http.parts import TENANTS, TEXTS, Apps, Listening


@pytest.fixture(scope="session")
def apps(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Apps]:
    """Apps over one store, in which every tenant has the same three documents."""
    home = tmp_path_factory.mktemp("served")
    for name, text in TEXTS.items():
        (home / name).write_text(text, encoding="utf-8")
    pipelines = Pipelines(home, encoder, [])
    rag = pipelines(name="store")
    for tenant in TENANTS:
        for name in TEXTS:
            rag.ingest(home / name, tenant=tenant)
    yield Apps(rag.backends)
    rag.close()


Serve = Callable[[FastAPI], TestClient]
Listen = Callable[[FastAPI], str]
Served = Callable[..., TestClient]
Address = Callable[..., str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts an app and gives a client of it, without a socket."""
    with ExitStack() as stack:
        yield lambda app: stack.enter_context(
            TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)
        )


@pytest.fixture
def listen() -> Iterator[Listen]:
    """Starts an app on a loopback port and gives its address."""
    with ExitStack() as stack:
        yield lambda app: stack.enter_context(Listening(app)).url


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What a server that was just started writes on standard error."""
    loggers = [logging.getLogger(name) for name in (None, "disco_rag.api", ACCESS_LOGGER, LOGGER)]
    levels, handlers, configured = [one.level for one in loggers], loggers[0].handlers[:], structlog.get_config()
    written = io.StringIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", written)
        log_as_json(texts=False, access=True)
    yield written
    loggers[0].handlers[:] = handlers
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
    structlog.configure(**configured)


@pytest.fixture
def uploads(tmp_path: Path) -> Path:
    """A folder for uploads."""
    return tmp_path / "uploads"


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """Where a file of keys may be written."""
    return tmp_path / "keys.toml"


@pytest.fixture
def served(apps: Apps, serve: Serve, uploads: Path) -> Served:
    """Starts an app with these options and gives a client of it, without a socket."""

    def start(**options: Any) -> TestClient:
        return serve(apps(uploads, **options))

    return start


@pytest.fixture
def client(served: Served) -> TestClient:
    """A client of an app as it comes, without a socket."""
    return served()


@pytest.fixture
def listening(apps: Apps, listen: Listen, uploads: Path) -> Address:
    """Starts an app with these options on a loopback port and gives its address."""

    def start(**options: Any) -> str:
        return listen(apps(uploads, **options))

    return start
