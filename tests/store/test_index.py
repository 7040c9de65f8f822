"""The index is derived: without it, damaged, or on a server that fails, the same is found; and it comes back."""

import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from qdrant_client import QdrantClient, models

from discorag.config import StoreSettings
from discorag.schema.errors import ConfigError, StoreError
from discorag.store import live
from discorag.store.edge import FOLDER, LOCK
from discorag.store.records import Hit, SearchQuery
from discorag.store.store import Store, open_store
from tests.servers.qdrant import QdrantServer
from tests.store.samples import DIMENSION, ENCODER, SCOPE, everything, sample, unit

PIECES = [sample(f"{i}.md", [f"alpha {'beta ' * i}part {j}" for j in range(5)], seed=i) for i in range(6)]
QUERY = SearchQuery(vector=unit(1, 77)[0], text="alpha beta", retrieval="hybrid")


def opened(folder: Path, **settings: float) -> Store:
    return open_store(
        StoreSettings.model_validate({"path": folder, "min_free_mb": 0, **settings}), (ENCODER, DIMENSION)
    )


@pytest.fixture
def found(tmp_path: Path) -> list[Hit]:
    """A closed store with documents and an index; what a question finds in it."""
    with opened(tmp_path) as store:
        for piece in PIECES:
            piece.put_in(store)
        hits = store.search(SCOPE, QUERY)
        assert store.index_note == ""
    assert len(hits) == 10
    return hits


def files(folder: Path) -> list[Path]:
    """The index's files, the longest content first."""
    found = [p for p in (folder / FOLDER).rglob("*") if p.is_file()]
    return sorted(found, key=lambda p: (-p.stat().st_blocks, str(p)))


