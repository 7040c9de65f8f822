"""What only a folder on disk does: locks, crashes, damage."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from discorag.errors import StoreError, StoreLockedError
from discorag.settings import StoreSettings
from discorag.store.client import QdrantStore
from discorag.store.edge import EdgeStore
from discorag.store.open import open_store
from discorag.store.shard import Where
from tests.store.samples import DIMENSION, ENCODER, SCOPE, sample

_ANY = Where()
OPEN = f"""
import sys
from pathlib import Path
from discorag.errors import StoreLockedError
from discorag.store.edge import EdgeStore
from tests.store.samples import sample
try:
    store = EdgeStore(Path(sys.argv[1]), dimension={DIMENSION}, encoder_version={ENCODER!r})
except StoreLockedError as error:
    sys.exit(str(error))
"""
WRITE = f"""{OPEN}
for i in range(10_000):
    sample(f"{{i}}.md", [f"document {{i}} part {{j}}" for j in range(20)], seed=i).put_in(store)
    print(i, flush=True)
"""


def opened(folder: Path) -> EdgeStore:
    return EdgeStore(folder, dimension=DIMENSION, encoder_version=ENCODER)


def python(code: str, folder: Path) -> list[str]:
    return [sys.executable, "-c", code, str(folder)]


def test_a_second_process_is_refused_and_the_owners_data_stay(tmp_path: Path) -> None:
    first, second = sample("a.md", ["one"]), sample("b.md", ["two"])
    with opened(tmp_path) as store:
        first.put_in(store)
        other = subprocess.run(python(OPEN, tmp_path), capture_output=True, text=True, check=False, timeout=60)
        assert other.returncode == 1
        assert f"{tmp_path} is in use by process {os.getpid()}." in other.stderr
        assert "choose another folder" in other.stderr
        second.put_in(store)
    with opened(tmp_path) as store:
        assert [store.document(SCOPE, p.doc_id) for p in (first, second)] == [first.document, second.document]


def test_a_second_store_in_one_process_is_refused_until_the_first_is_closed(tmp_path: Path) -> None:
    store = opened(tmp_path)
    with pytest.raises(StoreLockedError, match="in use by process"):
        opened(tmp_path)
    store.close()
    store.close()
    opened(tmp_path).close()


def test_acknowledged_documents_survive_kill_9(tmp_path: Path) -> None:
    with subprocess.Popen(python(WRITE, tmp_path), stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(30)]
        writer.kill()
        acknowledged += [int(line) for line in writer.stdout if line.endswith("\n")]
    with opened(tmp_path) as store:
        stored = {m.uri: m for m in store.manifests(SCOPE)}
        assert {f"{i}.md" for i in acknowledged} <= set(stored)
        for manifest in stored.values():
            assert len(store.chunks_of(SCOPE, manifest.doc_id)) == 20
        assert len(store._nodes.scroll(_ANY, ("order",))) == 20 * len(stored)


def test_a_mismatch_or_damage_releases_the_folder(tmp_path: Path) -> None:
    opened(tmp_path).close()
    with pytest.raises(StoreError):
        EdgeStore(tmp_path, dimension=DIMENSION, encoder_version="other")
    opened(tmp_path).close()


def test_a_damaged_or_unknown_description_is_refused(tmp_path: Path) -> None:
    opened(tmp_path).close()
    description = tmp_path / "store.json"
    for content in (b"", b"{}", b"not json", b'{"format": 2, "encoder_version": "e", "dimension": 8}', b"\xff"):
        description.write_bytes(content)
        with pytest.raises(StoreError, match=r"store\.json is damaged or was written by another version"):
            opened(tmp_path)
        assert description.read_bytes() == content


def test_a_store_without_its_description_is_refused(tmp_path: Path) -> None:
    opened(tmp_path).close()
    (tmp_path / "store.json").unlink()
    with pytest.raises(StoreError, match=r"no store\.json"):
        opened(tmp_path)


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(StoreError, match=r"thesis\.tex"):
        opened(tmp_path)
    assert not (tmp_path / "docs").exists()


def test_a_damaged_shard_is_a_store_error(tmp_path: Path) -> None:
    opened(tmp_path).close()
    (tmp_path / "nodes" / "edge_config.json").write_text("{")
    with pytest.raises(StoreError, match="nodes is damaged"):
        opened(tmp_path)


def test_a_path_that_is_a_file_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="Cannot use"):
        opened(tmp_path / "file")


def test_a_crash_while_the_folder_is_made_does_no_harm(tmp_path: Path) -> None:
    opened(tmp_path).close()
    (tmp_path / "nodes").rename(tmp_path / "nodes.new")
    piece = sample("a.md", ["one"])
    with opened(tmp_path) as store:
        piece.put_in(store)
        assert store.chunks_of(SCOPE, piece.doc_id) == piece.chunks


def test_the_settings_choose_the_store(tmp_path: Path) -> None:
    edge = open_store(StoreSettings(path=tmp_path / "new" / "store"), dimension=DIMENSION, encoder_version=ENCODER)
    memory = open_store(StoreSettings(kind="memory"), dimension=DIMENSION, encoder_version=ENCODER)
    assert isinstance(edge, EdgeStore)
    assert isinstance(memory, QdrantStore)
    edge.close()
    memory.close()
