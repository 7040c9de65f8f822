"""What `bench.trust` promises, in small: each experiment with a few of its cases, on parts that are already loaded."""

import os
import random
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest

from bench.product import command, write_texts
from bench.promises import Trial
from bench.trust import damages, disk_full, kills, poison, probes, server_kills, soak
from bench.trust.content import Reading
from bench.trust.disk_full import Filler, small_disk
from bench.trust.pdfs import grid
from discorag import DiscoRAG
from discorag.config import ApiSettings, ParserSettings, Settings, StoreSettings
from discorag.models.protocol import Encoder
from discorag.store.store import open_store
from interfaces.http.access import Role
from interfaces.http.app import create_app
from nodes.backends import Backends
from tests.interfaces.http.parts import PATIENCE_S, Listening, write_keys
from tests.servers.scripted import ScriptedServer

TENANTS = ("attacker", "other")
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")


@dataclass
class Places:
    """Makes pipelines over Edge stores, and servers of them."""

    home: Path
    encoder: Encoder
    stack: ExitStack

    def rag(self, name: str = "store") -> DiscoRAG:
        """A pipeline over a store in a folder of its own, trees by the rule parser."""
        settings = Settings(
            store=StoreSettings(kind="edge", path=self.home / name / "store"),
            parser=ParserSettings(kind="rules"),
            api=ApiSettings(uploads=self.home / "up", keys=self.home / "keys.toml", requests_per_minute=10**6),
        )
        encoder = self.encoder
        store = open_store(settings.store, (encoder.version, encoder.dimension))
        return DiscoRAG(backends=Backends(settings, store, encoder, None))

    def clients(self) -> list[httpx.Client]:
        """A client of a running server for every tenant."""
        headers = write_keys(self.home / "keys.toml", *((t, t, tuple(Role)) for t in TENANTS))
        rag = self.rag()
        self.stack.callback(rag.close)
        url = self.stack.enter_context(Listening(create_app(rag=rag))).url
        clients = (httpx.Client(base_url=url, headers=h, timeout=PATIENCE_S) for h in headers)
        return [self.stack.enter_context(client) for client in clients]


@pytest.fixture
def places(tmp_path: Path, encoder: Encoder) -> Iterator[Places]:
    with ExitStack() as stack:
        yield Places(tmp_path, encoder, stack)


@pytest.mark.server
@pytest.mark.parametrize("count", [1, pytest.param(12, marks=pytest.mark.deep)])
def test_a_pipeline_that_is_killed_ends_like_one_that_never_was(tmp_path: Path, count: int) -> None:
    with ScriptedServer() as server:  # an encoder that is served: torch need not be loaded
        settings = {"ENCODER__BASE_URL": server.base_url, "ENCODER__MODEL": "hashed"}
        found = kills.run(Trial(tmp_path, count, seed=7), parser="rules", documents=3, settings=settings)
    assert (found["lost"], found["differing"]) == (0, 0), found
    assert found["compared"] > 10


def test_a_damaged_store_is_never_read_differently_without_a_word(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_texts(places.home / "texts", 2)
    with places.rag("intact") as rag:
        rag.ingest(places.home / "texts")
    encoder = places.encoder  # without searches, which need vectors
    reading = Reading(encoder_version=encoder.version, dimension=encoder.dimension, vectors=[], texts=[])
    how = places.home / "reading.json"
    how.write_text(reading.model_dump_json(), encoding="utf-8")
    whole = damages.Intact.of(places.home / "intact" / "store", how)
    found = damages.damage_index(whole, Trial(places.home, 3, seed=1))  # flip, halve, delete
    assert (found["wrong"], found["lost"]) == (0, 0), found
    with monkeypatch.context() as patch:
        patch.delitem(damages.OF_DATABASE, "flip")
        found = damages.damage_database(whole, Trial(places.home, 2, seed=1))  # zero, swap
    assert (found["wrong"], found["silent"], found["crashed"], found["unrestored"]) == (0, 0, 0, 0), found


@pytest.mark.server
@pytest.mark.deep
def test_a_server_that_is_killed_loses_no_file_that_it_accepted(tmp_path: Path) -> None:
    found = server_kills.run(Trial(tmp_path, 3))
    assert {name: found[name] for name in server_kills.NONE} == server_kills.NONE, found


@AS_ROOT
def test_a_full_disk_is_an_error_and_no_crash(tmp_path: Path) -> None:
    write_texts(tmp_path / "texts", 1)
    with small_disk(tmp_path / "disk", 20) as disk, Filler(disk, random.Random(1)):
        (disk / "home").mkdir()
        ended = command(disk / "home" / "store", "ingest", str(tmp_path / "texts"), "--parser", "none")
    assert not ended.crashed, ended


@AS_ROOT
@pytest.mark.deep
def test_what_a_full_disk_held_up_is_stored_when_there_is_room(tmp_path: Path) -> None:
    found = disk_full.run(Trial(tmp_path, 2), documents=4)
    assert (found["crashes"], found["lost"]) == (0, 0), found


def test_a_poison_file_holds_up_nobody_else(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poison, "ALONE", 2)
    attacker, other = places.clients()
    files = [("grid.pdf", grid(70, 30, outside=20_000))]
    found = poison.poison_all(attacker, other, files, Trial(places.home, 1), psutil.Process(os.getpid()))
    assert (found["crashes"], found["others_not_done"]) == (0, 0), found
    assert found["block_of_others_s"] <= 5, found  # the benchmark says 2, of a machine that does nothing else


def test_no_request_shows_or_changes_what_is_another_tenants(places: Places) -> None:
    owners = [probes.Owner(t, c, f"Q{t}q") for t, c in zip(TENANTS, places.clients(), strict=True)]
    for owner in owners:
        owner.settle_in()
    schema = owners[0].client.get("/openapi.json").raise_for_status().json()
    found = probes.probe(owners, schema, Trial(places.home, 150), at_once=2)
    assert sum(found.statuses.values()) == 150
    assert found.statuses["200"] > 20
    assert (found.leaks, found.errors) == ([], [])


def test_asks_leave_no_descriptors_open(places: Places) -> None:
    found = soak.ask_often(places.clients()[0], psutil.Process(os.getpid()), Trial(places.home, 60))
    assert found["not_answered"] == 0, found
    assert found["descriptor_growth"] <= 5, found
