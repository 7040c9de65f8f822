"""What real files hold, and libraries pass over or mistake: found by comparing files of many programs with our text."""

from base64 import b64decode
from datetime import datetime
from io import BytesIO
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from pptx.oxml import parse_xml as parse_pptx
from pptx.oxml.ns import nsdecls as nsdecls_pptx

from discorag.ingest.convert.number_format import Value, shown
from tests.ingest.kinds.quotes import quotes, read, with_xml

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
RUN = "<w:r><w:t>{}</w:t></w:r>"


@pytest.mark.parametrize(
    ("around", "text"),
    [
        ('<w:fldSimple w:instr=" SEQ Table ">{}</w:fldSimple>', "4"),
        ('<w:dir w:val="ltr">{}</w:dir>', "(315) 857-5019"),
        ('<w:bdo w:val="ltr"><w:dir w:val="ltr">{}</w:dir></w:bdo>', "not"),
        (
            "<w:r><w:ruby><w:rt><w:r><w:t>とう</w:t></w:r></w:rt><w:rubyBase>{}</w:rubyBase></w:ruby></w:r>",
            "東京",
        ),
    ],
)
def test_text_in_fields_directions_and_with_a_reading_is_read(around: str, text: str) -> None:
    """Word puts runs into elements that say only how they came about or how they are set."""
    document: Any = docx.Document()
    paragraph = document.add_paragraph("Before ")
    inner = f"<w:p {nsdecls('w')}>{around.format(RUN.format(text))}</w:p>"
    paragraph._p.extend(list(parse_xml(inner)))
    paragraph.add_run(" after.")
    document.save(buffer := BytesIO())
    assert read("a.docx", buffer.getvalue()).text == f"Before {text} after."


@pytest.mark.parametrize("level", range(1, 7))
def test_headings_in_a_cell_are_words_of_their_own(level: int) -> None:
    """ "GNOME" above "Documentation" is not "GNOMEDocumentation"."""
    page = (
        f"<table><tr><th>Name<th>Sum<tr><td><h{level}>GNOME</h{level}><h2>Fund</h2><td><h3>1</h3><h3>200</h3></table>"
    )
    assert quotes("a.html", page) == ["GNOME Fund, Sum: 1 200."]


def test_headings_in_a_cell_of_a_word_file_are_words_of_their_own() -> None:
    """Two headings of a form that stand in one cell."""
    document = docx.Document()
    cell = document.add_table(rows=1, cols=2).cell(0, 1)
    cell.paragraphs[0].text, cell.paragraphs[0].style = "Ledger", "Heading 1"
    cell.add_paragraph("In brief", "Heading 1")
    document.save(buffer := BytesIO())
    assert "Ledger In brief" in read("a.docx", buffer.getvalue()).text


def strict(data: bytes) -> bytes:
    """A workbook in the strict form of the standard, which Excel and LibreOffice can save."""
    old, new = "http://schemas.openxmlformats.org", "http://purl.oclc.org/ooxml"
    names = [
        (f"{old}/spreadsheetml/2006/main", f"{new}/spreadsheetml/main"),
        (f"{old}/officeDocument/2006/relationships", f"{new}/officeDocument/relationships"),
    ]
    parts = ("xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/_rels/workbook.xml.rels")
    data = with_xml(data, dict.fromkeys((*parts[:3], "xl/styles.xml"), names[0]))
    return with_xml(data, dict.fromkeys(("_rels/.rels", "xl/_rels/workbook.xml.rels"), names[1]))


def test_a_strict_workbook_is_read() -> None:
    """Its parts have other names than those that openpyxl knows."""
    book = openpyxl.Workbook()
    sheet: Any = book.active
    for row in (["Ship", "Crew", "Sails"], ["Tern", 12, 4]):
        sheet.append(row)
    book.save(buffer := BytesIO())
    assert quotes("a.xlsx", strict(buffer.getvalue())) == ["Tern, Crew: 12; Sails: 4."]


def test_a_title_that_is_a_picture_does_not_stop_a_presentation() -> None:
    """PowerPoint lets a picture fill the place of the title; the slide's words are read all the same."""
    deck: Any = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    picture = slide.shapes.add_picture(BytesIO(b64decode(PIXEL)), 0, 0)
    picture._element.nvPicPr.nvPr.append(parse_pptx(f'<p:ph {nsdecls_pptx("p")} type="title"/>'))
    slide.shapes.add_textbox(0, 0, 9, 9).text_frame.text = "No silver bullet."
    deck.save(buffer := BytesIO())
    made = read("a.pptx", buffer.getvalue())
    assert (made.text, made.unread) == ("No silver bullet.", {"image": 1})


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (1234567, "#,##0,.0", "1,234.6"),
        (2500000, "0.0,,", "2.5"),
        (123456.789, "0.0e+00", "1.2E+05"),
        (123456.789, "0.0E+#", "1.2E+5"),
        (123456.789, '0"e"E-"x"', "123456.789"),
        (datetime(2003, 2, 1, 4, 5, 6, 9000), "h:mm:ss.00", "4:05:06.01"),
        (datetime(2003, 2, 1, 4, 5, 59, 638000), "h:mm:ss", "4:06:00"),
        (datetime(2003, 2, 1, 4, 5, 59, 638000), "h:mm", "4:05"),
    ],
)
def test_numbers_keep_their_size_and_seconds_are_rounded(value: Value, code: str, text: str) -> None:
    """A comma before the point divides by a thousand, and an exponent that no reader knows makes no other number."""
    assert shown(value, code) == text


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        pytest.param(
            "<tr><td>Custom number:<td>cents<td>19 dollars<tr><td>Custom date:<td>time<td>4:20 on Thursday",
            ["Custom number:: cents; 19 dollars.", "Custom date:: time; 4:20 on Thursday."],
            id="a form",
        ),
        pytest.param(
            "<tr><td colspan=2><td><b>2004</b><td><b>2005</b><tr><td colspan=4><b>Section 4 Claims:</b>"
            "<tr><td>Filed<td>all<td>1,582<td>1,537<tr><td colspan=4><b>Section 5 Claims:</b>"
            "<tr><td>Filed<td>all<td>74<td>71",
            [
                "Section 4 Claims:: Filed; all; 2004: 1,582; 2005: 1,537.",
                "Section 5 Claims:: Filed; all; 2004: 74; 2005: 71.",
            ],
            id="a group below the names",
        ),
    ],
)
def test_labels_and_groups_name_no_columns(table: str, expected: list[str]) -> None:
    """Else the claims of section 5 are said to be those of section 4."""
    assert quotes("a.html", f"<table>{table}</table>") == expected
