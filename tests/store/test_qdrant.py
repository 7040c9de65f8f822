"""The index on a server: it may fail, and answers stay the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from discorag.config import StoreSettings
from discorag.store import live
from discorag.store.records import SearchQuery
from discorag.store.store import Store, open_store
from tests.servers.qdrant import Fault, QdrantServer
from tests.store.samples import DIMENSION, ENCODER, SCOPE, everything, sample, unit

PIECES = [sample(f"{i}.md", [f"alpha part {j}" for j in range(4)], seed=i) for i in range(3)]
QUERY = SearchQuery(vector=unit(1, 77)[0], text="alpha", retrieval="hybrid")


@pytest.fixture
def server() -> Iterator[QdrantServer]:
    with QdrantServer() as running:
        yield running


def opened(folder: Path, url: str, **more: object) -> Store:
    settings = {"path": folder, "url": url, "min_free_mb": 0, "timeout_s": 1, **more}
    return open_store(StoreSettings.model_validate(settings), (ENCODER, DIMENSION))


def test_while_the_server_fails_the_database_answers_and_later_the_server_again(
    tmp_path: Path, server: QdrantServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "RETRY_S", 0.0)
    with opened(tmp_path, server.address) as store:
        for piece in PIECES[:2]:
            piece.put_in(store)
        before = store.search(SCOPE, QUERY)
        server.fail(Fault(status=503), requests=1000)
        assert store.search(SCOPE, QUERY) == before
        assert store.index_note.startswith("exact (")
        PIECES[2].put_in(store)
        server.recover()
        assert everything(store) == {i for piece in PIECES for i in piece.ids}
        assert store.index_note == ""
        assert not store.check().differences


def test_a_server_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    with opened(tmp_path, "http://127.0.0.1:9") as store:
        PIECES[0].put_in(store)
        assert everything(store) == set(PIECES[0].ids)
        assert "127.0.0.1:9 does not answer" in store.index_note


def test_two_stores_on_one_server_have_an_index_each(tmp_path: Path, server: QdrantServer) -> None:
    with opened(tmp_path / "a", server.address) as one, opened(tmp_path / "b", server.address) as other:
        PIECES[0].put_in(one)
        PIECES[1].put_in(other)
        assert (everything(one), everything(other)) == (set(PIECES[0].ids), set(PIECES[1].ids))
        assert (one.index_note, other.index_note) == ("", "")