def flip(folder: Path) -> None:
    for file in files(folder)[:5]:
        content = bytearray(file.read_bytes())
        content[len(content) // 3] ^= 1
        file.write_bytes(content)


def truncate(folder: Path) -> None:
    for file in files(folder)[:8]:
        os.truncate(file, file.stat().st_size // 2)


def swap(folder: Path) -> None:
    a, b = files(folder)[:2]
    content = a.read_bytes()
    a.write_bytes(b.read_bytes())
    b.write_bytes(content)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "flip": flip,
    "truncate": truncate,
    "swap": swap,
    "zero": lambda folder: files(folder)[0].write_bytes(bytes(files(folder)[0].stat().st_size)),
    "delete a file": lambda folder: files(folder)[0].unlink(),
    "delete all": lambda folder: shutil.rmtree(folder / FOLDER),
    "of another database": lambda folder: (folder / FOLDER / "about.json").write_text(
        '{"format": 1, "database": "other", "dimension": 8, "checksum": ""}'
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_changes_no_answer_and_is_made_again_by_the_next_change(
    tmp_path: Path, found: list[Hit], damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    DAMAGES[damage](tmp_path)
    with opened(tmp_path) as store, caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert store.search(SCOPE, QUERY) == found
        assert store.index_note.startswith("exact (")
        assert [d.part for d in store.check().differences] == ["index"]
        assert len([r for r in caplog.records if "index" in r.message]) == 1
        PIECES[0].put_in(store)
        assert store.index_note == ""
        assert store.search(SCOPE, QUERY) == found
        assert not store.check().differences


def test_reindexing_makes_the_index_again(tmp_path: Path, found: list[Hit]) -> None:
    truncate(tmp_path)
    with open_store(StoreSettings(path=tmp_path)) as store:
        assert store.reindex() == len(PIECES)
    with opened(tmp_path) as store:
        assert (store.search(SCOPE, QUERY), store.index_note) == (found, "")


def test_an_index_of_which_most_was_deleted_is_built_again(
    tmp_path: Path, found: list[Hit], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discorag.store.edge._WORN", 0)
    with opened(tmp_path) as store:
        before = sum(file.stat().st_size for file in (tmp_path / FOLDER).rglob("mutable_id_tracker.versions"))
        for i in range(40):
            sample("0.md", [f"version {i}, part {j}" for j in range(5)]).put_in(store)
        PIECES[0].put_in(store)
        assert (store.search(SCOPE, QUERY), store.index_note) == (found, "")
    assert sum(file.stat().st_size for file in (tmp_path / FOLDER).rglob("mutable_id_tracker.versions")) <= 2 * before


def test_an_index_that_fails_while_it_is_used_is_left(
    tmp_path: Path, found: list[Hit], monkeypatch: pytest.MonkeyPatch
) -> None:
    class PanicError(BaseException):
        """As the library raises it."""

    def panic(*_: object) -> None:
        raise PanicError("index out of bounds")

    with opened(tmp_path) as store:
        with monkeypatch.context() as patch:
            patch.setattr("discorag.store.edge.EdgeIndex.nearest", panic)
            assert store.search(SCOPE, QUERY) == found
        assert store.index_note == "exact (it failed: index out of bounds)"
        assert store.search(SCOPE, QUERY) == found
    with opened(tmp_path) as store:
        assert store.search(SCOPE, QUERY) == found
        assert store.index_note == "exact (it is damaged)"


def test_an_index_is_not_opened_while_the_disk_is_nearly_full_and_nothing_is_stored(
    tmp_path: Path, found: list[Hit]
) -> None:
    with opened(tmp_path, min_free_mb=10**9) as store:
        assert (store.search(SCOPE, QUERY), store.index_note) == (found, "exact (the disk is nearly full)")
        with pytest.raises(StoreError, match="nearly full"):
            PIECES[0].put_in(store)
        assert store.delete(SCOPE, PIECES[0].doc_id)
    with opened(tmp_path) as store:
        assert everything(store) == {i for piece in PIECES[1:] for i in piece.ids}
        assert store.index_note == ""


def test_a_second_process_reads_writes_and_searches_exactly_and_the_first_sees_it(
    tmp_path: Path, found: list[Hit]
) -> None:
    new = sample("new.md", ["alpha beta alpha beta"], vectors=QUERY.vector[None])
    code = f"""
from tests.store.test_index import *
with opened(Path({str(tmp_path)!r})) as store:
    assert store.search(SCOPE, QUERY)
    sample("new.md", ["alpha beta alpha beta"], vectors=QUERY.vector[None]).put_in(store)
    assert store.delete(SCOPE, PIECES[0].doc_id)
    print(store.search(SCOPE, QUERY)[0].chunk_id, store.index_note)
"""
    with opened(tmp_path) as store:
        assert store.search(SCOPE, QUERY) == found
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == f"{new.ids[0]} exact (another process has it open)"
        assert store.search(SCOPE, QUERY)[0].chunk_id == new.ids[0]
        assert everything(store) == {i for piece in [*PIECES[1:], new] for i in piece.ids}
        assert store.index_note == ""
        assert not store.check().differences


WRITE = """
from tests.store.test_index import *
with opened(Path(sys.argv[1])) as store:
    for i in range(1_000_000):
        sample(f"{i % 7}.md", [f"alpha {i} part {j}" for j in range(3)], seed=i).put_in(store)
        print(i, flush=True)
"""


def test_what_was_acknowledged_survives_kill_9_and_the_index_catches_up(tmp_path: Path) -> None:
    for written in (1, 9):
        with subprocess.Popen(
            [sys.executable, "-c", WRITE, str(tmp_path)], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout is not None
            last = [int(writer.stdout.readline()) for _ in range(written)][-1]
            os.kill(writer.pid, signal.SIGKILL)
            last = max([last, *(int(line) for line in writer.stdout if line.endswith("\n"))])
        with opened(tmp_path) as store:
            report = store.check()
            assert (report.differences, store.index_note) == ((), "")
            doc_id = sample(f"{last % 7}.md", ["any"]).doc_id
            text = store.document(SCOPE, doc_id).text
            assert int(text.split()[1]) >= last
            assert len(everything(store)) == report.chunks


def test_what_lies_in_no_index_is_searched_up_to_a_limit(
    tmp_path: Path, found: list[Hit], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(tmp_path / FOLDER)
    monkeypatch.setattr("discorag.store.search.MOST", 10)
    with opened(tmp_path) as store, pytest.raises(StoreError, match=r"has 30 chunks.*disco-rag reindex"):
        store.search(SCOPE, QUERY)


def test_the_files_are_their_owners_alone(tmp_path: Path) -> None:
    with opened(tmp_path / "new") as store:
        PIECES[0].put_in(store)
    assert oct((tmp_path / "new").stat().st_mode & 0o777) == "0o700"
    for name in ("documents.sqlite", LOCK):
        assert oct((tmp_path / "new" / name).stat().st_mode & 0o777) == "0o600"
    assert oct((tmp_path / "new" / FOLDER).stat().st_mode & 0o777) == "0o700"


ON_SERVER = [sample(f"{i}.md", [f"alpha part {j}" for j in range(4)], seed=i) for i in range(3)]
ALPHA = SearchQuery(vector=unit(1, 77)[0], text="alpha", retrieval="hybrid")


@pytest.fixture
def server() -> Iterator[QdrantServer]:
    with QdrantServer() as running:
        yield running


def served(folder: Path, url: str, **more: object) -> Store:
    settings = {"path": folder, "url": url, "min_free_mb": 0, "timeout_s": 1, **more}
    return open_store(StoreSettings.model_validate(settings), (ENCODER, DIMENSION))


def test_while_the_server_fails_the_database_answers_and_later_the_server_again(
    tmp_path: Path, server: QdrantServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "RETRY_S", 0.0)
    with served(tmp_path, server.address) as store:
        for piece in ON_SERVER[:2]:
            piece.put_in(store)
        before = store.search(SCOPE, ALPHA)
        server.is_well = False
        assert store.search(SCOPE, ALPHA) == before
        assert store.index_note.startswith("exact (")
        ON_SERVER[2].put_in(store)
        server.is_well = True
        assert everything(store) == {i for piece in ON_SERVER for i in piece.ids}
        assert store.index_note == ""
        assert not store.check().differences


def test_a_server_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    with served(tmp_path, "http://127.0.0.1:9") as store:
        ON_SERVER[0].put_in(store)
        assert everything(store) == set(ON_SERVER[0].ids)
        assert "127.0.0.1:9 does not answer" in store.index_note


def test_two_stores_on_one_server_have_an_index_each(tmp_path: Path, server: QdrantServer) -> None:
    with served(tmp_path / "a", server.address) as one, served(tmp_path / "b", server.address) as other:
        ON_SERVER[0].put_in(one)
        ON_SERVER[1].put_in(other)
        assert (everything(one), everything(other)) == (set(ON_SERVER[0].ids), set(ON_SERVER[1].ids))
        assert (one.index_note, other.index_note) == ("", "")


def on_server(server: QdrantServer) -> dict[str, dict[str, object]]:
    """What a person sees in the server's only collection: the payload of every point, by id."""
    with closing(QdrantClient(url=server.address, check_compatibility=False)) as client:
        (collection,) = client.get_collections().collections
        points, _ = client.scroll(collection.name, limit=100)
    return {str(point.id): point.payload or {} for point in points}


def test_a_person_can_read_the_points_of_the_server(tmp_path: Path, server: QdrantServer) -> None:
    piece = sample("0.md", ["alpha part 0"], title="Tides", metadata={"year": "1999"})
    chunk = piece.chunks[0].model_copy(update={"headings": ("Moon", "Pull"), "page": 3})
    with served(tmp_path, server.address) as store:
        replace(piece, chunks=[chunk]).put_in(store)
        shown = on_server(server)
    own: dict[str, object] = {
        "tenant": "ann",
        "corpus": "papers",
        "doc_id": piece.doc_id,
        "version": "1",
        "meta": ['["year", "1999"]', '["year", 1999.0]'],
    }
    own["values"] = [{"key": "year", "number": 1999.0}]
    read = {"title": "Tides", "heading": "Moon > Pull", "text": "alpha part 0", "page": 3}
    assert shown == {piece.doc_id: {**own, "title": "Tides"}, chunk.id: own | read}


def test_a_new_title_and_a_deletion_reach_the_server(tmp_path: Path, server: QdrantServer) -> None:
    with served(tmp_path, server.address) as store:
        for title in ("Old title", "New title"):
            sample("0.md", ["a secret"], title=title).put_in(store)
        ON_SERVER[1].put_in(store)
        titles = {str(payload["title"]) for payload in on_server(server).values()}
        assert titles == {"New title", "Title of 1.md"}
        assert store.delete(SCOPE, sample("0.md", ["a secret"]).doc_id)
        assert "secret" not in str(on_server(server))
        assert len(on_server(server)) == 5


def test_points_that_an_older_version_wrote_are_made_again_by_the_next_change(
    tmp_path: Path, server: QdrantServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older, served(tmp_path, server.address) as store:
        older.setattr("discorag.store.qdrant._FORMAT", 1)
        older.setattr("discorag.store.qdrant.ServerIndex.keeps_passages", False)
        ON_SERVER[0].put_in(store)
        before = store.search(SCOPE, ALPHA)
    assert not any("text" in payload for payload in on_server(server).values())
    with served(tmp_path, server.address) as store:
        assert store.search(SCOPE, ALPHA) == before
        assert store.check_index() == "exact (another version of disco-rag made it)"
        assert [d.part for d in store.check().differences] == ["index"]
        ON_SERVER[1].put_in(store)
        assert store.check_index() == ""
    assert sum("text" in payload for payload in on_server(server).values()) == 8


def test_a_collection_is_named_by_the_settings_and_belongs_to_one_store(tmp_path: Path, server: QdrantServer) -> None:
    with served(tmp_path / "a", server.address, collection="library") as store:
        ON_SERVER[0].put_in(store)
        assert store.reindex() == 1
    with closing(QdrantClient(url=server.address, check_compatibility=False)) as client:
        assert [found.name for found in client.get_collections().collections] == ["library"]
    kept = on_server(server)
    settings = {"path": tmp_path / "c", "url": server.address, "collection": "library", "min_free_mb": 0}
    other = open_store(StoreSettings.model_validate(settings), ("other/2", 4))
    with served(tmp_path / "b", server.address, collection="library") as second, other:
        for store, reason in (
            (second, "belongs to another store"),
            (other, r"made for encoder 'test-encoder/1' \(8 n"),
        ):
            for use in (store.check_index, store.reindex):
                with pytest.raises(ConfigError, match=f"'library'.*{reason}") as caught:
                    use()
                assert "DISCO_RAG_STORE__COLLECTION" in str(caught.value.hint)
    assert on_server(server) == kept


def test_a_collection_that_something_else_made_is_left_alone(tmp_path: Path, server: QdrantServer) -> None:
    with closing(QdrantClient(url=server.address, check_compatibility=False)) as client:
        client.create_collection("mine", models.VectorParams(size=8, distance=models.Distance.COSINE))
        with (
            served(tmp_path, server.address, collection="mine") as store,
            pytest.raises(ConfigError, match="not made by disco-rag"),
        ):
            store.reindex()
        assert client.collection_exists("mine")


def test_the_state_of_the_server_can_be_asked(tmp_path: Path, server: QdrantServer) -> None:
    with served(tmp_path, server.address) as store:
        ON_SERVER[0].put_in(store)
        assert store.check_index() == ""
        server.is_well = False
        assert "not well" in store.check_index()
