"""Offsets, words, tables and pages survive the whole way from a PDF to the store."""

import re
from difflib import SequenceMatcher
from pathlib import Path
from typing import cast

from fpdf import FPDF

from discorag.discourse.parse.rules import rule_tree
from discorag.ingest.segment.blocks import blocks
from discorag.schema.document import Chunk, Document
from tests.conftest import EXAMPLES, Pipelines

ASCII = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "..."})
ROWS = [
    ["Source", "Part", "Words"],
    ["This document, which the row names", "Whole", "All of them"],
    ["Table", "End", "12"],
]
Written = list[tuple[str, int]]
"""What stands in a file, block by block, and on which page."""


def squashed(text: str) -> str:
    """Letters and digits only: what no converter may change."""
    return "".join(re.findall(r"\w", text))


def write_pdf(source: Path, path: Path) -> Written:
    """The document in large type, so that there are several pages; a block that does not fit begins a new page."""
    text, pdf, written = source.read_text(encoding="utf-8").translate(ASCII), FPDF(), list[tuple[str, int]]()
    pdf.add_page()
    for block in blocks(Document(uri="u", title="t", text=text)):
        words = block.heading or re.sub(r"[*`]", "", block.span.of(text))
        pdf.set_font("helvetica", style="B" if block.level else "", size=24 if block.level else 18)
        lines = words.replace("\n", " ") if "\n- " not in words and "\n1" not in words else words
        if pdf.will_page_break(cast("float", pdf.multi_cell(0, 10, lines, dry_run=True, output="HEIGHT"))):
            pdf.add_page()
        written.append((words, pdf.page_no()))
        pdf.multi_cell(0, 10, lines, align="J", new_x="LMARGIN", new_y="NEXT")
        assert pdf.page_no() == written[-1][1]
        pdf.ln(5)
    pdf.set_font(size=18)
    pdf.add_page()
    with pdf.table() as table:
        for cells in ROWS:
            row = table.row()
            for cell in cells:
                row.cell(cell)
    pdf.output(str(path))
    return [*written, *((" ".join(cells), pdf.page_no()) for cells in ROWS)]


def test_a_pdf_comes_back_from_the_store_with_its_words_pages_and_tables(pipeline: Pipelines, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    sources = sorted((EXAMPLES / "tides").glob("*.md"))
    written = {f"{path.stem}.pdf": write_pdf(path, folder / f"{path.stem}.pdf") for path in sources}
    first = pipeline(kind="edge")
    assert {o.status.value for o in first.ingest(folder).outcomes} == {"added"}
    first.close()
    rag = pipeline(kind="edge")
    documents = {m.doc_id: rag.backends.store.document(rag.scope(), m.doc_id) for m in rag.documents()}
    assert len(documents) == len(written)
    for doc_id, document in documents.items():
        assert_read(document, rag.backends.store.chunks_of(rag.scope(), doc_id), written[Path(document.uri).name])
    assert {o.status.value for o in rag.ingest(folder).outcomes} == {"unchanged"}
    evidence = [e for s in rag.ask("What makes the tide rise in a narrow bay?").answer.sentences for e in s.evidence]
    assert evidence
    assert all(e.page == documents[e.doc_id].page_at(e.span.start) for e in evidence)


def assert_read(document: Document, chunks: list[Chunk], written: Written) -> None:
    """Chunks, sentences and EDUs are slices of the text, together all of it; words and pages are those written."""
    source = document.text
    assert len(document.pages) == written[-1][1] > 2
    for chunk in chunks:
        assert source[chunk.span.start : chunk.span.end] == chunk.text
        tree = chunk.tree or rule_tree(chunk)
        for leaf in (*chunk.sentences, *tree.edus):
            assert source[leaf.start : leaf.end] == chunk.slice(leaf)
        assert squashed("".join(source[e.start : e.end] for e in tree.edus)) == squashed(chunk.text)
        for sentence in chunk.sentences:
            if words := squashed(chunk.slice(sentence)):
                assert chunk.page_at(sentence.start) in {page for text, page in written if words in squashed(text)}
    assert squashed("".join(c.text for c in chunks)) == squashed(source)
    expected, found = (re.findall(r"\w+", text) for text in (" ".join(text for text, _ in written), source))
    matches = SequenceMatcher(None, expected, found, autojunk=False).get_matching_blocks()
    assert sum(m.size for m in matches) >= 0.98 * len(expected)
    assert sum(f"| {' | '.join(ROWS[1])} |" in c.text for c in chunks) == source.count(ROWS[1][0]) == 1
