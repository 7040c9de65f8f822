from pathlib import Path

import pytest

from discorag import DiscoRAG
from eval.datasets.registry import load_benchmark
from eval.errors import DataError
from eval.running.corpus import ingest
from eval.sample import Benchmark, DocSpan, SourceDocument
from tests.conftest import Pipelines
from tests.eval.datasets.official import FILES
from tests.eval.helpers import FIXTURES, toy


@pytest.fixture
def rag(pipeline: Pipelines) -> DiscoRAG:
    return pipeline()


def of(*documents: tuple[str, str]) -> Benchmark:
    """A benchmark of ids with texts."""
    made = {i: SourceDocument(id=i, title=f"Of {i}", text=text) for i, text in documents}
    return Benchmark(name="made", documents=made, samples=())


def files(home: Path) -> dict[str, int]:
    """Written files with the time of their last change."""
    return {p.name: p.stat().st_mtime_ns for p in home.glob("documents/*/*")}


@pytest.mark.parametrize("dataset", FILES)
async def test_a_chunks_text_is_the_benchmarks_text_at_its_place(rag: DiscoRAG, tmp_path: Path, dataset: str) -> None:
    benchmark = load_benchmark(dataset, FIXTURES / FILES[dataset])
    corpus = await ingest(rag, benchmark, tmp_path)
    assert corpus.stored.keys() == benchmark.documents.keys()
    scope = rag.scope(corpus=corpus.name)
    for doc, stored in corpus.stored.items():
        chunks = rag.backends.store.chunks_of(scope, stored)
        text = benchmark.documents[doc].text
        for chunk in chunks:
            place = corpus.place(chunk.doc_id, chunk.span)
            assert place.doc == doc
            assert place.span.of(text) == chunk.text
        between = text
        for chunk in chunks:
            between = between.replace(chunk.text, "", 1)
        assert not between.strip()  # all of the text is in some chunk


async def test_awkward_documents_keep_their_offsets(rag: DiscoRAG, tmp_path: Path) -> None:
    texts = {
        "front": "---\ntitle: no front matter, a text\n---\nThe text behind it.",
        "heading/../../up": "# Same title\n\nA path in an id leads nowhere.",
        "CON:*?": "# Same title\n\nSigns that no file name may hold.",
        "海": "海棠纸业有限公司。它生产纸。",
        "wide": "Spaces  inside\tstay.\u2028So does this.\x0b",
    }
    benchmark = of(*((i, t.strip()) for i, t in texts.items()))
    corpus = await ingest(rag, benchmark, tmp_path)
    scope = rag.scope(corpus=corpus.name)
    for doc, stored in corpus.stored.items():
        (chunk,) = rag.backends.store.chunks_of(scope, stored)
        assert corpus.place(chunk.doc_id, chunk.span) == DocSpan(doc=doc, span=chunk.span)
        assert chunk.span.of(benchmark.documents[doc].text) == chunk.text
    assert {p.parent.parent.name for p in tmp_path.rglob("*.*") if p.is_file()} == {"documents"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\ufeffA mark of byte order.", "changes when it is read"),
        ("Two\r\nlines.", "changes when it is read"),
        ("A \x00 inside.", "NUL byte"),
    ],
)
async def test_a_document_that_reading_would_change_is_named(
    rag: DiscoRAG, tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(DataError, match=rf"(?s)Document bad.*{said}"):
        await ingest(rag, of(("good", "Fine."), ("bad", text)), tmp_path)


async def test_two_documents_of_one_text_are_refused_because_one_would_be_missing(
    rag: DiscoRAG, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match="was not ingested: Same content"):
        await ingest(rag, of(("a", "One text."), ("b", "One text.")), tmp_path)


async def test_ingesting_again_writes_nothing_and_gives_the_same_ids(rag: DiscoRAG, tmp_path: Path) -> None:
    first = await ingest(rag, toy("?"), tmp_path)
    before, statuses = files(tmp_path), list[str]()

    def note(event: dict[str, object]) -> None:
        if event.get("event") == "document":
            statuses.append(str(event["status"]))

    assert await ingest(rag, toy("?"), tmp_path, note) == first
    assert files(tmp_path) == before
    assert statuses == ["unchanged"] * 3


async def test_a_stale_file_is_removed_and_leaves_the_corpus(rag: DiscoRAG, tmp_path: Path) -> None:
    first = await ingest(rag, toy("?"), tmp_path)
    stale = tmp_path / "documents" / first.name / "stale.txt"
    stale.write_text("Of an earlier version.", encoding="utf-8")
    await rag.aingest(stale.parent, corpus=first.name)
    assert len(rag.documents(corpus=first.name)) == 4
    assert await ingest(rag, toy("?"), tmp_path) == first
    assert not stale.exists()
    assert len(rag.documents(corpus=first.name)) == 3


async def test_a_file_that_a_crash_cut_off_is_written_again(rag: DiscoRAG, tmp_path: Path) -> None:
    first = await ingest(rag, toy("?"), tmp_path)
    cut = next((tmp_path / "documents" / first.name).iterdir())
    text = cut.read_text(encoding="utf-8")
    cut.write_text(text[:10], encoding="utf-8")
    assert await ingest(rag, toy("?"), tmp_path) == first
    assert cut.read_text(encoding="utf-8") == text


async def test_other_texts_make_another_corpus(rag: DiscoRAG, tmp_path: Path) -> None:
    one = await ingest(rag, of(("a", "One text.")), tmp_path)
    two = await ingest(rag, of(("a", "Another text.")), tmp_path)
    assert one.name != two.name
    assert [len(rag.documents(corpus=c.name)) for c in (one, two)] == [1, 1]
