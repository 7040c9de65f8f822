"""Ingests of a folder that were stopped, and what the next one makes of what is left."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from discorag import DiscoRAG
from tests.conftest import EXAMPLES, Pipelines
from tests.inputs import stored

ROOT = EXAMPLES.parent
STOPPED = """
import os, signal, sys
from pathlib import Path
from discorag.config import Settings, StoreSettings
from discorag import DiscoRAG
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job starts with it ignored
rag = DiscoRAG(Settings(store=StoreSettings(path=Path(sys.argv[1]))))
seen = []
def on_event(event):
    if event.get("event") == "document":
        seen.append(event)
        if len(seen) == 8:
            os.kill(os.getpid(), getattr(signal, sys.argv[3]))
try:
    rag.ingest(sys.argv[2], progress=on_event)
except KeyboardInterrupt:
    rag.close()
    sys.exit(130)
"""


NOTES = 25


class Stopped(NamedTuple):
    """A folder of many short notes, and the store of an ingest that ended before it had read them all."""

    notes: Path
    store: Path


def stopped(home: Path, by: str, code: int) -> Stopped:
    notes, store = home / "notes", home / "store"
    notes.mkdir()
    for i in range(NOTES):
        (notes / f"{i:02}.txt").write_text(f"Note {i} is about tides. They rise twice a day.", encoding="utf-8")
    command = [sys.executable, "-c", STOPPED, str(store), str(notes), by]
    assert subprocess.run(command, cwd=ROOT, check=False, timeout=500).returncode == code
    return Stopped(notes, store)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Stopped:
    return stopped(tmp_path_factory.mktemp("killed"), "SIGKILL", -9)


def check_taken_up(rag: DiscoRAG, notes: Path, whole: DiscoRAG) -> None:
    """What the stopped run finished stands in the result as that run's work, and the end is that of another run."""
    kept = {m.uri for m in rag.documents()}
    assert 8 <= len(kept) < NOTES
    result = rag.ingest(notes)
    assert kept & {o.uri for o in result.outcomes if o.status == "added"}
    whole.ingest(notes)
    assert len(stored(whole)) == NOTES
    assert stored(rag) == stored(whole)


@pytest.mark.deep
def test_an_ingest_that_was_killed_is_taken_up_and_ends_like_one_that_was_not(
    pipeline: Pipelines, killed: Stopped, tmp_path: Path
) -> None:
    shutil.copytree(killed.store, tmp_path / "store")
    check_taken_up(pipeline(kind="edge"), killed.notes, pipeline())


@pytest.mark.deep
def test_an_ingest_that_was_interrupted_is_taken_up_and_ends_like_one_that_was_not(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    notes = stopped(tmp_path, "SIGINT", 130).notes
    check_taken_up(pipeline(kind="edge"), notes, pipeline())


def test_after_a_stop_a_changed_folder_is_read_anew(pipeline: Pipelines, killed: Stopped, tmp_path: Path) -> None:
    shutil.copytree(killed.store, tmp_path / "store")
    rag = pipeline(kind="edge")
    changed, new = Path(rag.documents()[0].uri), killed.notes / "new.txt"
    before = changed.read_text(encoding="utf-8")
    try:
        changed.write_text("Changed after the stop.", encoding="utf-8")
        new.write_text("New after the stop.", encoding="utf-8")
        rag.ingest(killed.notes)
    finally:
        changed.write_text(before, encoding="utf-8")
        new.unlink()
    assert {"Changed after the stop.", "New after the stop."} <= {text for _, text in stored(rag)}


def test_another_store_gets_every_document_whatever_happened_to_the_first(pipeline: Pipelines, killed: Stopped) -> None:
    other = pipeline(kind="edge")
    other.ingest(killed.notes)
    assert len(other.documents()) == NOTES
