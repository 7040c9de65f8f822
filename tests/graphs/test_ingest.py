"""Folders become documents: what is added, replaced, refused and removed, also after an ingest that was stopped."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from discorag import DiscoRAG, IngestResult
from discorag.config import EncoderSettings, ReadingSettings, Settings, StoreSettings
from discorag.ingest.survey import DocumentOutcome, Status, find_vanished
from discorag.models.protocol import Encoder
from discorag.schema.document import Chunk
from discorag.schema.errors import DecodingError, InputError
from discorag.store.records import Manifest
from discorag.store.store import open_store
from nodes.backends import Backends
from tests.conftest import EXAMPLES, Examples, Pipelines
from tests.ingest.pdfs import endless_pdf
from tests.inputs import stored
from tests.servers.scripted import Scripted, ScriptedServer, hashed_vector

ROOT = EXAMPLES.parent
QUICK: dict[str, Any] = {"parser": "rules", "retriever": "dense"}


def statuses(result: IngestResult) -> dict[str, str]:
    return {Path(o.uri).name: o.status.value for o in result.outcomes}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "a.md").write_text("# A\n\nTides rise. Tides fall.", encoding="utf-8")
    (texts / "b.txt").write_text("The Moon pulls the sea.", encoding="utf-8")
    return texts


@pytest.fixture
def rag(pipeline: Pipelines) -> DiscoRAG:
    return pipeline()


def test_unchanged_documents_are_not_touched_changed_ones_replaced_vanished_ones_deleted(
    rag: DiscoRAG, folder: Path
) -> None:
    assert statuses(rag.ingest(folder)) == {"a.md": "added", "b.txt": "added"}
    assert statuses(rag.ingest(folder)) == {"a.md": "unchanged", "b.txt": "unchanged"}
    (folder / "a.md").write_text("# A\n\nTides turn.", encoding="utf-8")
    (folder / "b.txt").unlink()
    assert statuses(rag.ingest(folder)) == {"a.md": "replaced", "b.txt": "deleted"}
    assert [(m.title, m.chunks) for m in rag.documents()] == [("A", 1)]
    assert rag.backends.store.document(rag.scope(), rag.documents()[0].doc_id).text.endswith("Tides turn.")


def test_ingesting_one_folder_leaves_the_documents_of_another(rag: DiscoRAG, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text("# Other\n\nBees dance.", encoding="utf-8")
    rag.ingest(folder)
    rag.ingest(other)
    assert sorted(m.title for m in rag.documents()) == ["A", "Other", "b"]


def test_another_parser_stores_the_documents_again(rag: DiscoRAG, folder: Path) -> None:
    rag.ingest(folder)
    for again, status in ((False, "replaced"), (False, "unchanged"), (True, "replaced")):
        assert set(statuses(rag.ingest(folder, parser="none", refresh=again)).values()) == {status}


def test_more_sentences_than_may_be_are_refused_with_what_to_do(rag: DiscoRAG, folder: Path) -> None:
    settings = rag.backends.settings
    reading = settings.reading.model_copy(update={"max_sentences": 50})
    rag.backends.settings = settings.model_copy(update={"reading": reading})
    (folder / "many.txt").write_text("a\n\n" * 60, encoding="utf-8")
    [note] = [o.note for o in rag.ingest(folder).outcomes if o.status == "failed"]
    assert "more than 50 sentences" in note
    assert "MAX_SENTENCES" in note


CORPORA = ("vitamin-d", "tides", "library-handbook", "zh")


def documents(examples: Examples) -> list[tuple[str, list[Chunk]]]:
    """Text and chunks of documents with and without headings, with tables and in Chinese."""
    rag = examples(*CORPORA)
    found: list[tuple[str, list[Chunk]]] = []
    for scope in (rag.scope(corpus=corpus) for corpus in CORPORA):
        store = rag.backends.store
        found += [
            (store.document(scope, m.doc_id).text, store.chunks_of(scope, m.doc_id)) for m in store.manifests(scope)
        ]
    return found


def test_offsets_refer_to_the_stored_canonical_text(examples: Examples) -> None:
    found = documents(examples)
    assert len(found) == 14
    for text, chunks in found:
        for chunk in chunks:
            assert text[chunk.span.start : chunk.span.end] == chunk.text
            assert chunk.tree is not None
            assert [s.of(text) for s in chunk.tree.edus] == [chunk.slice(s) for s in chunk.tree.edus]
            assert [s.of(text) for s in chunk.sentences] == [chunk.slice(s) for s in chunk.sentences]


def test_one_bad_file_fails_alone_and_keeps_what_was_stored_of_it(rag: DiscoRAG, folder: Path) -> None:
    rag.ingest(folder)
    (folder / "b.txt").write_bytes("潮汐涨落".encode("gb2312"))
    (folder / "c.txt").write_text("  \n ", encoding="utf-8")
    (folder / "d.txt").write_text("", encoding="utf-8")
    (folder / "e.odp").write_bytes(b"PK")
    (folder / "f.pdf").write_bytes(b"%PDF")
    result = rag.ingest(folder)
    assert statuses(result) == {
        "a.md": "unchanged",
        "b.txt": "failed",
        "c.txt": "failed",
        "d.txt": "failed",
        "e.odp": "skipped",
        "f.pdf": "failed",
    }
    assert {f.kind for f in result.ledger.failures} == {DecodingError.__name__, "InputError"}
    assert any(
        "The Moon pulls" in c.text for m in rag.documents() for c in rag.backends.store.chunks_of(rag.scope(), m.doc_id)
    )


def test_a_repeated_document_is_reported_and_stored_once(rag: DiscoRAG, folder: Path) -> None:
    (folder / "copy.txt").write_bytes((folder / "b.txt").read_bytes())
    assert statuses(rag.ingest(folder)) == {"a.md": "added", "b.txt": "added", "copy.txt": "duplicate"}
    assert len(rag.documents()) == 2


def test_progress_events_name_the_total_and_every_document(rag: DiscoRAG, folder: Path) -> None:
    events: list[dict[str, object]] = []
    rag.ingest(folder, progress=events.append)
    assert next(e["documents"] for e in events if e.get("event") == "found") == 2
    assert sum(e.get("event") == "document" for e in events) == 2


def test_an_encoder_that_fails_stores_nothing_and_says_so(pipeline: Pipelines, folder: Path, tmp_path: Path) -> None:
    down: list[bool] = []

    def embed(texts: list[str]) -> list[list[float]] | Scripted:
        return Scripted("bad input", status=400) if down else [hashed_vector(t) for t in texts]

    with ScriptedServer(embed=embed) as server:
        encoder = EncoderSettings(base_url=server.base_url, model="m")
        with DiscoRAG(Settings(store=StoreSettings(kind="memory"), encoder=encoder)) as rag:
            down.append(True)
            result = rag.ingest(folder)
            assert set(statuses(result).values()) == {"failed"}
            assert {f.stage for f in result.ledger.failures} == {"embed"}
            assert rag.documents() == []
            down.clear()
            assert set(statuses(rag.ingest(folder)).values()) == {"added"}


def test_a_disk_that_is_full_fails_the_document_and_keeps_what_was_stored(
    rag: DiscoRAG, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rag.ingest(folder)
    (folder / "b.txt").write_text("The Sun pulls too.", encoding="utf-8")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(rag.backends.store, "put", full)
        result = rag.ingest(folder)
    assert statuses(result) == {"a.md": "unchanged", "b.txt": "failed"}
    assert [(f.stage, f.kind) for f in result.ledger.failures] == [("upsert", "StoreError")]
    assert any("The Moon pulls" in text for _, text in stored(rag))
    assert statuses(rag.ingest(folder)) == {"a.md": "unchanged", "b.txt": "replaced"}


def test_a_file_name_that_is_not_utf8_fails_alone(rag: DiscoRAG, folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.txt")).write_text("Cafes open early.", encoding="utf-8")
    result = rag.ingest(folder)
    assert sorted(o.status for o in result.outcomes) == ["added", "added", "failed"]


@pytest.mark.parametrize(
    ("times", "single"),
    [(10, False), pytest.param(50, False, marks=pytest.mark.deep), pytest.param(50, True, marks=pytest.mark.deep)],
)
async def test_ingests_that_are_cancelled_at_any_moment_stop_nobody_else(
    pipeline: Pipelines, folder: Path, times: int, single: bool
) -> None:
    rag, moments = pipeline(kind="edge"), Random(times)
    path = folder / "a.md" if single else folder
    for i in range(times):
        (folder / "a.md").write_text(f"# A\n\nTide {i} rises.", encoding="utf-8")
        task = asyncio.create_task(rag.aingest(path, **QUICK))
        await asyncio.sleep(moments.uniform(0, 0.2))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    (folder / "a.md").write_text("# A\n\nTides fall.", encoding="utf-8")
    assert statuses(await rag.aingest(path, **QUICK))["a.md"] in {"added", "replaced"}


async def test_the_same_folder_can_be_ingested_twice_at_once(pipeline: Pipelines, folder: Path) -> None:
    rag = pipeline(kind="edge")
    await asyncio.gather(rag.aingest(folder, **QUICK), rag.aingest(folder, **QUICK))
    assert sorted(m.title for m in rag.documents()) == ["A", "b"]


def test_an_emptied_folder_empties_the_store_and_a_folder_that_never_held_anything_is_an_error(
    rag: DiscoRAG, folder: Path
) -> None:
    rag.ingest(folder)
    for file in folder.iterdir():
        file.unlink()
    assert set(statuses(rag.ingest(folder)).values()) == {"deleted"}
    with pytest.raises(InputError):
        rag.ingest(folder)


def test_what_cannot_be_seen_or_came_after_the_folder_was_listed_does_not_vanish(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    came, went, below = root / "came.md", root / "went.md", root / "sub" / "a.md"
    came.write_text("Tides rise.")
    fields = {"title": "", "content_hash": "", "fingerprint": "", "versions": dict[str, str](), "chunks": 1}
    known = [Manifest.model_validate({"doc_id": f.name, "uri": f.as_posix(), **fields}) for f in (came, went, below)]
    closed = DocumentOutcome(uri=below.parent.as_posix(), status=Status.SKIPPED)
    assert [m.doc_id for m in find_vanished(str(root), known, [closed], set())] == ["went.md"]
    repeats = DocumentOutcome(uri=came.as_posix(), status=Status.DUPLICATE)
    assert [m.doc_id for m in find_vanished(str(root), known[:2], [repeats], set())] == ["came.md", "went.md"]


@pytest.mark.deep
def test_a_program_that_does_not_close_the_pipeline_ends(tmp_path: Path) -> None:
    code = (
        "from discorag import DiscoRAG; from discorag.config import Settings\n"
        f"rag = DiscoRAG(Settings.model_validate({{'store': {{'path': {str(tmp_path / 'store')!r}}}}}))\n"
        "print(len(rag.ingest('examples/tides', parser='none').outcomes))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert done.stdout.strip().isdigit()


def test_poison_fails_alone_and_is_counted(tmp_path: Path, encoder: Encoder, folder: Path) -> None:
    (folder / "poison.pdf").write_bytes(endless_pdf())
    (folder / "page.html").write_text("<h1>Tides</h1><p>They rise.</p>")
    store = StoreSettings(kind="memory", path=tmp_path / "store")
    settings = Settings(store=store, reading=ReadingSettings(convert_seconds=1.5))
    opened = open_store(store, (encoder.version, encoder.dimension))
    with DiscoRAG(backends=Backends(settings, opened, encoder, None)) as rag:
        result = rag.ingest(folder, parser="rules")
    assert [failure.kind for failure in result.ledger.failures] == ["ConversionError"]
    assert statuses(result) == {"a.md": "added", "b.txt": "added", "page.html": "added", "poison.pdf": "failed"}


STOPPED = """
import os, signal, sys
from pathlib import Path
from discorag.config import Settings, StoreSettings
from discorag import DiscoRAG
rag = DiscoRAG(Settings(store=StoreSettings(path=Path(sys.argv[1]))))
seen = []
def on_event(event):
    if event.get("event") == "document":
        seen.append(event)
        if len(seen) == 8:
            os.kill(os.getpid(), signal.SIGKILL)
rag.ingest(sys.argv[2], progress=on_event)
"""


NOTES = 25


def test_an_ingest_that_was_killed_is_resumed_and_ends_like_one_that_was_not(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for i in range(NOTES):
        (notes / f"{i:02}.txt").write_text(f"Note {i} is about tides. They rise twice a day.", encoding="utf-8")
    command = [sys.executable, "-c", STOPPED, str(tmp_path / "store"), str(notes)]
    assert subprocess.run(command, cwd=ROOT, check=False, timeout=500).returncode == -9
    rag, whole = pipeline(kind="edge"), pipeline()
    done = {m.uri for m in rag.documents()}
    assert 8 <= len(done) < NOTES
    changed = sorted(done)[0]
    Path(changed).write_text("Changed after the stop.", encoding="utf-8")
    (notes / "new.txt").write_text("New after the stop.", encoding="utf-8")
    assert {o.uri for o in rag.ingest(notes).outcomes if o.status == "unchanged"} == done - {changed}
    whole.ingest(notes)
    assert len(stored(whole)) == NOTES + 1
    assert stored(rag) == stored(whole)
