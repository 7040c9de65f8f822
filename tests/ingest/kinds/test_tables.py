"""Tables: each value is quoted with its own row and its own column, in every format."""

import zipfile
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import OxmlElement
from hypothesis import given
from hypothesis import strategies as st

from discorag.ingest.convert.formats import convert
from discorag.ingest.convert.tables import Cell, Table, table_markdown
from discorag.ingest.loaders import load
from discorag.ingest.segment.chunks import cut_chunks, whole_chunk
from discorag.ingest.segment.headings import build_hierarchy
from discorag.ingest.segment.sentence_table import sentences_in
from discorag.models.tokens import PackagedTokens
from discorag.schema.document import Document, Scope, UnitKind


def rows_of(path: Path) -> list[str]:
    """The rows of a file's tables as an answer quotes them."""
    document = load(path, max_bytes=10**7)
    units = sentences_in([whole_chunk(document, build_hierarchy(document))])
    return [unit.body for unit in units if unit.kind is UnitKind.ROW]


def rows_of_page(folder: Path, table: str) -> list[str]:
    (folder / "page.html").write_text(f"<p>Before.</p>{table}", encoding="utf-8")
    return rows_of(folder / "page.html")


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        pytest.param(
            "<tr><th>Floor<th>Room<th>Seats<tr><td rowspan=2>Ground<td>Ash<td>12<tr><td>Birch<td>30"
            "<tr><td>First<td>Cedar<td>8",
            ["Ground, Room: Ash; Seats: 12.", "Ground, Room: Birch; Seats: 30.", "First, Room: Cedar; Seats: 8."],
            id="a group cell",
        ),
        pytest.param(
            "<tr><th rowspan=2>Region<th colspan=2>Sales<tr><th>2024<th>2023<tr><td>North<td>22<td>20",
            ["North, Sales / 2024: 22; Sales / 2023: 20."],
            id="two header rows",
        ),
        pytest.param(
            "<thead><tr><td>Ship<td>Sails</thead><tfoot><tr><td>All<td>9</tfoot>"
            "<tbody><tr><td rowspan=0>Tern<td>4<tr><td>5</tbody>",
            ["Tern, Sails: 4.", "Tern, Sails: 5.", "All, Sails: 9."],
            id="groups of rows",
        ),
        pytest.param(
            "<tr><th>Tree<th>Height<tr><th colspan=2>Lawn<tr><td>Lime<td>22 m"
            "<tr><th colspan=2>Shore<tr><td>Lime<td>18 m",
            ["Lawn, Tree: Lime; Height: 22 m.", "Shore, Tree: Lime; Height: 18 m."],
            id="labels between rows",
        ),
        pytest.param(
            "<tr><th>Team<th>Goals<tr><td>Reds<td>2<tr><th>Team<th>Cards<tr><td>Reds<td>1",
            ["Reds, Goals: 2.", "Reds, Cards: 1."],
            id="names again",
        ),
        pytest.param(
            "<tr><th>Ship<th>Beds<tr><td>Aurora<td><table><tr><th>Deck<th>Beds<tr><td>Upper<td>18</table>",
            ["Aurora.", "Aurora / Beds, Deck: Upper; Beds: 18."],
            id="a table in a table",
        ),
        pytest.param("<tr><td>Gate<td>East<tr><td>Keeper<td>Ines", ["Gate: East.", "Keeper: Ines."], id="no header"),
        pytest.param(
            "<tr><td>Ash<td>12 km<td>4<tr><td>Elm<td>15 km<td>5", ["Ash: 12 km; 4.", "Elm: 15 km; 5."], id="data"
        ),
        pytest.param("<tr><th>Name<td>Ash<tr><th>Seats<td>12", ["Name: Ash.", "Seats: 12."], id="names at the left"),
        pytest.param(
            "<tr><td><b>Lake</b><td><b>Owner</b><tr><td>Lund<td>the town", ["Lund, Owner: the town."], id="bold names"
        ),
        pytest.param(
            "<tr><th>Farm<th>2023<th>2024<tr><td>Holm<td colspan=2>fallow",
            ["Holm, 2023: fallow; 2024: fallow."],
            id="wide cell",
        ),
    ],
)
def test_a_table_of_a_page_is_read_as_it_looks(table: str, expected: list[str], tmp_path: Path) -> None:
    """Spans, groups, header rows and tables in tables; no header where the page has none."""
    assert rows_of_page(tmp_path, f"<table>{table}</table>") == expected


