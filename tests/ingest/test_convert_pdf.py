"""PDF files as Markdown."""

from io import BytesIO
from itertools import product
from pathlib import Path

import pypdfium2
import pytest
from fpdf import FPDF
from fpdf.enums import AccessPermission

from discorag.ingest.convert.converted import Converted
from discorag.ingest.convert.glyphs import Box
from discorag.ingest.convert.joining import join_pages
from discorag.ingest.convert.page import Paragraph
from discorag.ingest.convert.pdf import from_pdf
from discorag.schema.errors import DecodingError, InputError

PATH = Path("paper.pdf")
PROSE = (
    "Far from land the tide lifts the ocean by less than a metre. Near the coast the same wave slows down in shallow "
    "water and grows taller. For this reason, two harbours under the same Moon may have very different tides."
)
ROWS = [("Place", "Range"), ("Bay of Fundy in eastern Canada, at the head of the bay", "16 m"), ("Venice", "1 m")]
TABLE = f"| Place | Range |\n| --- | --- |\n| {ROWS[1][0]} | 16 m |\n| Venice | 1 m |"


def pdf() -> FPDF:
    document = FPDF()
    document.set_font("helvetica", size=12)
    document.add_page()
    return document


def write(document: FPDF, text: str) -> None:
    document.multi_cell(0, 6, text, new_x="LMARGIN", new_y="NEXT")
    document.ln(4)


def table(document: FPDF, rows: list[tuple[str, str]] = ROWS) -> None:
    with document.table(width=80, align="LEFT") as made:
        for cells in rows:
            row = made.row()
            for cell in cells:
                row.cell(cell)
    document.ln(4)


def converted(document: FPDF) -> Converted:
    return from_pdf(bytes(document.output()), PATH)


class Running(FPDF):
    """Pages with a header, and a footer that counts them."""

    def header(self) -> None:
        self.cell(0, 6, "Journal of Tides", new_x="LMARGIN", new_y="NEXT")
        self.ln(8)

    def footer(self) -> None:
        self.set_y(-15)
        self.cell(0, 6, f"Page {self.page_no() + 99} of 104")


def test_running_lines_are_kept_once_and_numbers_that_do_not_count_pages_stay() -> None:
    document = Running()
    document.set_font("helvetica", size=12)
    for number in (1, 3, 4, 8):
        document.add_page()
        write(document, f"Chapter {number}")
        write(document, f"{PROSE} {number}.")
    text = converted(document).text
    assert text.startswith("Journal of Tides\n\nChapter 1\nFar from land")
    assert (text.count("Journal"), text.count("of 104"), text.count("Chapter")) == (1, 1, 4)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ([PROSE, PROSE], f"{PROSE}\n\n{PROSE}"),
        (
            ["Ferry Road 3\nOstrey Vale, the old library of the valley\n- first item\n- second item"],
            "Ferry Road 3\nOstrey Vale, the old library of the valley\n- first item\n- second item",
        ),
        (
            [
                "The observ-\natory keeps its well-\nknown records of the pre-\nWar years.",
                "These well-known records matter.",
            ],
            "The observatory keeps its well-known records of the pre-War years.\n\nThese well-known records matter.",
        ),
        (
            ["# not a heading", "The longest line of text\nshort\n------"],
            "\\# not a heading\n\nThe longest line of text short\n\\------",
        ),
    ],
    ids=["wrapped", "broken by the author", "hyphenated", "no headings"],
)
def test_lines_become_the_paragraphs_that_their_author_wrote(written: list[str], text: str) -> None:
    document = pdf()
    for paragraph in written:
        write(document, paragraph)
    assert converted(document).text == text


def test_pages_are_known_by_their_offsets_also_within_a_paragraph() -> None:
    document = pdf()
    write(document, "One is here.")
    document.add_page()
    document.add_page()
    write(document, "Three is here.")
    made = converted(document)
    assert made.text == "One is here.\n\nThree is here."
    assert made.pages == (0, 12, 14)
    document = pdf()
    write(document, "The tide rises in the")
    document.add_page()
    write(document, "morning and falls at night.")
    made = converted(document)
    assert made.text == "The tide rises in the\nmorning and falls at night."
    assert made.text[made.pages[1] :].startswith("morning")


def test_a_ruled_table_is_a_pipe_table_once_and_in_its_place() -> None:
    document = pdf()
    write(document, PROSE)
    table(document)
    write(document, "After the table.")
    assert converted(document).text == f"{PROSE}\n\n{TABLE}\n\nAfter the table."


