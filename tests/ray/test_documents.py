"""An ingest by Ray's actors: what one process would store, whatever a document or a kill does to them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import psutil

from discorag import DiscoRAG
from discorag.settings import Settings
from tests.ray.conftest import Line
from tests.servers.qdrant import QdrantServer


def write(folder: Path, **texts: str) -> str:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)
    return str(folder)


def statuses(result: dict[str, Any]) -> dict[str, str]:
    return {Path(o["uri"]).stem: o["status"] for o in result["outcomes"]}


def stored(line: Line) -> list[str]:
    """Names of the stored documents; the store is found whole."""
    with DiscoRAG(Settings.model_validate({"store": {"path": line.home / ".disco-rag" / "store"}})) as rag:
        assert not rag.resources.store.check().differences
        return sorted(Path(m.uri).stem for m in rag.documents())


def test_poison_is_a_typed_failure_and_costs_no_other_document(line: Line) -> None:
    """They go to one actor together, the one that kills it last: what it had stored by then counts as added."""
    texts = {f"tide{i}": f"The tide rises {i} times because the moon pulls." for i in range(6)}
    folder = write(line.home / "docs", **texts, a_raises="RAISE, please.", z_kills="KILL, please.")
    done = line.ingest(folder, "--parser", "poison", code=1)
    assert statuses(done) == {**dict.fromkeys(texts, "added"), "a_raises": "failed", "z_kills": "failed"}
    failures = [f for stage in done["ledger"]["stages"] for f in stage["failures"]]
    assert [f["kind"] for f in failures] == ["PoisonedError", "PoisonedError"]
    assert {"RuntimeError" in f["message"] for f in failures} == {True, False}
    assert stored(line) == sorted(texts)


def test_an_ingest_takes_up_what_changed_and_tells_nothing_of_ray(line: Line) -> None:
    folder = write(line.home / "docs", same="Iron rusts.", other="Salt is white.", gone="Gold does not rust.")
    assert set(statuses(line.ingest(folder, "--parser", "rules")).values()) == {"added"}
    (line.home / "docs" / "gone.md").unlink()
    write(line.home / "docs", other="Salt is a mineral.", new="Copper turns green.")
    process = line.start("ingest", folder, "--parser", "rules")
    out, err = process.communicate(timeout=300)
    assert "1 unchanged" in out
    assert all(f"1 {status}" in out for status in ("added", "replaced", "deleted"))
    assert "ray" not in (out + err).lower()
    assert stored(line) == ["new", "other", "same"]


def test_an_ingest_that_was_killed_goes_on_and_leaves_no_process(line: Line) -> None:
    texts = {f"tide{i:02}": f"# Tide {i}\n\n" + f"The tide rises because of moon {i}. " * 90 for i in range(30)}
    folder = write(line.home / "docs", **texts)
    process = line.start("ingest", folder)
    ingesting = psutil.Process(process.pid)
    while not any("MapWorker" in child.name() for child in ingesting.children(recursive=True)):
        time.sleep(0.1)
    time.sleep(8)
    family = ingesting.children(recursive=True)
    process.kill()
    process.communicate()
    assert set(statuses(line.ingest(folder)).values()) <= {"added", "unchanged"}
    assert stored(line) == sorted(texts)
    _, alive = psutil.wait_procs(family, timeout=180)  # Ray's agents look for a minute for whom to tell
    assert alive == []


def test_actors_open_a_server_themselves(line: Line) -> None:
    folder = write(line.home / "docs", a="Iron rusts.", b="Salt is white.")
    with QdrantServer() as server:
        there = Line(line.home, {"DISCO_RAG_STORE__URL": server.url})
        assert set(statuses(there.ingest(folder, "--parser", "rules")).values()) == {"added"}
        assert set(statuses(there.ingest(folder, "--parser", "rules")).values()) == {"unchanged"}
