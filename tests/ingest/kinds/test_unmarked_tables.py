"""Tables whose format does not say what names their columns or groups their rows: what they repeat tells."""

from pathlib import Path
from typing import Any

import docx
import openpyxl
import pytest

from discorag.ingest.loaders import load
from tests.ingest.kinds.test_tables import rows_of, rows_of_page

LOCKS = "Lock,Boats,Yachts\nMay,,\nUpper,5,2\nLower,7,1\nJune,,\nUpper,6,4\nLower,8,3\n"
OF_LOCKS = [
    "May, Lock: Upper; Boats: 5; Yachts: 2.",
    "May, Lock: Lower; Boats: 7; Yachts: 1.",
    "June, Lock: Upper; Boats: 6; Yachts: 4.",
    "June, Lock: Lower; Boats: 8; Yachts: 3.",
]


def as_pipes(text: str) -> str:
    first, *others = [f"| {line.replace(',', ' | ')} |" for line in text.strip().split("\n")]
    return "\n".join([first, "|" + "---|" * (first.count("|") - 1), *others, ""])


def in_format(text: str, suffix: str, folder: Path) -> Path:
    """A file of comma-separated lines in another format, without any mark of a header."""
    path = folder / f"table{suffix}"
    rows = [line.split(",") for line in text.strip().split("\n")]
    if suffix == ".xlsx":
        book: Any = openpyxl.Workbook()
        for row in rows:
            book.active.append([int(value) if value.isdigit() else value or None for value in row])
        book.save(path)
    elif suffix == ".docx":
        document: Any = docx.Document()
        table: Any = document.add_table(len(rows), len(rows[0]))
        for cell, value in zip(table._cells, [value for row in rows for value in row], strict=True):
            cell.text = value
        document.save(str(path))
    elif suffix == ".html":
        cells = ("".join(f"<td>{value}" for value in row) for row in rows)
        path.write_text(f"<table>{''.join(f'<tr>{row}' for row in cells)}</table>")
    else:
        path.write_text(as_pipes(text) if suffix == ".md" else text, encoding="utf-8")
    return path


FORMATS = pytest.mark.parametrize("suffix", [".csv", ".md", ".xlsx", ".docx"])


@FORMATS
def test_a_row_that_names_a_group_stands_in_front_of_its_rows(suffix: str, tmp_path: Path) -> None:
    """It has one cell, and its group repeats the names of another."""
    assert rows_of(in_format(LOCKS, suffix, tmp_path)) == OF_LOCKS


def test_rows_of_one_wide_cell_name_groups_if_every_row_has_one(tmp_path: Path) -> None:
    """They need be neither bold nor header cells; one among rows of no group stays a row."""
    table = "<tr><th>Fruit<th>Kilos<tr><td colspan=2>Red<tr><td>Plum<td>4<tr><td colspan=2>Green<tr><td>Pear<td>5"
    assert rows_of_page(tmp_path, f"<table>{table}</table>") == [
        "Red, Fruit: Plum; Kilos: 4.",
        "Green, Fruit: Pear; Kilos: 5.",
    ]
    closed = "<tr><th>Lock<th>Boats<tr><td>Upper<td>4<tr><td colspan=2>closed in May<tr><td>Lower<td>5"
    assert rows_of_page(tmp_path, f"<table>{closed}</table>") == [
        "Upper, Boats: 4.",
        "closed in May.",
        "Lower, Boats: 5.",
    ]


@FORMATS
def test_rows_without_values_name_no_group(suffix: str, tmp_path: Path) -> None:
    """Countries that sent no figures are not groups of those below them."""
    text = "Country,Gold,Silver\nAngola,,\nBrazil,3,6\nChad,,\nDenmark,2,2\n"
    assert [row for row in rows_of(in_format(text, suffix, tmp_path)) if ":" in row] == [
        "Brazil, Gold: 3; Silver: 6.",
        "Denmark, Gold: 2; Silver: 2.",
    ]