def test_absurd_spans_are_not_followed(tmp_path: Path) -> None:
    """A small page stays a small text."""
    row = f"<tr>{'<td rowspan=999 colspan=999>x' * 3}"
    assert rows_of_page(tmp_path, f"<table>{row * 60}</table>") == ["x: x; x."] * 60


def test_what_stands_above_and_below_a_table_is_a_paragraph(tmp_path: Path) -> None:
    """A caption, a title row and a note are not rows."""
    (tmp_path / "a.html").write_text(
        "<table><caption>Yield</caption><tr><td colspan=3>In tonnes<tr><th>Farm<th>Oats<th>Rye<tr><td>Holm<td>1<td>2"
        "<tr><td colspan=3>Source: the farms.</table>"
    )
    assert load(tmp_path / "a.html", max_bytes=10**6).text.split("\n\n") == [
        "Yield",
        "In tonnes",
        "| Farm | Oats | Rye |\n| --- | --- | --- |\n| Holm | 1 | 2 |",
        "Source: the farms.",
    ]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("plant.md", "|Plant|Output||Scrap||\n|-|-|-|-|-|\n|Ulm|100|5|3|5|\n", ["Ulm, Output: 100; 5; Scrap: 3; 5."]),
        ("score.md", "|Team|Goals|Goals|\n|-|-|-|\n|Reds|2|2|\n", ["Reds, Goals: 2; Goals: 2."]),
        ("score.csv", "Team,Goals,,Cards,\nReds,2,1,2,1\n", ["Reds, Goals: 2; 1; Cards: 2; 1."]),
        (
            "words.md",
            "|Name|Note|By|\n|-|-|-|\n|Ash|tall|Bo|\n||see below|Cy|\n|Elm|old|Di|\n",
            ["Ash, Note: tall; By: Bo.", "Note: see below; By: Cy.", "Elm, Note: old; By: Di."],
        ),
    ],
)
def test_equal_and_nameless_columns_lose_no_value(name: str, text: str, expected: list[str], tmp_path: Path) -> None:
    """Each cell is quoted, whatever stands in the others; below its rule a Markdown table has no header."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert rows_of(tmp_path / name) == expected


def test_a_table_without_names_takes_none_from_the_table_before(tmp_path: Path) -> None:
    """Names hold for one table."""
    table = (
        "<table><tr><th>Team<th>Goals<tr><td>Reds<td>2</table><table><tr><td>Gate<td>East<tr><td>Key<td>Ines</table>"
    )
    assert rows_of_page(tmp_path, table) == ["Reds, Goals: 2.", "Gate: East.", "Key: Ines."]


def test_a_wide_table_names_row_and_column_of_each_value(tmp_path: Path) -> None:
    """A table with more columns than a chunk holds is cut between columns, and its rows keep their names."""
    columns = [f"Station {i}" for i in range(90)]
    values = [f"{i}.{k}5 mm" for k in range(2) for i in range(90)]
    header = "".join(f"<th>{name}" for name in ["No.", "Month", *columns])
    rows = "".join(
        f"<tr><td>{k}<td>{month}" + "".join(f"<td>{value}" for value in values[90 * k : 90 * k + 90])
        for k, month in enumerate(["May", "June"])
    )
    (tmp_path / "rain.html").write_text(f"<table><tr>{header}{rows}</table>")
    document = load(tmp_path / "rain.html", max_bytes=10**6)
    bodies = [unit.body for unit in sentences_in(chunks_of(document))]
    for i in (0, 44, 89):
        assert [body for body in bodies if body.startswith("1, Month: June;") and f"Station {i}: {i}.15 mm" in body]


def test_the_rest_of_a_row_that_is_longer_than_a_chunk_stands_under_no_other_column(tmp_path: Path) -> None:
    """A Markdown file keeps its wide rows; what is cut from them is quoted as it stands."""
    names = "|".join(f"Station {i}" for i in range(400))
    (tmp_path / "rain.md").write_text(
        f"|Month|{names}|\n|{'-|' * 401}\n|May|{'|'.join(f'v{i}' for i in range(400))}|\n"
    )
    chunks = chunks_of(load(tmp_path / "rain.md", max_bytes=10**6))
    bodies = " ".join(unit.body for unit in sentences_in(chunks) if unit.kind is UnitKind.ROW)
    assert "Station 40: v40" in bodies
    assert "v399" in bodies
    for i, name in enumerate(bodies.split("Station ")[1:]):
        assert name.startswith(f"{i}: v{i}"), name


def chunks_of(document: Document) -> list[Any]:
    scope = Scope()
    return cut_chunks(document, build_hierarchy(document), scope=scope, fingerprint="f", counter=PackagedTokens())


@pytest.mark.parametrize(
    ("name", "text", "above", "header"),
    [
        ("excel.csv", "sep=;\nName;Age\nRosa;31\nLiam;29\n", "", "| Name | Age |"),
        ("export.csv", "# Of 2026-03-01\nSKU,Name,Qty\nA1,Rope,5\n", "Of 2026-03-01", "| SKU | Name | Qty |"),
        ("report.csv", "Report Q1,,\n,,\nCity,Visits,Income\nOslo,1,3\n", "Report Q1", "| City | Visits | Income |"),
        ("made.csv", "Made:,4 May,,\n\nFarm,Oats,Rye,By\nHolm,1,2,Bo\n", "Made: 4 May", "| Farm | Oats | Rye | By |"),
        ("genes.tsv", "#chrom\tstart\nchr1\t5\n", "", "| #chrom | start |"),
        ("bare.csv", "Oslo,2020,697010\nBergen,2020,283929\n", "", "|  |  |  |"),
    ],
)  # fmt: skip
def test_lines_above_a_delimited_table_are_not_its_header(
    name: str, text: str, above: str, header: str, tmp_path: Path
) -> None:
    """A directive, comments and titles come before the row that names the columns, if one does."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = load(tmp_path / name, max_bytes=10**6).text
    assert found[: found.index("|")].strip() == above
    assert found[found.index("|") :].split("\n")[0] == header


