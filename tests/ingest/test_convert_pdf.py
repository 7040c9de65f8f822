"""PDF files as Markdown; what a page costs grows with its glyphs, whatever is drawn on it."""

from cProfile import Profile
from io import BytesIO
from pathlib import Path
from pstats import Stats
from typing import Any, cast

import pypdfium2
import pytest
from fpdf import FPDF
from fpdf.enums import AccessPermission
from hypothesis import given
from hypothesis import strategies as st
from pdfplumber.table import cells_to_tables, edges_to_intersections, intersections_to_cells, merge_edges

from discorag.ingest.convert.converted import Converted
from discorag.ingest.convert.page import Box, Glyph, Grid, page_text
from discorag.ingest.convert.pdf import from_pdf
from discorag.ingest.convert.ruled import Rule, grids
from discorag.ingest.convert.unwrap import join_pages
from discorag.schema.errors import DecodingError, EmptyDocumentError, InputError

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


def test_wrapped_lines_are_joined_and_paragraphs_stay_apart() -> None:
    document = pdf()
    for _ in range(2):
        write(document, PROSE)
    assert converted(document).text == f"{PROSE}\n\n{PROSE}"


def test_line_breaks_of_the_author_stay() -> None:
    document = pdf()
    write(document, "Ferry Road 3\nOstrey Vale, the old library of the valley\n- first item\n- second item")
    assert converted(document).text.splitlines() == [
        "Ferry Road 3",
        "Ostrey Vale, the old library of the valley",
        "- first item",
        "- second item",
    ]


def test_words_hyphenated_at_a_line_s_end_are_whole_again() -> None:
    document = pdf()
    write(document, "The observ-\natory keeps its well-\nknown records of the pre-\nWar years.")
    write(document, "These well-known records matter.")
    text = converted(document).text
    assert text.startswith("The observatory keeps its well-known records of the pre-War years.")


def test_pages_are_known_by_their_offsets_blank_ones_included() -> None:
    document = pdf()
    write(document, "One is here.")
    document.add_page()
    document.add_page()
    write(document, "Three is here.")
    made = converted(document)
    assert made.text == "One is here.\n\nThree is here."
    assert made.pages == (0, 12, 14)


def test_a_sentence_that_goes_on_on_the_next_page_is_one_paragraph() -> None:
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


def test_code_comments_and_rules_do_not_become_headings() -> None:
    document = pdf()
    write(document, "# not a heading")
    write(document, "The longest line of text\nshort\n------")
    assert converted(document).text == "\\# not a heading\n\nThe longest line of text short\n\\------"


@pytest.mark.parametrize(
    ("title", "shown"), [("On tides", "On tides"), ("untitled", ""), ("Microsoft Word - a.doc", "")]
)
def test_the_title_of_the_file_is_used_unless_a_program_made_it_up(title: str, shown: str) -> None:
    document = pdf()
    document.set_title(title)
    write(document, "Text.")
    assert converted(document).title == shown


def test_a_locked_file_says_so() -> None:
    document = pdf()
    write(document, "Secret.")
    document.set_encryption(owner_password="o", user_password="u", permissions=AccessPermission.none())
    with pytest.raises(DecodingError, match=r"paper\.pdf is locked by a password.*without it"):
        converted(document)


def test_a_scan_says_that_it_needs_ocr() -> None:
    document = pdf()
    document.rect(10, 10, 50, 50)
    document.add_page()
    with pytest.raises(EmptyDocumentError, match=r"2 pages without text.*OCR"):
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


COLUMNS = 3
WIDE, HIGH = 40.0, 12.0


def rules(count: int, length: float, step: float) -> list[Rule]:
    return [Rule(i * step, 0, length) for i in range(count + 1)]


def grid_of(rows: int) -> Grid:
    [grid] = grids(
        rules(rows, COLUMNS * WIDE, HIGH), rules(COLUMNS, rows * HIGH, WIDE), height=rows * HIGH, glyphs=4 * rows
    )
    return grid


def glyph(char: str, left: float, bottom: float) -> Glyph:
    return Glyph(char, Box(left, bottom, left + 5, bottom + 8))