def test_a_table_is_found_where_the_page_s_origin_is_not_its_corner() -> None:
    document = pdf()
    table(document)
    moved = pypdfium2.PdfDocument(bytes(document.output()))
    page = moved[0]
    left, bottom, right, top = page.get_mediabox()
    page.set_mediabox(left - 10, bottom - 50, right, top + 30)
    buffer = BytesIO()
    moved.save(buffer)
    moved.close()
    assert from_pdf(buffer.getvalue(), PATH).text == TABLE


def test_frames_that_hold_no_table_stay_text() -> None:
    document = pdf()
    table(document, [("A remark in a frame.", "")])
    for _ in range(3):
        document.rect(150, 20, 30, 30)
    assert converted(document).text == "A remark in a frame."


def test_two_columns_are_read_one_after_the_other() -> None:
    document = pdf()
    with document.text_columns(ncols=2, gutter=10) as columns:
        for _ in range(20):
            with columns.paragraph(bottom_margin=4) as paragraph:
                paragraph.write(PROSE)
    assert " ".join(converted(document).text.split()) == " ".join([PROSE] * 20)


def test_a_page_shown_turned_is_read_as_it_is_shown() -> None:
    document = pdf()
    with document.rotation(90, x=100, y=100):
        document.set_xy(20, 60)
        document.multi_cell(120, 6, PROSE)
    turned = pypdfium2.PdfDocument(bytes(document.output()))
    turned[0].set_rotation(90)
    buffer = BytesIO()
    turned.save(buffer)
    turned.close()
    assert from_pdf(buffer.getvalue(), PATH).text == PROSE


@pytest.mark.parametrize(
    ("title", "shown"), [("On tides", "On tides"), ("untitled", ""), ("Microsoft Word - a.doc", "")]
)
def test_the_title_of_the_file_is_used_unless_a_program_made_it_up(title: str, shown: str) -> None:
    document = pdf()
    document.set_title(title)
    write(document, "Text.")
    assert converted(document).title == shown


def test_a_locked_file_and_a_scan_say_what_they_need() -> None:
    document = pdf()
    write(document, "Secret.")
    document.set_encryption(owner_password="o", user_password="u", permissions=AccessPermission.none())
    with pytest.raises(DecodingError, match=r"paper\.pdf is locked by a password.*without it"):
        converted(document)
    document = pdf()
    document.rect(10, 10, 50, 50)
    document.add_page()
    with pytest.raises(InputError, match=r"2 pages without text.*OCR"):
        converted(document)


@pytest.mark.parametrize("data", [b"%PDF", b"<html></html>", b"PK\x03\x04", b"%PDF-1.7\n" + b"0" * 5000])
def test_what_is_no_pdf_says_so(data: bytes) -> None:
    with pytest.raises(DecodingError, match=r"paper\.pdf is damaged or not a PDF"):
        from_pdf(data, PATH)


def test_damage_anywhere_gives_text_or_an_input_error() -> None:
    document = pdf()
    write(document, PROSE)
    table(document)
    whole = bytes(document.output())
    for at in range(0, len(whole), 29):
        damaged = whole[:at] + b"\xff<<" + whole[at + 3 :]
        for data in (damaged, whole[:at] or b"%"):
            try:
                assert from_pdf(data, PATH).text
            except InputError:
                continue


@pytest.mark.parametrize(("rules", "is_table"), [(40, True), (75, False)])
def test_a_grid_is_a_table_unless_its_rules_cross_too_often(rules: int, is_table: bool) -> None:
    """pdfplumber's time grows with the square of the crossings, so a page of very many is not searched for cells."""
    document = pdf()
    document.set_font("helvetica", size=4)
    for i in range(rules):
        document.line(20, 20 + 2 * i, 18 + 2 * rules, 20 + 2 * i)
        document.line(20 + 2 * i, 20, 20 + 2 * i, 18 + 2 * rules)
    for row, column in product(range(rules - 1), repeat=2):
        document.text(20.5 + 2 * column, 21.5 + 2 * row, "x")
    assert ("|" in converted(document).text) == is_table


def test_a_word_without_an_end_is_joined_in_linear_time() -> None:
    long = "x" * 200_000
    text = f"\x01{long} ob\x02servatory well-known \x02 pre\x02War well\x02known"
    made = join_pages([[Paragraph(text, [Box(0, 0, 9, 9)], 9)]])
    assert made.text == f"{long} observatory well-known - pre-War well-known"
