"""The index is derived: without it, damaged, or on a server that fails, the same is found; and it comes back."""

import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from discorag.config import StoreSettings
from discorag.schema.errors import StoreError
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
