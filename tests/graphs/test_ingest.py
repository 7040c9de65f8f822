import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from discorag.errors import DecodingError, InputError, MissingPathError, UnknownFormatError
from discorag.models.protocol import Encoder
from graphs.facade import DiscoRAG, IngestResult
from tests.conftest import EXAMPLES, Pipelines

ROOT = EXAMPLES.parent


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
    assert rag.resources.store.document(rag.scope(), rag.documents()[0].doc_id).text.endswith("Tides turn.")


def test_ingesting_one_folder_leaves_the_documents_of_another(rag: DiscoRAG, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text("# Other\n\nBees dance.", encoding="utf-8")
    rag.ingest(folder)
    rag.ingest(other)
    assert sorted(m.title for m in rag.documents()) == ["A", "Other", "b"]


def test_another_parser_or_chunk_size_stores_the_documents_again(
    pipeline: Pipelines, rag: DiscoRAG, folder: Path
) -> None:
    rag.ingest(folder)
    assert set(statuses(rag.ingest(folder, parser="none")).values()) == {"replaced"}
    assert set(statuses(rag.ingest(folder, parser="none")).values()) == {"unchanged"}
    assert set(statuses(rag.ingest(folder, parser="none", refresh=True)).values()) == {"replaced"}


def test_offsets_refer_to_the_stored_canonical_text(rag: DiscoRAG) -> None:
    rag.ingest(EXAMPLES)
    store, scope = rag.resources.store, rag.scope()
    manifests = rag.documents()
    assert len(manifests) > 15
    for m in manifests:
        text = store.document(scope, m.doc_id).text
        for chunk in store.chunks_of(scope, m.doc_id):
            assert text[chunk.span.start : chunk.span.end] == chunk.text
            assert chunk.tree is not None
            assert [s.of(text) for s in chunk.tree.edus] == [chunk.slice(s) for s in chunk.sentences]


def test_nothing_is_truncated_at_encoding(rag: DiscoRAG, encoder: Encoder) -> None:
    rag.ingest(EXAMPLES)
    chunks = [c for m in rag.documents() for c in rag.resources.store.chunks_of(rag.scope(), m.doc_id)]
    counts = [len(t) for t in encoder.tokens.token_offsets([c.text for c in chunks])]
    assert max(counts) + encoder.tokens.special_tokens <= encoder.tokens.max_tokens == 256
    assert max(counts) > 200


def test_one_bad_file_fails_alone_and_keeps_what_was_stored_of_it(rag: DiscoRAG, folder: Path) -> None:
    rag.ingest(folder)
    (folder / "b.txt").write_bytes(b"caf\xe9")
    (folder / "c.txt").write_text("  \n ", encoding="utf-8")
    (folder / "d.txt").write_text("", encoding="utf-8")
    (folder / "e.pdf").write_bytes(b"%PDF")
    result = rag.ingest(folder)
    assert statuses(result) == {
        "a.md": "unchanged",
        "b.txt": "failed",
        "c.txt": "failed",
        "d.txt": "failed",
        "e.pdf": "skipped",
    }
    assert {f.kind for f in result.ledger.failures} == {DecodingError.__name__, "EmptyDocumentError"}
    assert any(
        "The Moon pulls" in c.text
        for m in rag.documents()
        for c in rag.resources.store.chunks_of(rag.scope(), m.doc_id)
    )


def test_a_repeated_document_is_reported_and_stored_once(rag: DiscoRAG, folder: Path) -> None:
    (folder / "copy.txt").write_bytes((folder / "b.txt").read_bytes())
    assert statuses(rag.ingest(folder)) == {"a.md": "added", "b.txt": "added", "copy.txt": "duplicate"}
    assert len(rag.documents()) == 2


def test_fifty_megabytes_are_refused_with_what_to_do(rag: DiscoRAG, folder: Path) -> None:
    (folder / "big.txt").write_bytes(b"Tides rise and fall. " * 2_500_000)
    outcome = next(o for o in rag.ingest(folder).outcomes if o.uri.endswith("big.txt"))
    assert outcome.status == "failed"
    assert "MAX_DOCUMENT_MB" in outcome.note


def test_a_sentence_of_a_hundred_thousand_characters_is_stored_in_pieces_that_fit(
    rag: DiscoRAG, folder: Path, encoder: Encoder
) -> None:
    (folder / "long.txt").write_text("tide and moon " * 3000 + "x" * 60_000, encoding="utf-8")
    rag.ingest(folder)
    manifest = next(m for m in rag.documents() if m.title == "long")
    chunks = rag.resources.store.chunks_of(rag.scope(), manifest.doc_id)
    assert sum(len("".join(c.text.split())) for c in chunks) == 3000 * 11 + 60_000
    assert max(len(t) for t in encoder.tokens.token_offsets([c.text for c in chunks])) <= 254


@pytest.mark.parametrize(
    ("path", "error"),
    [("nowhere", MissingPathError), ("texts/a.docx", UnknownFormatError), ("empty", InputError)],
)
def test_a_path_that_cannot_be_read_is_an_error(rag: DiscoRAG, folder: Path, path: str, error: type[Exception]) -> None:
    (folder / "a.docx").write_bytes(b"PK")
    (folder.parent / "empty").mkdir()
    with pytest.raises(error):
        rag.ingest(folder.parent / path)


def test_the_estimate_is_what_the_ingest_then_does(rag: DiscoRAG) -> None:
    before = rag.estimate(EXAMPLES / "tides")
    assert rag.documents() == []
    result = rag.ingest(EXAMPLES / "tides")
    assert (before.documents, before.chunks) == (5, sum(o.chunks for o in result.outcomes))
    assert before.encode_seconds > 0
    after = rag.estimate(EXAMPLES / "tides")
    assert (after.documents, after.unchanged, after.chunks) == (0, 5, 0)


def test_progress_events_name_the_total_and_every_document(rag: DiscoRAG, folder: Path) -> None:
    events: list[dict[str, object]] = []
    rag.ingest(folder, progress=events.append)
    assert next(e["documents"] for e in events if e.get("event") == "found") == 2
    assert sum(e.get("event") == "document" for e in events) == 2


def test_an_encoder_that_fails_stores_nothing_and_says_so(pipeline: Pipelines, folder: Path, tmp_path: Path) -> None:
    from discorag.settings import EncoderSettings, Settings, StoreSettings
    from nodes.resources import Resources
    from tests.servers.scripted import Scripted, ScriptedServer, hashed_vector

    down: list[bool] = []

    def embed(texts: list[str]) -> list[list[float]] | Scripted:
        return Scripted("bad input", status=400) if down else [hashed_vector(t) for t in texts]

    with ScriptedServer(embed=embed) as server:
        settings = Settings(
            home=tmp_path,
            store=StoreSettings(kind="memory"),
            encoder=EncoderSettings(base_url=server.base_url, model="m"),
        )
        with DiscoRAG(resources=Resources.open(settings)) as rag:
            down.append(True)
            result = rag.ingest(folder)
            assert set(statuses(result).values()) == {"failed"}
            assert {f.stage for f in result.ledger.failures} == {"embed"}
            assert rag.documents() == []
            assert rag.resources.workbench.pieces == {}
            down.clear()
            assert set(statuses(rag.ingest(folder)).values()) == {"added"}


KILLED = """
import os, sys
from pathlib import Path
from discorag.settings import Settings, StoreSettings
from graphs import DiscoRAG
home = Path(sys.argv[1])
seen = []
def die(event):
    if event.get("event") == "document":
        seen.append(event)
        if len(seen) == 3:
            os.kill(os.getpid(), 9)
with DiscoRAG(Settings(home=home, store=StoreSettings(path=home / "store"))) as rag:
    rag.ingest(sys.argv[2], progress=die)
"""


def test_an_ingest_that_was_killed_is_taken_up_and_ends_like_one_that_was_not(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    corpus = EXAMPLES / "vitamin-d"
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), str(corpus)], cwd=ROOT, check=False)
    assert killed.returncode == -9
    rag = pipeline(kind="edge")
    kept = {m.uri for m in rag.documents()}
    assert 1 <= len(kept) < 6
    result = rag.ingest(corpus)
    assert {o.uri for o in result.outcomes if o.status == "added"}.isdisjoint(kept)
    whole = pipeline(kind="memory")
    whole.ingest(corpus)
    ours, theirs = (
        sorted((c.id, c.text) for m in r.documents() for c in r.resources.store.chunks_of(r.scope(), m.doc_id))
        for r in (rag, whole)
    )
    assert ours == theirs


def test_the_facade_can_be_opened_and_used_inside_a_running_event_loop(pipeline: Pipelines, folder: Path) -> None:
    async def inside() -> int:
        rag = pipeline()
        await rag.aingest(folder)
        return len((await rag.aask("Why do tides rise?")).answer.sentences)

    assert asyncio.run(inside()) > 0