@FORMATS
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            ",North,,South,\nCrop,Sown,Cut,Sown,Cut\nRye,40,38,52,51\nOats,60,57,71,70\n",
            "Rye, North / Sown: 40; North / Cut: 38; South / Sown: 52; South / Cut: 51.",
        ),
        (
            "Port,Ships,,Crew\n,2023,2024,\nBergen,41,44,300\nStavanger,35,31,280\n",
            "Bergen, Ships / 2023: 41; Ships / 2024: 44; Crew: 300.",
        ),
        (
            "Old mill,,New mill,\nMonth,Sacks,Month,Sacks\nMay,310,May,520\nJune,290,June,610\n",
            "May, Old mill / Sacks: 310; New mill / Month: May; New mill / Sacks: 520.",
        ),
        (
            ",North,North,South,South\n,Sown,Cut,Sown,Cut\nField crops,,,,\nRye,40,38,52,51\nOats,60,57,71,70\n",
            "Rye, North / Sown: 40; North / Cut: 38; South / Sown: 52; South / Cut: 51.",
        ),
    ],
    ids=["empty corner", "one name over two", "side by side", "each name over both"],
)
def test_names_over_several_columns_are_over_each_of_them(
    text: str, expected: str, suffix: str, tmp_path: Path
) -> None:
    """The cells are not merged: the name stands over the first column only, or again over each."""
    rows = [row for row in rows_of(in_format(text, suffix, tmp_path)) if ":" in row]
    assert rows[0].removeprefix("Field crops, ") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (",Item,,Note\n1,Rope,,new\n2,Sail,,old\n", "1, Item: Rope; Note: new."),
        ("Team,Coach,,By\nReds,Ida,old,5\nBlues,Per,new,6\n", "Reds, Coach: Ida; old; By: 5."),
        ("Tree,Note,Note\nAsh,tall,old\nOak,3,4\nElm,5,6\n", "Ash, Note: tall; Note: old."),
    ],
)
def test_a_row_below_a_header_with_empty_places_is_a_row(text: str, expected: str, tmp_path: Path) -> None:
    """Only names over figures are a second header row."""
    assert rows_of(in_format(text, ".csv", tmp_path))[0] == expected


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_word_alone_in_the_last_rows_is_a_row_and_a_line_of_words_a_note(suffix: str, tmp_path: Path) -> None:
    text = "Id,Name,Score\n1,Ash,20\n2,Elm,30\n3,,\nAll scores are final.,,\n"
    path = in_format(text, suffix, tmp_path)
    assert rows_of(path) == ["1, Name: Ash; Score: 20.", "2, Name: Elm; Score: 30.", "3."]
    assert load(path, max_bytes=10**6).text.endswith("|\n\nAll scores are final.")


@FORMATS
def test_names_above_are_filled_down_where_the_cells_beside_them_recur(suffix: str, tmp_path: Path) -> None:
    """An export writes the name of a group only once."""
    text = "Ward,Shift,Beds\nSurgery,Early,12\n,Late,9\nMaternity,Early,7\n,Late,6\n"
    assert rows_of(in_format(text, suffix, tmp_path)) == [
        "Surgery, Shift: Early; Beds: 12.",
        "Surgery, Shift: Late; Beds: 9.",
        "Maternity, Shift: Early; Beds: 7.",
        "Maternity, Shift: Late; Beds: 6.",
    ]