def word_file(path: Path) -> None:
    document: Any = docx.Document()
    table = document.add_table(5, 3)
    texts = [["Hall", "Pallets", ""], ["", "May", "June"], ["North", "14", "15"], ["", "52", "53"], ["", "7", "8"]]
    for cell, text in zip(table._cells, chain(*texts), strict=True):
        cell.text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(0, 0).merge(table.cell(1, 0))
    table.cell(2, 0).merge(table.cell(3, 0))
    for row in table.rows[:2]:
        row._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
    last = table.rows[4]._tr
    before: Any = OxmlElement("w:gridBefore")
    before.attrib[f"{{{last.nsmap['w']}}}val"] = "1"
    last.get_or_add_trPr().append(before)
    last.remove(last.tc_lst[0])
    document.save(str(path))


def slides(path: Path) -> None:
    deck: Any = pptx.Presentation()
    shapes = deck.slides.add_slide(deck.slide_layouts[5]).shapes
    table = shapes.add_table(4, 3, 0, 0, 10**6, 10**6).table
    texts = [["Hall", "Pallets", ""], ["", "May", "June"], ["North", "14", "15"], ["", "52", "53"]]
    for cell, text in zip(table.iter_cells(), chain(*texts), strict=True):
        cell.text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(0, 0).merge(table.cell(1, 0))
    table.cell(2, 0).merge(table.cell(3, 0))
    bare = shapes.add_table(2, 3, 0, 0, 10**6, 10**6).table
    bare.first_row = False
    for cell, text in zip(bare.iter_cells(), ["Roof", "tin", "new", "Door", "oak", "old"], strict=True):
        cell.text = text
    deck.save(str(path))


def workbook(path: Path) -> None:
    book: Any = openpyxl.Workbook()
    sheet = book.active
    for row in [
        ["Stock in May", None, None],
        ["Hall", "Pallets", None],
        [None, "May", "June"],
        ["North", 14, 15],
        [None, 52, 53],
    ]:
        sheet.append(row)
    for area in ("A1:C1", "B2:C2", "A2:A3", "A4:A5"):
        sheet.merge_cells(area)
    named = book.create_sheet("Named")
    for row in [["Roof", "tin"], ["Door", "oak"]]:
        named.append(row)
    named.auto_filter.ref = "A1:B2"
    book.save(path)


