"""What is missing or changed in the database is found."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from discorag.config import StoreSettings
from discorag.store.database import FILE
from discorag.store.store import open_store
from tests.store.samples import DIMENSION, ENCODER, sample, tree_of

PIECE = sample("a.md", ["one", "two"])


@pytest.mark.parametrize(
    ("damage", "parts"),
    [
        ("DELETE FROM trees", {"tree"}),
        ("DELETE FROM chunks WHERE position = 1", {"chunks", "index"}),
        ("DELETE FROM contents", {"document"}),
        ("DELETE FROM documents", {"database", "index"}),
        ("UPDATE documents SET uri = 'b.md'", {"document"}),
        ("UPDATE contents SET vectors = zeroblob(40)", {"document"}),
        ("UPDATE chunks SET body = zeroblob(40)", {"chunks"}),
        ("UPDATE trees SET outline = zeroblob(40)", {"tree"}),
    ],
)
def test_damage_is_found_in_its_part(tmp_path: Path, damage: str, parts: set[str]) -> None:
    settings = StoreSettings(path=tmp_path, min_free_mb=0)
    with open_store(settings, (ENCODER, DIMENSION)) as store:
        PIECE.put_in(store)
        for builder in ("discourse", "discourse", "clusters"):
            tree_of(PIECE, builder=builder).put_in(store)
        report = store.check()
        assert (report.documents, report.chunks, report.trees, report.differences) == (1, 2, 2, ())
    with closing(sqlite3.connect(tmp_path / FILE)) as rows, rows:
        rows.execute(damage)
    with open_store(settings) as store:
        assert {found.part for found in store.check().differences} == parts