@FORMATS
def test_where_the_columns_are_named_again_a_table_begins(suffix: str, tmp_path: Path) -> None:
    """The same names further down are not a row, and the line above them names what follows."""
    text = "Lock,Boats,Yachts\nUpper,5,2\nLower,7,1\nJune,,\nLock,Boats,Yachts\nUpper,6,4\n"
    assert rows_of(in_format(text, suffix, tmp_path)) == [
        "Upper, Boats: 5; Yachts: 2.",
        "Lower, Boats: 7; Yachts: 1.",
        "June, Lock: Upper; Boats: 6; Yachts: 4.",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Item,Price,Stock\nRope,4.50,12\n\nStaff\nName,Phone\nRosa,5551\nLiam,5552\n",
            ["Rope, Price: 4.50; Stock: 12.", "Rosa, Phone: 5551.", "Liam, Phone: 5552."],
        ),
        (
            "Item,Price,Stock\nRope,4.50,12\n\nCity,Visits,Income,By\nOslo,12,33,Bo\n",
            ["Rope, Price: 4.50; Stock: 12.", "Oslo, Visits: 12; Income: 33; By: Bo."],
        ),
        (
            "Item,Price\nRope,4.50\nOar,3.20\n\nSail,90.10\n",
            ["Rope, Price: 4.50.", "Oar, Price: 3.20.", "Sail, Price: 90.10."],
        ),
        (
            "Item,Price\nRope,4.50\nOar,3.20\n\nCity,Country\nOslo,Norway\n",
            ["Rope, Price: 4.50.", "Oar, Price: 3.20.", "City: Country.", "Oslo: Norway."],
        ),
    ],
    ids=["a title", "other columns", "rows go on", "words"],
)
def test_below_an_empty_line_of_delimited_text_may_be_another_table(
    text: str, expected: list[str], tmp_path: Path
) -> None:
    """It has its own names, with figures below them."""
    assert rows_of(in_format(text, ".csv", tmp_path)) == expected


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".docx", ".html"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Name,Ash\nType,tree\nPlace,lawn\n", ["Name: Ash.", "Type: tree.", "Place: lawn."]),
        ("Name,Ash\nSeats,12\nOpen,daily\n", ["Name: Ash.", "Seats: 12.", "Open: daily."]),
        ("Ash,Ida,Rome\nElm,Bo,Rome\n", ["Ash: Ida; Rome.", "Elm: Bo; Rome."]),
    ],
    ids=["pairs", "pairs with a figure", "rows only"],
)
def test_a_table_of_words_gets_no_header_that_nothing_marks(
    text: str, expected: list[str], suffix: str, tmp_path: Path
) -> None:
    """Its rows are quoted cell by cell, and the document says that a header may be missing."""
    path = in_format(text, suffix, tmp_path)
    assert rows_of(path) == expected
    assert load(path, max_bytes=10**6).unread == {"table header": 1}


@pytest.mark.parametrize(("suffix", "named"), [(".csv", True), (".xlsx", True), (".docx", False), (".html", False)])
def test_the_first_row_of_a_sheet_names_its_columns_if_nothing_tells(suffix: str, named: bool, tmp_path: Path) -> None:
    """By custom, and only there: a table of a page may hold anything."""
    path = in_format("Name,Keeper,Town\nAsh,Ida,Rome\nElm,Bo,Oslo\n", suffix, tmp_path)
    assert rows_of(path)[-1] == ("Elm, Keeper: Bo; Town: Oslo." if named else "Elm: Bo; Oslo.")
    assert load(path, max_bytes=10**6).unread == ({} if named else {"table header": 1})


@FORMATS
def test_words_that_recur_below_others_are_under_their_names(suffix: str, tmp_path: Path) -> None:
    """Two columns of classes, whose first cells are in no class."""
    text = "Name,Ward,Shift\nIda,East,early\nBo,East,late\nCy,West,early\nDi,West,late\n"
    assert rows_of(in_format(text, suffix, tmp_path))[3] == "Di, Ward: West; Shift: late."


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "City,Visits,,Name,Phone\nOslo,12,,Rosa,5551\nBergen,33,,Liam,5552\n,,,Mia,5553\n",
            [
                "Oslo, Visits: 12.",
                "Bergen, Visits: 33.",
                "Rosa, Phone: 5551.",
                "Liam, Phone: 5552.",
                "Mia, Phone: 5553.",
            ],
        ),
        (
            "Old mill,,,New mill,\nMonth,Sacks,,Month,Sacks\nMay,310,,May,520\nJune,290,,June,610\n",
            [
                "Old mill, Month: May; Sacks: 310.",
                "Old mill, Month: June; Sacks: 290.",
                "New mill, Month: May; Sacks: 520.",
                "New mill, Month: June; Sacks: 610.",
            ],
        ),
        (
            "Month,Sacks,,Month,Sacks\nMay,310,,July,520\nJune,290,,August,610\n",
            ["May, Sacks: 310.", "June, Sacks: 290.", "July, Sacks: 520.", "August, Sacks: 610."],
        ),
        (
            "Team,Score,Team,Score\nLions,3,Bears,1\nWolves,2,Hawks,4\n",
            ["Lions, Score: 3; Team: Bears; Score: 1.", "Wolves, Score: 2; Team: Hawks; Score: 4."],
        ),
        (
            "Name,Age,,City,Country\nAda,30,,Paris,France\nBen,40,,Rome,Italy\n",
            ["Ada, Age: 30; City: Paris; Country: France.", "Ben, Age: 40; City: Rome; Country: Italy."],
        ),
        (
            "City,Visits,,,\nOslo,12,,Staff,\nBergen,33,,Name,Phone\n,,,Rosa,5551\n,,,Liam,5552\n",
            [
                "Oslo, Visits: 12.",
                "Bergen, Visits: 33.",
                "Staff, Name: Rosa; Phone: 5551.",
                "Staff, Name: Liam; Phone: 5552.",
            ],
        ),
        (
            "Item,Price,,2023,2024\nRope,4.50,,5,6\nOar,3.20,,7,8\n",
            ["Rope, Price: 4.50; 2023: 5; 2024: 6.", "Oar, Price: 3.20; 2023: 7; 2024: 8."],
        ),
    ],
    ids=["an empty column", "titles", "the same names", "a match", "a gap", "one begins below", "one table"],
)
def test_tables_side_by_side_are_read_each_with_its_own_names(
    text: str, expected: list[str], suffix: str, tmp_path: Path
) -> None:
    """An empty column alone does not end a table: behind it are rows with labels of their own."""
    assert rows_of(in_format(text, suffix, tmp_path)) == expected


