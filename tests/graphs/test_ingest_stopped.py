"""Ingests of a folder that were stopped, and what the next one makes of what is left."""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

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


@pytest.mark.deep
def test_an_ingest_that_was_interrupted_is_resumed_and_ends_like_one_that_was_not(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    notes = stopped(tmp_path, "SIGINT", 130).notes
    rag, whole = pipeline(kind="edge"), pipeline()
    done = {m.uri for m in rag.documents()}
    assert 8 <= len(done) < NOTES
    result = rag.ingest(notes)
    assert done & {o.uri for o in result.outcomes if o.status == "added"}  # counted as the stopped run's work
    whole.ingest(notes)
    assert len(stored(whole)) == NOTES
    assert stored(rag) == stored(whole)


def test_after_a_kill_a_changed_folder_is_read_again(pipeline: Pipelines, tmp_path: Path) -> None:
    notes = stopped(tmp_path, "SIGKILL", -9).notes
    rag = pipeline(kind="edge")
    Path(rag.documents()[0].uri).write_text("Changed after the stop.", encoding="utf-8")
    (notes / "new.txt").write_text("New after the stop.", encoding="utf-8")
    rag.ingest(notes)
    assert {"Changed after the stop.", "New after the stop."} <= {text for _, text in stored(rag)}
    assert len(rag.documents()) == NOTES + 1