@pytest.mark.parametrize(
    ("name", "write", "expected"),
    [
        ("a.docx", word_file, ["Pallets / May: 7; Pallets / June: 8."]),
        ("a.pptx", slides, ["Roof: tin; new.", "Door: oak; old."]),
        ("a.xlsx", workbook, ["Door, tin: oak."]),
    ],
)
def test_an_office_file_s_merged_cells_and_header_rows_are_kept(
    name: str, write: Callable[[Path], None], expected: list[str], tmp_path: Path
) -> None:
    """A value below a merged cell has its name; a row that begins further right stays under its columns."""
    write(tmp_path / name)
    same = ["North, Pallets / May: 14; Pallets / June: 15.", "North, Pallets / May: 52; Pallets / June: 53."]
    assert rows_of(tmp_path / name) == [*same, *expected]


FORMATS = [
    ("0000", 7, "0007"), ('"€" 0.00', 4.5, "€ 4.50"), ("#,##0.00", 1234567.891, "1,234,567.89"), ("0%", 0.125, "13%"),
    ("[$€-407] #,##0.00", 1200.5, "€ 1,200.50"), ("#,##0;(#,##0)", -1250.5, "(1,251)"), ("0.00", 2.675, "2.68"),
    ("000\\-00\\-0000", 123456789, "123-45-6789"), ("# ?/?", 1.5, "1 1/2"), ("# ?/10", 0.3, "0.3"),
    ("0.00E+00", 12345, "1.23E+04"),
    ('0.0,,"M"', 12345678, "12.3M"), ("[<1]0.00;[>=100]0;0.0", 20, "20.0"), ('"yes";"no";"none"', 0, "none"),
    ("General", 0.1 + 0.2, "0.3"), ("General", True, "TRUE"), (";;;", 5, ""),
    ("d mmmm yyyy", datetime(2019, 4, 3), "3 April 2019"), ("h:mm AM/PM", datetime(2019, 4, 3, 14, 5), "2:05 PM"),
    ("mm-dd-yy", datetime(2019, 4, 3), "2019-04-03"), ("[$-407]d. mmmm yyyy", datetime(2019, 4, 3), "2019-04-03"),
]  # fmt: skip


def test_values_of_a_sheet_are_read_as_it_shows_them(tmp_path: Path) -> None:
    """Leading zeros, currencies, thousands, shares, dates; a date in words of another language is as stored."""
    book: Any = openpyxl.Workbook()
    for row, (code, value, _) in enumerate(FORMATS, start=1):
        book.active.cell(row, 1, f"row {row}")
        book.active.cell(row, 2, value).number_format = code
    book.save(tmp_path / "a.xlsx")
    expected = [f"row {i}: {shown}." if shown else f"row {i}." for i, (*_, shown) in enumerate(FORMATS, start=1)]
    assert rows_of(tmp_path / "a.xlsx") == expected


def test_a_formula_whose_value_is_not_stored_is_counted(tmp_path: Path) -> None:
    """Such a cell has no text, and the document says so; a formula that is stored as empty text is read."""
    book: Any = openpyxl.Workbook()
    for row in [["Part", "Price"], ["Bolt", 4.5], ["Nut", 3.5], ["Total", "=B2*2"], ["Tax", '=IF(B2>9,B2,"")']]:
        book.active.append(row)
    book.save(path := tmp_path / "plain.xlsx")
    with zipfile.ZipFile(path) as plain, zipfile.ZipFile(tmp_path / "a.xlsx", "w") as stored:
        for name in plain.namelist():
            part = plain.read(name)
            stored.writestr(name, part.replace(b'<c r="B5">', b'<c r="B5" t="str">'))

    assert convert((tmp_path / "a.xlsx").read_bytes(), path, max_bytes=10**7).unread == {"formula without value": 1}


TEXTS = st.sampled_from(["", "a", "7", "2024", "x | y", "12 km"])
CELLS = st.tuples(TEXTS, st.integers(1, 4), st.integers(1, 4), st.booleans(), st.booleans()).map(lambda one: Cell(*one))


@given(st.lists(st.lists(CELLS, max_size=5), max_size=6), st.sampled_from([None, 0, 1, 2]))
def test_no_cell_of_any_table_is_lost_and_nothing_is_added(rows: list[list[Cell]], header_rows: int | None) -> None:
    """Whatever spans overlap, the text holds each filled cell, and only words of cells."""
    text = table_markdown(Table(rows, header_rows), Counter()).replace("\\|", "")
    words = {word for row in rows for cell in row for word in cell.text.replace("|", "").split()}
    assert {word for word in text.replace("|", " ").replace(" / ", " ").split() if set(word) != {"-"}} == words
