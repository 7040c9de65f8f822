"""A store in one file, and back."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from threading import Event, Thread

import pytest

from discorag.store.backup import backup, restore
from discorag.store.base import ShardStore
from discorag.store.identity import Identity
from discorag.types.errors import EncoderMismatchError, InputError, MissingPathError, StoreDamagedError
from tests.store.conftest import NewPlace
from tests.store.samples import DIMENSION, ENCODER, SCOPE, sample, tree_of
from tests.store.test_contract import assert_whole

IDENTITY = Identity(encoder_version=ENCODER, dimension=DIMENSION)
PIECES = [sample(f"{i}.md", [f"text {i} part {j}" for j in range(3)], seed=i) for i in range(3)]


@pytest.fixture
def full(new_place: NewPlace) -> ShardStore:
    store = new_place().open()
    for piece in PIECES:
        piece.put_in(store)
        tree_of(piece).put_in(store)
    return store


@pytest.fixture
def file(full: ShardStore, tmp_path: Path) -> Path:
    assert backup(full, tmp_path / "all.backup", IDENTITY) == len(PIECES)
    return tmp_path / "all.backup"


def contents(store: ShardStore) -> list[str]:
    """All that is stored, as text."""
    return sorted(
        repr((s.scope, s.document, s.manifest, s.chunks, s.vectors.tolist(), [(t.tree, t.version) for t in s.trees]))
        for s in store.stored()
    )


def test_what_is_restored_is_what_was_stored(full: ShardStore, file: Path, new_place: NewPlace) -> None:
    store = new_place().open()
    assert restore(store, file, IDENTITY) == len(PIECES)
    assert contents(store) == contents(full)
    for piece in PIECES:
        assert_whole(store, piece)
    assert not store.check().differences


def test_a_restore_that_was_interrupted_goes_on(full: ShardStore, file: Path, new_place: NewPlace) -> None:
    store, seen = new_place().open(), list[str]()

    def stop(uri: str) -> None:
        seen.append(uri)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        restore(store, file, IDENTITY, stop)
    restore(store, file, IDENTITY)
    assert contents(store) == contents(full)


def test_a_store_that_holds_other_documents_is_left_alone(file: Path, new_place: NewPlace) -> None:
    store, other = new_place().open(), sample("other.md", ["mine"])
    other.put_in(store)
    with pytest.raises(InputError, match="1 documents that are not in"):
        restore(store, file, IDENTITY)
    assert [m.uri for m in store.manifests(SCOPE)] == ["other.md"]


def test_a_backup_that_fails_leaves_the_last_one(full: ShardStore, file: Path) -> None:
    before = file.read_bytes()

    def fail(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        backup(full, file, IDENTITY, fail)
    assert file.read_bytes() == before


def test_a_file_that_is_damaged_missing_foreign_or_unfinished_is_refused(
    file: Path, new_place: NewPlace, tmp_path: Path
) -> None:
    store = new_place().open()
    with pytest.raises(MissingPathError):
        restore(store, tmp_path / "no.backup", IDENTITY)
    with pytest.raises(EncoderMismatchError):
        restore(store, file, Identity(encoder_version="other", dimension=DIMENSION))
    (tmp_path / "notes.txt").write_text("no backup at all, but a note")
    with pytest.raises(StoreDamagedError):
        restore(store, tmp_path / "notes.txt", IDENTITY)
    with sqlite3.connect(file) as rows:
        rows.execute("UPDATE documents SET tenant = 'bob' WHERE number = 2")
    with pytest.raises(StoreDamagedError, match="not as it was written"):
        restore(store, file, IDENTITY)
    with sqlite3.connect(file) as rows:
        rows.execute("DELETE FROM about")
    with pytest.raises(StoreDamagedError, match="never finished"):
        restore(store, file, IDENTITY)


def test_documents_may_be_stored_replaced_and_deleted_while_a_backup_is_made(store: ShardStore, tmp_path: Path) -> None:
    versions = [sample("a.md", [f"version {v} part {i}" for i in range(40)], seed=v) for v in range(2)]
    versions[0].put_in(store)
    over = Event()

    def write() -> None:
        while not over.is_set():
            for v in (1, 0):
                versions[v].put_in(store)
                tree_of(versions[v]).put_in(store)
            store.delete(SCOPE, versions[0].doc_id)

    writer = Thread(target=write, daemon=True)
    writer.start()
    for _ in range(8):
        backup(store, tmp_path / "all.backup", IDENTITY)
        for stored in store.stored():
            whole = next(v for v in versions if v.manifest == stored.manifest)
            assert (list(stored.chunks), stored.document) == (whole.chunks, whole.document)
    over.set()
    writer.join(timeout=60)
    assert not writer.is_alive()
