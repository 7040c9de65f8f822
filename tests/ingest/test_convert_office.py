"""Slides, sheets and books as Markdown: what shows, where it stands, and nothing that is hidden."""

import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from fpdf import FPDF
from pptx.util import Inches

from discorag.config import ReadingSettings
from discorag.ingest.convert.converted import Converted
from discorag.ingest.convert.formats import convert
from discorag.ingest.loaders import document_of
from discorag.ingest.reader import Reader
from discorag.ingest.segment.headings import build_hierarchy
from discorag.schema.document import Kind
from discorag.schema.errors import DecodingError

LIMIT = 10_000_000


def slides() -> bytes:
    deck: Any = pptx.Presentation()
    layouts = deck.slide_layouts
    deck.slides.add_slide(layouts[0]).shapes.title.text = "On tides"
    hidden = deck.slides.add_slide(layouts[5])
    hidden.shapes.title.text = "secret"
    hidden.element.set("show", "0")
    untitled = deck.slides.add_slide(layouts[5]).shapes.title
    listed = deck.slides.add_slide(layouts[1])
    listed.shapes.title.text = "Times"
    body = listed.placeholders[1].text_frame
    body.text = "They rise:"
    body.add_paragraph().text = "twice a day"
    body.paragraphs[0].level, body.paragraphs[1].level = 2, 3
    listed.notes_slide.notes_text_frame.text = "secret"
    last = deck.slides.add_slide(layouts[5])
    last.shapes.title.text = "Ranges"
    table = last.shapes.add_table(2, 2, 0, 0, Inches(3), Inches(1)).table
    for i, text in enumerate(["Place", "Range", "Fundy", "16 m"]):
        table.cell(i // 2, i % 2).text = text
    group = last.shapes.add_group_shape().shapes
    group.add_textbox(0, 0, 9, 9).text_frame.text = "# not a heading"
    for shape in (group.add_textbox(0, 0, 9, 9), untitled):
        shape.text_frame.text = "secret"
        shape.element.nvSpPr.cNvPr.set("hidden", "1")
    deck.save(buffer := BytesIO())
    return buffer.getvalue()


def sheets() -> bytes:
    book: Any = openpyxl.Workbook()
    first = book.active
    first.title = "Ranges"
    for row in (
        ["Tidal ranges, in metres"],
        ["Place", "Range", "secret", "Share", "Measured"],
        ["Fundy", 16.0, "secret", 0.253, datetime(2020, 1, 2)],
        ["secret", 1],
        ["Venice", 0.1 + 0.2, "secret", None, "a|b"],
        [],
        ["Range is the mean."],
    ):
        first.append(row)
    first.column_dimensions["C"].hidden = True
    first.row_dimensions[4].hidden = True
    first["D3"].number_format = "0.0%"
    first["E7"] = "secret"
    first["E7"].number_format = ";;;"
    first["A300000"].number_format = "0"
    unseen = book.create_sheet("Unseen")
    unseen.append(["secret"])
    unseen.sheet_state = "hidden"
    book.create_sheet("Names").append(["Ada"])
    book.save(buffer := BytesIO())
    return buffer.getvalue()


CONTAINER = '<c><rootfiles><rootfile full-path="OEBPS/b.opf"/></rootfiles></c>'
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title>On tides</dc:title></metadata><manifest>
<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="b" href="b.xhtml" media-type="application/xhtml+xml"/><item id="s" href="s.css" media-type="text/css"/>
<item id="a" href="a%20b.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/><itemref idref="no"/></spine></package>"""

CONTENTS = """<html xmlns:epub="http://www.idpf.org/2007/ops"><nav epub:type="page-list"><a href="b.xhtml">2</a></nav>
<nav epub:type="toc"><a href="a%20b.xhtml">No</a><a href="b.xhtml#x">They fall</a></nav></html>"""


def book(**others: str) -> bytes:
    head = '<head><title/><link rel="stylesheet" media="screen" href="s.css"/></head>'
    page = f'<?xml version="1.0"?><html>{head}<body>{{}}</body></html>'
    parts = {
        "META-INF/container.xml": CONTAINER,
        "OEBPS/b.opf": PACKAGE,
        "OEBPS/nav.xhtml": CONTENTS,
        "OEBPS/a b.xhtml": page.format('<h1><a id="x"/>They rise</h1><p class="h">secret</p><p>Twice a day.</p>'),
        "OEBPS/b.xhtml": page.format("<p>Slowly.</p>"),
        "OEBPS/s.css": ".h { display: none }",
    }
    with zipfile.ZipFile(buffer := BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (parts | others).items():
            archive.writestr(name, content)
    return buffer.getvalue()


def letter() -> bytes:
    document = docx.Document()
    document.add_paragraph("Tides rise.")
    document.save(buffer := BytesIO())
    return buffer.getvalue()


def paper() -> bytes:
    document = FPDF()
    document.set_font("helvetica", size=12)
    document.add_page()
    with document.table() as table:
        for cells in [("Place", "Range"), ("Venice", "1 m")]:
            table.row(cells)
    return bytes(document.output())


ZIPPED: dict[str, Callable[[], bytes]] = {"a.pptx": slides, "a.xlsx": sheets, "a.epub": book, "a.docx": letter}
FILES = ZIPPED | {"a.pdf": paper, "a.html": lambda: b"<h1>Tides</h1><p>They rise.</p>"}


def converted(name: str) -> Converted:
    return convert(FILES[name](), Path(name), max_bytes=LIMIT)


def pages(file: Converted) -> list[str]:
    ends = [*file.pages[1:], len(file.text)]
    return [file.text[start:end].strip() for start, end in zip(file.pages, ends, strict=True)]


def test_each_slide_is_a_section_and_a_page_and_what_is_hidden_keeps_its_number() -> None:
    assert pages(converted("a.pptx")) == [
        "# On tides",
        "",
        "",
        "## Times\n\n- They rise:\n  - twice a day",
        "## Ranges\n\n| Place | Range |\n| --- | --- |\n| Fundy | 16 m |\n\n\\# not a heading",
    ]


def test_each_sheet_is_a_section_and_a_page_of_tables_and_lines() -> None:
    assert pages(converted("a.xlsx")) == [
        "# Ranges\n\nTidal ranges, in metres\n\n"
        "| Place | Range | Share | Measured |\n| --- | --- | --- | --- |\n"
        "| Fundy | 16 | 25.3% | 2020-01-02 0:00:00 |\n| Venice | 0.3 |  | a\\|b |\n\nRange is the mean.",
        "",
        "# Names\n\nAda",
    ]


def test_a_book_is_its_chapters_in_reading_order_named_by_the_contents_where_they_are_not() -> None:
    assert converted("a.epub").text == "# They rise\n\nTwice a day.\n\n# They fall\n\nSlowly."


@pytest.mark.parametrize(
    ("name", "title", "pages"), [("a.pptx", "On tides", 5), ("a.xlsx", "a", 3), ("a.epub", "On tides", 0)]
)
def test_a_document_has_its_title_and_a_sentence_its_page(name: str, title: str, pages: int) -> None:
    document = document_of(Path(name), b"", converted(name))
    assert (document.title, len(document.pages)) == (title, pages)
    last = build_hierarchy(document).of_kind(Kind.SENTENCE)[-1][1]
    assert document.page_at(last.span.start) == (pages or None)


@pytest.mark.parametrize("name", FILES)
async def test_a_child_reads_it_in_little_memory(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discorag.ingest.reader.MEMORY_MB", 256)
    with closing(Reader(ReadingSettings())) as reader:
        assert await reader.convert(FILES[name](), Path(name)) == converted(name)


@pytest.mark.parametrize("name", ZIPPED)
@pytest.mark.parametrize("data", [b"no zip", book()[:-200], b"PK\x05\x06" + bytes(18)], ids=["text", "cut", "empty"])
def test_a_damaged_file_is_refused_by_its_name(name: str, data: bytes) -> None:
    with pytest.raises(DecodingError, match=rf"{name} is damaged, or is not an? \w+"):
        convert(data, Path(name), max_bytes=LIMIT)


def test_a_book_reads_no_file_of_the_machine_and_no_entity_swells(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    outside = f'<!DOCTYPE p [<!ENTITY e SYSTEM "file://{tmp_path}/secret">]>' + PACKAGE.replace("On tides", "&e;")
    assert convert(book(**{"OEBPS/b.opf": outside}), Path("a.epub"), max_bytes=LIMIT).title == "&e;"
    swelling = f'<!DOCTYPE p [<!ENTITY e "{"x" * 1000}">]>' + PACKAGE.replace("On tides", "&e;" * 1000)
    with pytest.raises(DecodingError):
        convert(book(**{"OEBPS/b.opf": swelling}), Path("a.epub"), max_bytes=LIMIT)
