"""What `bench.trust` promises, in small: each experiment with a few of its cases, on parts that are already loaded."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import psutil
import pytest

from bench.promises import Trial
from bench.trust import kills, probes, server_kills, soak
from discorag.config import ApiSettings, ParserSettings
from interfaces.http.access import Role
from interfaces.http.app import create_app
from tests.conftest import Pipelines
from tests.interfaces.http.parts import PATIENCE_S, Listening, write_keys
from tests.servers.scripted import ScriptedServer

TENANTS = ("attacker", "other")


@pytest.fixture
def clients(pipeline: Pipelines, tmp_path: Path) -> Iterator[list[httpx.Client]]:
    """A client of a running server for every tenant; trees are by the rule parser."""
    rag, keys = pipeline(kind="edge"), tmp_path / "keys.toml"
    api = ApiSettings(uploads=tmp_path / "up", keys=keys, requests_per_minute=10**6)
    own = {"api": api, "parser": ParserSettings(kind="rules")}
    rag.backends.settings = rag.backends.settings.model_copy(update=own)
    headers = write_keys(keys, *((t, t, tuple(Role)) for t in TENANTS))
    with Listening(create_app(rag=rag)) as server, ExitStack() as stack:
        made = (httpx.Client(base_url=server.url, headers=h, timeout=PATIENCE_S) for h in headers)
        yield [stack.enter_context(client) for client in made]


@pytest.mark.server
@pytest.mark.parametrize("count", [1, pytest.param(12, marks=pytest.mark.deep)])
def test_a_pipeline_that_is_killed_ends_like_one_that_never_was(tmp_path: Path, count: int) -> None:
    with ScriptedServer() as server:  # an encoder that is served: torch need not be loaded
        settings = {"ENCODER__BASE_URL": server.base_url, "ENCODER__MODEL": "hashed"}
        found = kills.run(Trial(tmp_path, count, seed=7), parser="rules", documents=3, settings=settings)
    assert (found["lost"], found["differing"]) == (0, 0), found
    assert found["compared"] > 10


@pytest.mark.server
@pytest.mark.deep
def test_a_server_that_is_killed_loses_no_file_that_it_accepted(tmp_path: Path) -> None:
    found = server_kills.run(Trial(tmp_path, 3))
    assert {name: found[name] for name in server_kills.NONE} == server_kills.NONE, found


def test_no_request_shows_or_changes_what_is_another_tenants(clients: list[httpx.Client], tmp_path: Path) -> None:
    owners = [probes.Owner(t, c, f"Q{t}q") for t, c in zip(TENANTS, clients, strict=True)]
    for owner in owners:
        owner.settle_in()
    schema = owners[0].client.get("/openapi.json").raise_for_status().json()
    found = probes.probe(owners, schema, Trial(tmp_path, 150), at_once=2)
    assert sum(found.statuses.values()) == 150
    assert found.statuses["200"] > 20
    assert (found.leaks, found.errors) == ([], [])


def test_asks_leave_no_descriptors_open(clients: list[httpx.Client], tmp_path: Path) -> None:
    found = soak.ask_often(clients[0], psutil.Process(os.getpid()), Trial(tmp_path, 60))
    assert found["not_answered"] == 0, found
    assert found["descriptor_growth"] <= 5, found
