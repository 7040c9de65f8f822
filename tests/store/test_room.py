"""With little room on the disk a store is read-only, says so, and goes on by itself."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from discorag.store.disk import room
from discorag.store.edge import EdgeStore
from discorag.types.errors import StoreFullError
from tests.store.samples import DIMENSION, ENCODER, SCOPE, sample


class Usage(NamedTuple):
    """As of `shutil.disk_usage`."""

    free: int


def free(patch: pytest.MonkeyPatch, megabytes: float) -> None:
    def usage(_: Path) -> Usage:
        return Usage(int(megabytes * 10**6))

    patch.setattr(shutil, "disk_usage", usage)


def test_below_the_limit_nothing_is_written_and_all_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = sample("a.md", ["one"]), sample("b.md", ["two"])
    with EdgeStore(tmp_path, dimension=DIMENSION, encoder_version=ENCODER, min_free_mb=200) as store:
        first.put_in(store)
        free(monkeypatch, 199)
        with pytest.raises(StoreFullError, match=r"nearly full \(199 MB free, 200 MB are kept free\): .* read-only"):
            second.put_in(store)
        with pytest.raises(StoreFullError):
            store.delete(SCOPE, first.doc_id)
        assert store.chunks_of(SCOPE, first.doc_id) == first.chunks
        free(monkeypatch, 201)
        second.put_in(store)
        assert [m.uri for m in store.manifests(SCOPE)] == ["a.md", "b.md"]


def test_a_store_is_not_begun_where_it_could_not_be_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free(monkeypatch, 30)
    with pytest.raises(StoreFullError):
        EdgeStore(tmp_path / "store", dimension=DIMENSION, encoder_version=ENCODER, min_free_mb=200)
    free(monkeypatch, 300)
    EdgeStore(tmp_path / "store", dimension=DIMENSION, encoder_version=ENCODER, min_free_mb=200).close()


def test_where_room_is_scarce_files_get_their_blocks_before_they_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "AMPLE", 10**18)
    with EdgeStore(tmp_path, dimension=DIMENSION, encoder_version=ENCODER) as store:
        sample("a.md", ["one"]).put_in(store)
        room.Room(tmp_path, 0).check()
        holes = [f for f in tmp_path.rglob("*") if f.is_file() and f.stat().st_blocks * 512 < f.stat().st_size]
    assert not holes
