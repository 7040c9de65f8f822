"""Offsets, words and pages survive the whole way from a file to the store, whatever the format."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple, cast

import docx
import pytest
from fpdf import FPDF

from discorag import DiscoRAG
from discorag.discourse.parse.rules import rule_tree
from discorag.ingest.segment.blocks import blocks
from discorag.schema.document import Chunk, Document
from tests.conftest import EXAMPLES, Pipelines

SOURCES = sorted(p for p in EXAMPLES.glob("*/*.md") if p.parent.name not in {"zh", "library-handbook"})
ASCII = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "..."})
ROWS = [
    ["Source", "Part", "Words"],
    ["This document, which the row names", "Whole", "All of them"],
    ["Table", "End", "12"],
]


def squashed(text: str) -> str:
    """Letters and digits only: what no converter may change."""
    return "".join(re.findall(r"\w", text))


def assert_leaves_are_slices(source: str, chunks: list[Chunk]) -> None:
    """Chunks, sentences and EDUs are slices of the source; together they are all of it."""
    for chunk in chunks:
        assert source[chunk.span.start : chunk.span.end] == chunk.text
        tree = chunk.tree or rule_tree(chunk)
        for leaf in (*chunk.sentences, *tree.edus):
            assert source[leaf.start : leaf.end] == chunk.slice(leaf)
        assert squashed("".join(source[e.start : e.end] for e in tree.edus)) == squashed(chunk.text)
    assert squashed("".join(c.text for c in chunks)) == squashed(source)


class Part(NamedTuple):
    """A block as it is written: its rank among headings, or 0."""

    text: str
    level: int


class Written(NamedTuple):
    """What stands in a file, block by block, and on which page (0 in DOCX)."""

    parts: list[tuple[str, int]]

    @property
    def words(self) -> list[str]:
        return re.findall(r"\w+", " ".join(text for text, _ in self.parts))

    def pages_of(self, text: str) -> set[int]:
        return {page for part, page in self.parts if squashed(text) in squashed(part)}


def parts_of(path: Path) -> list[Part]:
    text = path.read_text(encoding="utf-8").translate(ASCII)
    document = Document(uri="u", title="t", text=text)
    return [Part(b.heading or re.sub(r"[*`]", "", b.span.of(text)), b.level) for b in blocks(document)]


def write_pdf(parts: list[Part], path: Path) -> Written:
    """Large type, so that there are several pages; a block that does not fit begins a new page."""
    pdf = FPDF()
    pdf.add_page()
    written: list[tuple[str, int]] = []
    for text, level in parts:
        pdf.set_font("helvetica", style="B" if level else "", size=24 if level else 18)
        lines = text.replace("\n", " ") if "\n- " not in text and "\n1" not in text else text
        height = cast("float", pdf.multi_cell(0, 10, lines, dry_run=True, output="HEIGHT"))
        if pdf.will_page_break(height):
            pdf.add_page()
        start = pdf.page_no()
        pdf.multi_cell(0, 10, lines, align="J", new_x="LMARGIN", new_y="NEXT")
        assert pdf.page_no() == start
        written.append((text, start))
        pdf.ln(5)
    pdf.set_font(size=18)
    pdf.add_page()
    with pdf.table() as table:
        for cells in ROWS:
            row = table.row()
            for cell in cells:
                row.cell(cell)
    pdf.output(str(path))
    return Written([*written, *((" ".join(cells), pdf.page_no()) for cells in ROWS)])


def write_docx(parts: list[Part], path: Path) -> Written:
    document = docx.Document()
    for text, level in parts:
        if level:
            document.add_heading(text, level)
        else:
            document.add_paragraph(text)
    table = document.add_table(len(ROWS), len(ROWS[0]))
    for row, cells in zip(table.rows, ROWS, strict=True):
        for made, cell in zip(row.cells, cells, strict=True):
            made.text = cell
    document.save(str(path))
    return Written([*((p.text, 0) for p in parts), *((" ".join(cells), 0) for cells in ROWS)])


def kept(source: list[str], words: list[str]) -> float:
    """The share of the source's words that are there, in order."""
    matches = SequenceMatcher(None, source, words, autojunk=False).get_matching_blocks()
    return sum(m.size for m in matches) / len(source)


def write(folder: Path, sources: list[Path]) -> dict[str, Written]:
    """Every source as PDF and as DOCX."""
    folder.mkdir()
    made: dict[str, Written] = {}
    for path in sources:
        parts = parts_of(path)
        made[f"{path.stem}.pdf"] = write_pdf(parts, folder / f"{path.stem}.pdf")
        made[f"{path.stem}.docx"] = write_docx(parts, folder / f"{path.stem}.docx")
    return made


def stored(rag: DiscoRAG) -> dict[str, tuple[Document, list[Chunk]]]:
    store, scope = rag.backends.store, rag.scope()
    return {
        Path(m.uri).name: (store.document(scope, m.doc_id), store.chunks_of(scope, m.doc_id)) for m in rag.documents()
    }


TIDES = [path for path in SOURCES if path.parent.name == "tides"]


@pytest.mark.parametrize("sources", [TIDES, pytest.param(SOURCES, marks=pytest.mark.deep)], ids=["tides", "all"])
def test_files_come_back_from_the_store_with_their_words_pages_and_tables(
    pipeline: Pipelines, tmp_path: Path, sources: list[Path]
) -> None:
    written = write(tmp_path / "texts", sources)
    first = pipeline(kind="edge")
    assert {o.status.value for o in first.ingest(tmp_path / "texts").outcomes} == {"added"}
    first.close()
    rag = pipeline(kind="edge")
    found = stored(rag)
    assert len(found) == len(written) == 2 * len(sources)
    for name, (document, chunks) in found.items():
        assert_leaves_are_slices(document.text, chunks)
        assert kept(written[name].words, re.findall(r"\w+", document.text)) >= 0.98
        assert sum(f"| {' | '.join(ROWS[1])} |" in c.text for c in chunks) == 1
        assert document.text.count(ROWS[1][0]) == 1
        assert_pages(document, chunks, written[name])
    assert {o.status.value for o in rag.ingest(tmp_path / "texts").outcomes} == {"unchanged"}
    evidence = [e for s in rag.ask("What makes the tide rise in a narrow bay?").answer.sentences for e in s.evidence]
    pages = {m.doc_id: found[Path(m.uri).name][0] for m in rag.documents()}
    assert evidence
    assert all(e.page == pages[e.doc_id].page_at(e.span.start) for e in evidence)


def assert_pages(document: Document, chunks: list[Chunk], written: Written) -> None:
    """Every sentence is on the page on which it was written."""
    paged = document.uri.endswith(".pdf")
    assert len(document.pages) == (written.parts[-1][1] if paged else 0)
    assert not paged or len(document.pages) > 2
    for chunk in chunks:
        for sentence in chunk.sentences:
            if squashed(chunk.slice(sentence)):
                expected = written.pages_of(chunk.slice(sentence))
                assert chunk.page_at(sentence.start) in (expected if paged else {None}), chunk.slice(sentence)
