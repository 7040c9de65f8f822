"""What only a folder on disk does: locks, crashes, damage."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from discorag.settings import StoreSettings
from discorag.store.client import QdrantStore
from discorag.store.disk import points as edge
from discorag.store.disk.lock import owned
from discorag.store.disk.points import EdgePoints
from discorag.store.edge import EdgeStore
from discorag.store.open import open_store
from discorag.store.protocol import Hit
from discorag.store.shard import Point, Where
from discorag.types.errors import StoreError, StoreLockedError
from discorag.types.ids import stable_id
from discorag.types.vectors import Vectors
from tests.store.samples import DIMENSION, ENCODER, SCOPE, sample, tree_of, unit

_ANY = Where()
OPEN = f"""
import sys
from pathlib import Path
from discorag.types.errors import StoreLockedError
from discorag.store.disk import points as edge
from discorag.store.disk.points import EdgePoints
from discorag.store.edge import EdgeStore
from discorag.store.disk.lock import owned
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
    newer = b'{"format": 9, "encoder_version": "e", "dimension": 8}'
    for content in (b"", b"{}", b"not json", newer, b"\xff"):
        description.write_bytes(content)
        with pytest.raises(StoreError, match=r"store\.json (cannot be read|has format 9)"):
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
    with pytest.raises(StoreError, match=r"nodes/edge_config\.json is not as it was written"):
        opened(tmp_path)


def test_a_path_that_is_a_file_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="Cannot use"):
        opened(tmp_path / "file")


def test_a_crash_while_the_folder_is_made_does_no_harm(tmp_path: Path) -> None:
    opened(tmp_path).close()
    (tmp_path / "seal.json").unlink()
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


WIDE, MANY = 512, 5_200
"""The library indexes a segment that holds 10,000 KB of vectors."""
TERMS = ([1, 2, 3], [1.0, 1.0, 1.0])
INDEX = """
import os, sys
from pathlib import Path
from discorag.store.disk.lock import owned
from discorag.store.disk.optimise import optimised
with owned(Path(sys.argv[1])) as lock:
    print(os.getpid(), flush=True)
    optimised(Path(sys.argv[1]) / "nodes", lock=lock)
"""


