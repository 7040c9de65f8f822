"""What is missing or changed in the database is found."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from discorag.config import StoreSettings
from discorag.schema.errors import StoreDamagedError
from discorag.store.database import FILE
from discorag.store.edge import FOLDER
from discorag.store.store import Store, open_store
from tests.store.samples import DIMENSION, ENCODER, everything, sample, tree_of

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
