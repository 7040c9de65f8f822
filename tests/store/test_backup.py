"""A store in one file, and back; what is missing or changed in the database is found."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from discorag.config import StoreSettings
from discorag.schema.document import Scope
from discorag.schema.errors import InputError, MissingPathError, StoreDamagedError, StoreError
from discorag.store.backup import backup, restore
from discorag.store.database import FILE
from discorag.store.edge import FOLDER
from discorag.store.findings import Findings
from discorag.store.store import Store, open_store
from tests.store.samples import DIMENSION, ENCODER, SCOPE, assert_whole, everything, sample, tree_of

BOB = Scope(tenant="bob", corpus="papers")
PIECES = [sample(f"{i}.md", [f"text {i} part {j}" for j in range(3)], seed=i) for i in range(3)]
BOBS = sample("bob.md", ["his alone"], scope=BOB)


def at(folder: Path) -> StoreSettings:
    return StoreSettings(path=folder, min_free_mb=0)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = open_store(at(tmp_path / "store"), (ENCODER, DIMENSION))
    for piece in (*PIECES, BOBS):
        piece.put_in(store)
        tree_of(piece).put_in(store)
    return store


@pytest.fixture
def file(store: Store, tmp_path: Path) -> Path:
    assert backup(store.database, tmp_path / "all.backup") == len(PIECES) + 1
    return tmp_path / "all.backup"


def test_what_is_restored_is_what_was_stored(file: Path, tmp_path: Path) -> None:
    assert restore(at(tmp_path / "new"), file) == len(PIECES) + 1
    with open_store(at(tmp_path / "new"), (ENCODER, DIMENSION)) as again:
        for piece in (*PIECES, BOBS):
            assert_whole(again, piece)
            assert again.tree(piece.scope, piece.doc_id, "discourse") == tree_of(piece).tree
        report = again.check()
        assert (report.documents, report.trees, report.differences, again.index_note) == (4, 4, (), "")


def test_a_backup_goes_back_into_the_store_whose_documents_were_deleted(store: Store, tmp_path: Path) -> None:
    Findings(store.database, 1).settle(SCOPE, "finding", "as intended")
    backup(store.database, tmp_path / "all.backup")
    Findings(store.database, 1).settle(SCOPE, "finding", "changed since")
    for piece in (*PIECES, BOBS):
        store.delete(piece.scope, piece.doc_id)
    store.close()
    assert restore(at(tmp_path / "store"), tmp_path / "all.backup") == len(PIECES) + 1
    with open_store(at(tmp_path / "store"), (ENCODER, DIMENSION)) as again:
        assert Findings(again.database, 1).settled_notes(SCOPE) == {"finding": "as intended"}


def test_a_store_that_holds_documents_or_is_of_another_encoder_is_left_alone(
    store: Store, file: Path, tmp_path: Path
) -> None:
    store.delete(SCOPE, PIECES[0].doc_id)
    with pytest.raises(InputError, match="has documents"):
        restore(at(file.with_name("store")), file)
    assert [m.uri for m in store.manifests(SCOPE)] == ["1.md", "2.md"]
    with open_store(at(tmp_path / "new"), ("another", DIMENSION)) as other, pytest.raises(StoreError, match="encoder"):
        restore(at(tmp_path / "new"), file)
    assert other.database.identity.encoder == "another"


def test_a_backup_is_never_written_over_the_store_and_a_failure_leaves_the_last_one(store: Store, file: Path) -> None:
    folder = file.with_name("store")
    for wrong in (folder / FILE, folder, folder / "new"):
        with pytest.raises(InputError, match="part of the store"):
            backup(store.database, wrong)
    before = file.read_bytes()

    def fail(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        backup(store.database, file, fail)
    assert file.read_bytes() == before
    assert sorted(p.name for p in file.parent.iterdir()) == ["all.backup", "store"]


def flipped(content: bytes) -> list[bytes]:
    """The content with one bit changed, at seven places."""
    places = range(0, len(content), len(content) // 7)
    return [content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :] for place in places]


DAMAGES: dict[str, Callable[[bytes], list[bytes]]] = {
    "flip": flipped,
    "swap": lambda content: [content[:8192] + content[12288:16384] + content[8192:12288] + content[16384:]],
    "cut": lambda content: [content[:-1]],
    "foreign": lambda _: [b"no backup" * 2000],
    "empty": lambda _: [b""],
    "row": lambda content: [content],
    "missing": lambda content: [content],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_that_is_not_as_it_was_written_is_refused_and_nothing_is_restored(
    file: Path, tmp_path: Path, damage: str
) -> None:
    content = file.read_bytes()
    for wrong in DAMAGES[damage](content):
        file.write_bytes(wrong)
        if damage == "row":
            with closing(sqlite3.connect(file)) as rows, rows:
                rows.execute("DELETE FROM trees WHERE document = 1")
        if damage == "missing":
            file.unlink()
        with pytest.raises(MissingPathError if damage == "missing" else StoreDamagedError):
            restore(at(tmp_path / "new"), file)
    assert not (tmp_path / "new").exists()


PIECE = sample("a.md", ["one", "two"])


def damaged(folder: Path, statement: str) -> Store:
    """A store of a document with two trees, opened after its database was changed."""
    settings = StoreSettings(path=folder, min_free_mb=0)
    with open_store(settings, (ENCODER, DIMENSION)) as store:
        PIECE.put_in(store)
        for builder in ("discourse", "discourse", "clusters"):
            tree_of(PIECE, builder=builder).put_in(store)
        report = store.check()
        assert (report.documents, report.chunks, report.trees, report.differences) == (1, 2, 2, ())
    with closing(sqlite3.connect(folder / FILE)) as rows, rows:
        rows.execute(statement)
    return open_store(settings)


@pytest.mark.parametrize(
    ("statement", "parts"),
    [
        ("DELETE FROM trees WHERE builder = 'clusters'", {"tree"}),
        ("DELETE FROM chunks WHERE position = 1", {"chunks", "index"}),
        ("DELETE FROM contents", {"document"}),
        ("DELETE FROM documents", {"database", "index"}),
        ("UPDATE documents SET uri = 'b.md'", {"document"}),
        ("UPDATE contents SET vectors = zeroblob(40)", {"document"}),
        ("UPDATE chunks SET body = zeroblob(40)", {"chunks"}),
        ("UPDATE trees SET outline = zeroblob(40)", {"tree"}),
    ],
)
def test_a_check_finds_damage_in_its_part(tmp_path: Path, statement: str, parts: set[str]) -> None:
    with damaged(tmp_path, statement) as store:
        assert {found.part for found in store.check().differences} == parts


@pytest.mark.parametrize("statement", ["DELETE FROM contents", "UPDATE contents SET vectors = zeroblob(40)"])
def test_an_exact_search_of_what_is_damaged_is_an_error(tmp_path: Path, statement: str) -> None:
    with damaged(tmp_path, statement) as store:
        shutil.rmtree(tmp_path / FOLDER)
        with pytest.raises(StoreDamagedError):
            everything(store)
