"""What a folder says of its own damage, and what is made right again."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discorag.store.base import ShardStore
from discorag.store.check import Mended
from discorag.store.edge import EdgeStore
from discorag.store.mend import mended, migrated
from discorag.store.protocol import SearchQuery
from discorag.store.shard import Where
from discorag.types.errors import StoreDamagedError, StoreError, StoreFormatError
from discorag.types.ids import stable_id
from tests.store.samples import DIMENSION, ENCODER, SCOPE, sample, tree_of, unit

PIECES = [sample(f"{i}.md", [f"text {i} part {j}" for j in range(3)], seed=i) for i in range(3)]
TREES = [tree_of(piece, seed=9) for piece in PIECES]
MADE: Any = {"dimension": DIMENSION, "encoder_version": ENCODER}


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store that was closed."""
    folder = tmp_path_factory.mktemp("closed") / "store"
    with EdgeStore(folder, **MADE) as store:
        for piece, tree in zip(PIECES, TREES, strict=True):
            piece.put_in(store)
            tree.put_in(store)
    return folder


@pytest.fixture
def folder(closed: Path, tmp_path: Path) -> Path:
    subprocess.run(["cp", "-r", "--sparse=always", str(closed), str(tmp_path / "store")], check=True)
    return tmp_path / "store"


def content(store: ShardStore) -> list[object]:
    """All that can be read and found."""
    query = SearchQuery(vector=unit(1, 3)[0], top_k=10, text="part 2", retrieval="hybrid")
    read = [
        (store.document(SCOPE, p.doc_id), store.chunks_of(SCOPE, p.doc_id), store.tree(SCOPE, p.doc_id, "discourse"))
        for p in PIECES
    ]
    return [*read, store.search(SCOPE, query)]


def completed(store: ShardStore, done: Mended) -> None:
    """Put what was to be read again, as the ingest would."""
    for _, _, manifest in done.unread:
        next(p for p in PIECES if p.doc_id == manifest.doc_id).put_in(store)
    for _, doc_id, _ in done.trees:
        next(t for t in TREES if t.doc_id == doc_id).put_in(store)


def halve(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    for at in random.Random(1).sample([i for i, b in enumerate(data[:400_000]) if b], 3):
        data[at] ^= 0xFF
    file.write_bytes(data)


DAMAGED = [
    "docs/segments/*/mutable_id_tracker.mappings",
    "nodes/segments/*/mutable_id_tracker.versions",
    "nodes/segments/*/payload_storage/page_0.dat",
    "nodes/segments/*/vector_storage-dense/vectors/chunk_0.mmap",
    "nodes/segments/*/segment.json",
    "nodes/wal/open-1",
    "archive.sqlite",
    "store.json",
]
_QUICK = {(DAMAGED[0], halve), (DAMAGED[2], flip), (DAMAGED[4], Path.unlink), (DAMAGED[6], flip)}


@pytest.mark.parametrize(
    ("pattern", "damage"),
    [
        pytest.param(pattern, damage, marks=() if (pattern, damage) in _QUICK else pytest.mark.deep)
        for pattern in DAMAGED
        for damage in (halve, flip, Path.unlink)
    ],
)
def test_a_damaged_file_is_told_and_all_is_made_right(
    folder: Path, pattern: str, damage: Callable[[Path], None]
) -> None:
    with EdgeStore(folder, **MADE) as store:
        before = content(store)
    damage(next(folder.glob(pattern)))
    with pytest.raises(StoreError) as told:
        EdgeStore(folder, **MADE)
    assert "repair" in told.value.hint or "no store.json" in told.value.message
    store, done = mended(folder, **MADE)
    with store:
        completed(store, done)
    with EdgeStore(folder, **MADE) as again:
        assert content(again) == before
        assert not again.check().differences


def test_opening_a_damaged_folder_changes_nothing_of_it(folder: Path) -> None:
    halve(next(folder.glob("docs/segments/*/mutable_id_tracker.mappings")))
    before = {f: f.read_bytes() for f in folder.rglob("*") if f.is_file()}
    for _ in range(2):
        with pytest.raises(StoreDamagedError):
            EdgeStore(folder, **MADE)
    assert {f: f.read_bytes() for f in folder.rglob("*") if f.is_file()} == before


def test_what_was_damaged_is_kept_beside_the_store(folder: Path) -> None:
    file = next(folder.glob("nodes/segments/*/segment.json"))
    halve(file)
    data = file.read_bytes()
    store, done = mended(folder, **MADE)
    store.close()
    kept = folder.with_name("store.damaged-1")
    assert (kept / file.relative_to(folder)).read_bytes() == data
    assert str(kept) in done.found[-1]


def test_reading_leaves_the_seal_as_it_is(folder: Path) -> None:
    seal = (folder / "seal.json").read_bytes()
    for _ in range(3):
        with EdgeStore(folder, **MADE) as store:
            content(store)
    assert (folder / "seal.json").read_bytes() == seal


def test_a_repair_that_did_not_read_all_again_is_not_taken_for_whole(folder: Path) -> None:
    shutil.rmtree(folder / "nodes")
    store, done = mended(folder, **MADE)
    assert len(done.unread) == len(PIECES)
    assert store.manifests(SCOPE) == []
    store.close()
    with pytest.raises(StoreDamagedError, match="0 of 3 are there"):
        EdgeStore(folder, **MADE)


def test_points_of_no_document_are_told_after_a_crash_and_go_when_asked(folder: Path) -> None:
    with EdgeStore(folder, **MADE) as store:
        point = next(iter(store._nodes.points(Where())))
        store._nodes.upsert([replace(point, id=stable_id("foreign"), payload={**point.payload, "version": "x:y"})])
    (folder / "seal.json").unlink()
    with pytest.raises(StoreDamagedError, match="1 points belong to no document"):
        EdgeStore(folder, **MADE)
    store, done = mended(folder, **MADE)
    with store:
        assert (done.unread, done.trees, store.check().differences) == ((), (), ())


def test_what_is_changed_behind_the_stores_back_is_told(folder: Path) -> None:
    """Where no file is damaged: points that say something else than what was written."""
    with EdgeStore(folder, **MADE) as store:
        store._nodes.set_payload(PIECES[0].ids[1], {"text": "something else"})
        store._nodes.delete(Where((("version", (str(TREES[1].doc_id),)),)))
        store._docs.delete(Where((("doc_id", (PIECES[2].doc_id,)),)))
        assert [str(d) for d in store.check().differences] == [
            "papers: 0.md: chunks: not as they were written",
            "papers: 2.md: document: its point is missing",
        ]
        completed(store, store.mend())
        assert not store.check().differences
        assert store.chunks_of(SCOPE, PIECES[0].doc_id) == PIECES[0].chunks


def test_a_folder_of_this_format_has_nothing_to_migrate(folder: Path) -> None:
    with pytest.raises(StoreError, match="nothing to migrate"):
        migrated(folder, **MADE)


def test_a_repair_refuses_what_another_version_or_encoder_wrote(folder: Path) -> None:
    with pytest.raises(StoreError, match="other"):
        mended(folder, dimension=DIMENSION, encoder_version="other")
    (folder / "store.json").write_text(json.dumps({"format": 1, "encoder_version": ENCODER, "dimension": DIMENSION}))
    (folder / "archive.sqlite").unlink()
    with pytest.raises(StoreFormatError, match="migrate"):
        mended(folder, **MADE)