def test_tables_of_html_in_markdown_are_tables(tmp_path: Path) -> None:
    """Not so in a block of code; what is around them stays as it is."""
    table = (
        "<table>\n<tr><th rowspan=2>Pass<th colspan=2>Winter</tr>\n\n<tr><th>Day<th>Week</tr>\n"
        "<tr><td>Valley<td>31<td>214</tr>\n</table>"
    )
    (tmp_path / "a.md").write_text(f"# Prices\n\n{table}\n\n*In francs.*\n\n```html\n{table}\n```\n", encoding="utf-8")
    text = load(tmp_path / "a.md", max_bytes=10**6).text
    assert rows_of(tmp_path / "a.md") == ["Valley, Winter / Day: 31; Winter / Week: 214."]
    assert text.startswith("# Prices\n\n| Pass |")
    assert text.endswith(f"\n\n*In francs.*\n\n```html\n{table}\n```\n")


def test_the_first_row_below_an_empty_header_of_markdown_may_name_the_columns(tmp_path: Path) -> None:
    """Markdown cannot do without the line; pairs of name and value stay pairs."""
    (tmp_path / "a.md").write_text("||||\n|-|-|-|\n|Type|Gull|Tern|\n|Length (m)|12|9|\n")
    (tmp_path / "b.md").write_text("|||\n|-|-|\n|**Owner**|Rosa|\n|**Built**|by hand|\n")
    assert rows_of(tmp_path / "a.md") == ["Length (m), Gull: 12; Tern: 9."]
    assert rows_of(tmp_path / "b.md") == ["Owner: Rosa.", "Built: by hand."]


def test_a_markdown_table_that_says_all_stays_as_it_is_written(tmp_path: Path) -> None:
    """Aligned, without bars at its ends, or with an escaped bar."""
    text = "a | b\n:-- | --:\n1 \\| 2 | **3**\n\n| Lock  | Boats |\n|:------|------:|\n| Upper |     5 |\n"
    (tmp_path / "a.md").write_text(text)
    assert load(tmp_path / "a.md", max_bytes=10**6).text == text


def test_a_table_of_data_may_hold_tables_without_marking_its_header(tmp_path: Path) -> None:
    """Short names above, and tables in one column: the page is not laid out by it."""
    inner = "<table><tr><td>Rows<td>Chairs<tr><td>{}<td>{}</table>"
    rows = "".join(
        f"<tr><td>{n}<td>{inner.format(a, b)}<td>{c}" for n, a, b, c in [("Ash", 4, 6, 90), ("Elm", 5, 7, 80)]
    )
    found = rows_of_page(tmp_path, f"<table><tr><td>Hall<td>Seats<td>Rate{rows}</table>")
    assert found[:2] == ["Ash, Rate: 90.", "Elm, Rate: 80."]
    assert all(row.startswith(("Ash / Seats", "Elm / Seats")) for row in found[2:])