def wide(n: int, seed: int) -> Vectors:
    vectors = np.random.default_rng(seed).standard_normal((n, WIDE)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def made(n: int, *, start: int = 0, tenants: int = 1) -> list[Point]:
    rows = zip(range(start, start + n), wide(n, start), strict=True)
    return [
        Point(
            stable_id("point", i),
            vector,
            {"tenant": f"t{i % tenants}", "corpus": "c", "doc_id": f"d{i % 100}", "version": "v"},
            ([1 + i % 3, 10 + i % 50], [1.0 + i % 7, 2.0]),
        )
        for i, vector in rows
    ]


def shard(folder: Path, lock: int = 0) -> EdgePoints:
    return EdgePoints(folder / "nodes", WIDE, sparse=True, lock=lock)


def everything(points: EdgePoints) -> dict[str, str]:
    ids = [stable_id("point", i) for i in range(2 * MANY)]
    found = points._shard.retrieve(list(ids), True, ["dense"])
    return {str(r.id): repr((r.payload, r.vector)) for r in found}


def scope(tenant: str, **more: tuple[str, ...]) -> Where:
    return Where((("tenant", (tenant,)), ("corpus", ("c",)), *more.items()))


def indexed(points: EdgePoints) -> int:
    """Dense vectors in a graph: the library counts the sparse ones too."""
    info = points._shard.info()
    return info.indexed_vectors_count - info.points_count


@pytest.fixture
def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a shard of `MANY` points that are enough to be indexed."""
    monkeypatch.setattr(edge, "UNINDEXED", MANY)
    points = shard(tmp_path)
    points.upsert(made(MANY))
    points.close()
    return tmp_path


def hits(points: EdgePoints, query: Vectors, where: Where) -> set[str]:
    return {h.chunk_id for h in points.nearest(query, where, corpus=where, limit=10)}


@pytest.mark.deep
def test_optimising_indexes_many_points_and_still_finds_the_nearest(filled: Path) -> None:
    with owned(filled) as lock:
        points = shard(filled, lock)
        before, where = everything(points), scope("t0")
        queries = wide(20, 99) * 0.3 + wide(MANY, 0)[:20]
        few = scope("t0", doc_id=("d1", "d2"))
        exact = [(hits(points, q, where), hits(points, q, few)) for q in queries]
        assert indexed(points) == 0
        points.optimise()
        assert indexed(points) == MANY
        assert everything(points) == before
        found = [(hits(points, q, where), hits(points, q, few)) for q in queries]
        assert np.mean([len(a & b) for (a, _), (b, _) in zip(found, exact, strict=True)]) > 8
        assert [b for _, b in found] == [b for _, b in exact]
        points.close()


def test_optimising_does_nothing_for_few_new_points(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = shard(filled, -1)
    monkeypatch.setattr(edge, "UNINDEXED", MANY + 1)
    points.optimise()  # would fail: there is no lock to hand on
    assert indexed(points) == 0
    points.close()


@pytest.mark.parametrize("tenants", [pytest.param(1, marks=pytest.mark.deep), 2])
def test_bm25_does_not_depend_on_the_index_or_on_what_was_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tenants: int
) -> None:
    monkeypatch.setattr(edge, "UNINDEXED", MANY)
    where, kept = scope("t0"), made(MANY, tenants=tenants)
    with owned(tmp_path) as lock:
        points = shard(tmp_path, lock)
        points.upsert(kept)
        whole = scores(points, where)
        points.optimise()
        assert scores(points, where) == whole
        points.upsert(made(600, start=MANY, tenants=tenants))
        points.delete(Where((("doc_id", tuple(f"d{i}" for i in range(0, 100, 3))),)))
        mixed = scores(points, where)
        points.close()
    fresh = shard(tmp_path / "fresh")
    all_points = kept + made(600, start=MANY, tenants=tenants)
    fresh.upsert([p for p in all_points if int(str(p.payload["doc_id"])[1:]) % 3])
    assert scores(fresh, where) == mixed
    assert mixed != whole
    fresh.close()


def scores(points: EdgePoints, where: Where) -> dict[str, float]:
    found: list[Hit] = points.nearest(TERMS, where, corpus=where, limit=2 * MANY)
    return {h.chunk_id: round(h.score, 5) for h in found}


def test_points_of_one_tenant_stay_apart_when_a_second_one_comes(tmp_path: Path) -> None:
    points = shard(tmp_path)
    points.upsert(made(20))
    assert len(hits(points, wide(1, 5)[0], scope("t0"))) == 10
    assert hits(points, wide(1, 5)[0], scope("t1")) == set()
    points.upsert(made(20, start=20, tenants=2))
    assert hits(points, wide(1, 5)[0], scope("t1")) == {stable_id("point", i) for i in range(21, 40, 2)}
    points.close()
    reopened = shard(tmp_path)
    assert hits(reopened, wide(1, 5)[0], scope("t1")) == {stable_id("point", i) for i in range(21, 40, 2)}
    reopened.close()


def test_the_folder_stays_locked_until_the_indexing_process_is_gone_and_no_point_is_lost(filled: Path) -> None:
    points = shard(filled)
    before = everything(points)
    points.close()
    with subprocess.Popen(python(INDEX, filled), stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        child = child_of(parent.pid)
        parent.kill()
    with pytest.raises(StoreLockedError), owned(filled):
        pass
    time.sleep(0.5)
    os.kill(child, signal.SIGKILL)
    with owned_when_free(filled):
        points = shard(filled)
        assert everything(points) == before
        points.close()


def child_of(pid: int) -> int:
    """The process that indexes, once it has begun."""
    while not (found := Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
        time.sleep(0.01)
    return int(found[0])


@contextmanager
def owned_when_free(folder: Path) -> Generator[None]:
    """Own the folder; its last owner is just ending."""
    for _ in range(100):
        try:
            with owned(folder):
                yield
                return
        except StoreLockedError:
            time.sleep(0.02)
    raise AssertionError("still locked")


@pytest.mark.deep
def test_indexing_killed_half_way_loses_nothing_and_can_be_done_again(filled: Path) -> None:
    points = shard(filled)
    before = everything(points)
    points.close()
    duration = timed_indexing(filled)
    for share in (0.4, 0.7, 0.9):
        with subprocess.Popen([*OPTIMISE, str(filled / "nodes")]) as process:
            time.sleep(share * duration)
            process.kill()
        points = shard(filled)
        assert everything(points) == before
        points.close()
    with owned(filled) as lock:
        points = shard(filled, lock)
        points.optimise()
        assert indexed(points) == MANY
        assert everything(points) == before
        points.close()


OPTIMISE = [sys.executable, "-m", "discorag.store.disk.optimise"]


def timed_indexing(folder: Path) -> float:
    """Seconds that it takes, measured on a copy."""
    copy = folder / "copy"
    subprocess.run(["cp", "-r", str(folder / "nodes"), str(copy)], check=True)
    start = time.monotonic()
    subprocess.run([*OPTIMISE, str(copy)], check=True, timeout=120)
    return time.monotonic() - start


@pytest.mark.parametrize("length", [1 - 9e-4, 1 - 5.4e-7, 1 + 6e-7, 1 + 9e-4])
def test_a_store_of_vectors_that_are_not_quite_as_long_as_one_is_as_it_was_written(
    tmp_path: Path, length: float
) -> None:
    vectors = (unit(40, seed=3).astype(np.float64) * length).astype(np.float32)
    piece = sample("a.md", [f"part {i}" for i in range(40)], vectors=vectors)
    with opened(tmp_path) as store:
        piece.put_in(store)
        tree_of(piece, leaves=20, vectors=vectors[:39]).put_in(store)
        assert not store.check().differences