def filled(rows: int) -> list[Glyph]:
    """Three letters a cell, written down the columns."""
    return [
        glyph("abc"[i], c * WIDE + 2 + 6 * i, (rows - 1 - r) * HIGH + 2)
        for c in range(COLUMNS)
        for r in range(rows)
        for i in range(3)
    ]


def work(rows: int, glyphs: list[Glyph]) -> int:
    """Calls that it takes to find the grid_of and to read the page: the same on every machine."""
    profile = Profile()
    profile.runcall(lambda: page_text(glyphs, [grid_of(rows)]))
    return int(cast("Any", Stats(profile)).total_calls)


def test_every_letter_stands_in_its_cell() -> None:
    assert page_text(filled(3), [grid_of(3)]).splitlines() == [
        "| abc | abc | abc |",
        "| --- | --- | --- |",
        "| abc | abc | abc |",
        "| abc | abc | abc |",
    ]


@pytest.mark.parametrize("inside", [True, False], ids=["in the cells", "beside the grid_of"])
def test_ten_times_the_rows_take_ten_times_the_work(inside: bool) -> None:
    def page(rows: int) -> list[Glyph]:
        return filled(rows) if inside else [glyph("a", 500 + 6 * (i % 80), 9 * (i // 80)) for i in range(9 * rows)]

    spent = [work(rows, page(rows)) for rows in (10, 100, 1000)]
    assert spent[1] < 13 * spent[0]
    assert spent[2] < 13 * spent[1]


def test_a_drawing_of_many_rules_is_not_looked_through_for_tables() -> None:
    lattice = rules(900, 900, 1), rules(900, 900, 1)
    profile = Profile()
    assert profile.runcall(lambda: grids(*lattice, height=900, glyphs=11)) == []
    assert int(cast("Any", Stats(profile)).total_calls) < 100_000


lines = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(1, 5)).map(
        lambda t: Rule(t[0] * 9.0, t[1] * 9.0, 9.0 * min(5, t[1] + t[2]))
    ),
    min_size=2,
    max_size=14,
    unique=True,
)


@given(across=lines, down=lines)
def test_the_tables_are_those_that_pdfplumber_finds(across: list[Rule], down: list[Rule]) -> None:
    edges = [edge(rule, "h") for rule in across] + [edge(rule, "v") for rule in down]
    cells = intersections_to_cells(edges_to_intersections(merge_edges(edges, 3, 3, 3, 3), 3, 3))
    tables = [
        sorted(Box(x0, 100 - bottom, x1, 100 - top) for x0, top, x1, bottom in found)
        for found in cells_to_tables(cells)
    ]
    merged = merge_edges(edges, 3, 3, 3, 3)
    made = grids(
        [Rule(e["top"], e["x0"], e["x1"]) for e in merged if e["orientation"] == "h"],
        [Rule(e["x0"], e["top"], e["bottom"]) for e in merged if e["orientation"] == "v"],
        height=100,
        glyphs=100,
    )
    ours = [sorted(cell for row in grid for cell in row if cell) for grid in made]
    assert ours == [grid_of for grid_of in tables if could_be_table(grid_of)]


def edge(rule: Rule, orientation: str) -> dict[str, Any]:
    at, along = ("top", "x0") if orientation == "h" else ("x0", "top")
    other, end = ("bottom", "x1") if orientation == "h" else ("x1", "bottom")
    return {
        "orientation": orientation,
        at: rule.at,
        other: rule.at,
        along: rule.start,
        end: rule.end,
        "width": rule.end - rule.start,
        "height": rule.end - rule.start,
    }


def could_be_table(cells: list[Box]) -> bool:
    rows, columns = {cell.top for cell in cells}, {cell.left for cell in cells}
    return len(rows) > 1 and len(columns) > 1 and len(rows) * len(columns) <= 2 * len(cells)


def test_a_word_without_an_end_is_joined_in_linear_time() -> None:
    long = "x" * 200_000
    text, _ = join_pages([f"{long} ob\x02servatory well-known \x02 pre\x02War well\x02known"])
    assert text == f"{long} observatory well-known - pre-War well-known"
