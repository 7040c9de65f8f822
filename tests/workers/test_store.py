"""A worker's store does what every store does, over a folder that another has open."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import cast

import pytest
from pydantic import SecretStr

from discorag.settings import StoreSettings
from discorag.store.base import ShardStore
from discorag.store.edge import EdgeStore
from discorag.types.errors import InvariantError, NotFoundError, StoreFullError
from graphs.workers.store import STORE, KeptStore, open_kept
from graphs.workers.wire import Calls, Keeper
from tests.store import test_contract as contract
from tests.store.conftest import EdgePlace, ServerPlace, server, server_place
from tests.store.samples import DIMENSION, ENCODER, SCOPE, sample
from tests.store.test_contract import TestRoundTrip, TestScopes
from tests.store.test_trees import TestSearch

__all__ = ["TestRoundTrip", "TestScopes", "TestSearch", "server", "server_place"]


@contextmanager
def asked(owner: ShardStore, address: str) -> Generator[Keeper]:
    """A process, here this one, that has a store open, as another one sees it."""
    with Calls(address, {STORE: owner}, asyncio.new_event_loop()):
        yield Keeper(address)


class KeptPlace(EdgePlace):
    """A folder with one process, here this one, that has it open, and another that asks."""

    def __init__(self, folder: Path, address: str) -> None:
        super().__init__(folder)
        self._address, self._calls = address, list[Calls]()

    def open(self, *, encoder: str = ENCODER, dimension: int = DIMENSION) -> KeptStore:
        owner = super().open(encoder=encoder, dimension=dimension)
        self._calls.append(Calls(self._address, {STORE: owner}, asyncio.new_event_loop()).__enter__())
        return KeptStore(Keeper(self._address), dimension)

    def leave(self) -> None:
        if self._calls:
            self._calls.pop().__exit__()
        super().leave()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[KeptPlace]:
    kept = KeptPlace(tmp_path / "store", str(tmp_path / "keeper"))
    yield kept
    kept.leave()


@pytest.fixture
def store(place: KeptPlace) -> KeptStore:
    return place.open()


def test_a_reader_sees_the_old_or_the_new_version_never_both(store: KeptStore) -> None:
    contract.TestReplacement().test_a_reader_sees_the_old_or_the_new_version_never_both(store)


def test_two_writers_of_one_document_leave_one_of_their_versions_whole(store: KeptStore) -> None:
    contract.TestReplacement().test_two_writers_of_one_document_leave_one_of_their_versions_whole(store)


def test_what_a_worker_wrote_is_in_the_archive_and_whole(place: KeptPlace, store: KeptStore) -> None:
    piece = sample("a.md", ["one", "two"])
    piece.put_in(store)
    assert not store.check().differences
    assert [stored.document for stored in store.stored()] == [piece.document]
    place.leave()
    with EdgeStore(place.folder, dimension=DIMENSION, encoder_version=ENCODER) as again:
        assert [m.uri for m in again.manifests(SCOPE)] == ["a.md"]


def test_what_the_owner_refuses_is_refused_here_with_its_reason(
    place: KeptPlace, store: KeptStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    piece = sample("a.md", ["one"])
    with pytest.raises(NotFoundError, match="There is no document"):
        store.document(SCOPE, piece.doc_id)
    with pytest.raises(InvariantError, match="shape"):
        store.put(piece.scope, piece.document, piece.manifest, piece.chunks, piece.vectors[:, :3])
    assert isinstance(place.store, EdgeStore)

    def full(*_: object) -> None:
        raise StoreFullError("The disk is nearly full.", hint="Make room.")

    monkeypatch.setattr(place.store, "put", full)
    with pytest.raises(StoreFullError, match="Make room"):
        piece.put_in(store)


def test_who_reads_while_the_owner_is_renewed_waits_and_sees_all(place: KeptPlace, store: KeptStore) -> None:
    pieces = [sample(f"{i}.md", ["one", "two"]) for i in range(5)]
    for piece in pieces:
        piece.put_in(store)
    found, stop = list[int](), Event()

    def read() -> None:
        while not stop.is_set():
            found.append(len(store.manifests(SCOPE)))

    reader = Thread(target=read)
    reader.start()
    for _ in range(3):
        place.leave()
        place.open()
    stop.set()
    reader.join()
    assert set(found) == {5}


def test_beside_a_qdrant_server_workers_read_it_themselves_and_the_keeper_writes(
    server_place: ServerPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = StoreSettings(
        url=server_place.server.url, api_key=SecretStr(server_place.server.api_key or ""), prefix=server_place.prefix
    )
    piece, owner = sample("a.md", ["one", "two"]), server_place.open()
    with (
        asked(owner, str(tmp_path / "keeper")) as keeper,
        closing(open_kept(keeper, settings, DIMENSION, ENCODER)) as store,
    ):
        piece.put_in(cast("ShardStore", store))
        monkeypatch.setattr(keeper, "call", None)
        assert [c.text for c in store.chunks_of(SCOPE, piece.doc_id)] == ["one", "two"]
