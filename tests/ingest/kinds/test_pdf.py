"""PDF pages are read as they are shown, and in the order in which people read them."""

from io import BytesIO
from pathlib import Path

import pypdfium2
import pytest
from fpdf import FPDF

from discorag.ingest.loaders import load
from discorag.schema.document import Document
from interfaces.langchain import DiscoRetriever
from interfaces.views.code_review import audit_sarif
from tests.conftest import Pipelines
from tests.ingest.pdfs import raw_pdf

HEAD = ("Part", "Weight kg", "Torque Nm")


def read(data: bytes, folder: Path) -> Document:
    path = folder / "file.pdf"
    path.write_bytes(data)
    return load(path, max_bytes=10**7)


def page(content: str, folder: Path, fields: tuple[str, ...] = ()) -> Document:
    return read(raw_pdf(content, 600, 800, fields), folder)


def line(x: float, y: float, text: str, size: float = 12, more: str = "") -> str:
    return f"BT /F {size} Tf {more} {x} {y} Td ({text}) Tj ET\n"


def cell(x: int, y: float, text: str, width: int = 100, height: int = 20) -> str:
    return f"{x} {y} {width} {height} re S\n" + line(x + 4, y + 6, text, 9)


def ruled(rows: list[tuple[str, ...]], top: float) -> str:
    """A grid of 100 by 20 points a cell."""
    made = ""
    for r, row in enumerate(rows):
        for c, text in enumerate(row):
            made += cell(60 + 100 * c, top - 20 * (r + 1), text)
    return made


def pages(*contents: str) -> bytes:
    whole = pypdfium2.PdfDocument.new()
    for content in contents:
        whole.import_pages(pypdfium2.PdfDocument(raw_pdf(content, 600, 800)))
    buffer = BytesIO()
    whole.save(buffer)
    return buffer.getvalue()


def bolts(first: int, last: int) -> list[tuple[str, ...]]:
    return [(f"Bolt M{i}", str(3 * i), str(7 * i)) for i in range(first, last)]


@pytest.mark.parametrize("again", [[], [HEAD]], ids=["named once", "named on each page"])
def test_a_table_that_goes_on_over_pages_is_one_table(again: list[tuple[str, ...]], tmp_path: Path) -> None:
    """Its header names the columns of all its rows, whether or not the next page repeats it."""
    text = read(pages(ruled([HEAD, *bolts(1, 4)], 700), ruled([*again, *bolts(4, 5)], 760)), tmp_path).text
    rows = [f"| {' | '.join(row)} |" for row in (HEAD, ("---",) * 3, *bolts(1, 5))]
    assert text == "\n".join(rows)


def test_a_cell_that_a_page_s_end_cuts_names_the_rows_on_both_pages(tmp_path: Path) -> None:
    """No rule closes it below, and its text is on the first page only."""

    def part(top: int, names: list[str], numbers: list[str]) -> str:
        made = ruled([("Plant", "Part", "Kilos")], top) + f"60 {top - 20} m 60 {top - 60} l S\n"
        for row, cells in enumerate(zip(names, numbers, strict=True), start=1):
            for column, text in enumerate(cells, start=1):
                made += cell(60 + 100 * column, top - 20 * (row + 1), text)
        return made

    first = part(720, ["Cap 1", "Cap 2"], ["14", "24"]) + line(64, 686, "Wesel", 9)
    second = part(780, ["Lid 1", "Lid 2"], ["15", "25"])
    assert read(pages(first, second), tmp_path).text == (
        "| Plant | Part | Kilos |\n| --- | --- | --- |\n| Wesel | Cap 1 | 14 |\n| Wesel | Cap 2 | 24 |\n"
        "| Wesel | Lid 1 | 15 |\n| Wesel | Lid 2 | 25 |"
    )


def test_words_whose_letters_the_library_sets_apart_are_words(tmp_path: Path) -> None:
    """PDFium takes a page of narrow columns for one that is written downwards, and each letter for a line."""
    width = 5.004  # of each of these letters at 9 points
    words = [(x, 785 - 14 * j, f"end{j:02d}") for j in range(50) for x in (60, 300)]
    letters = "".join(line(x + width * i, y, letter, 9) for x, y, word in words for i, letter in enumerate(word))
    assert page(letters, tmp_path).text.split() == [word for _, _, word in words]


def test_a_table_with_names_of_its_own_is_another_table(tmp_path: Path) -> None:
    """Equal columns alone do not join two tables."""
    nuts = [("Nut", "Price", "Stock"), ("Nut N1", "4", "9")]
    text = read(pages(ruled([HEAD, *bolts(1, 4)], 700), ruled(nuts, 760)), tmp_path).text
    assert text.endswith("| Bolt M3 | 9 | 21 |\n\n| Nut | Price | Stock |\n| --- | --- | --- |\n| Nut N1 | 4 | 9 |")


def test_cells_that_span_rows_and_columns_are_at_each_of_their_places(tmp_path: Path) -> None:
    """A cell's place follows from its rules, also where it spans others."""
    content = cell(60, 600, "Room", height=40) + cell(160, 620, "Price", width=200)
    content += cell(160, 600, "2023") + cell(260, 600, "2024") + cell(60, 560, "Birch", height=40)
    content += cell(160, 580, "30") + cell(260, 580, "35") + cell(160, 560, "31") + cell(260, 560, "36")
    assert page(content, tmp_path).text.endswith("| Birch | 30 | 35 |\n| Birch | 31 | 36 |")


@pytest.mark.parametrize(
    "hidden",
    [
        "1 1 1 rg\n" + line(60, 600, "It is 2 dollars."),
        line(60, 600, "It is 2 dollars.", 0.5),
        line(60, 600, "It is 2 dollars.", more="3 Tr"),
        line(60, 900, "It is 2 dollars."),
        "1 1 0.99 rg\n" + line(60, 600, "It is 2 dollars."),
    ],
    ids=["white", "tiny", "not drawn", "outside the page", "nearly white"],
)
def test_text_that_cannot_be_seen_is_counted_and_not_read(hidden: str, tmp_path: Path) -> None:
    """Nothing is quoted that a reader of the page cannot see."""
    document = page(line(60, 700, "The award is 485,000 dollars.") + hidden, tmp_path)
    assert document.text == "The award is 485,000 dollars."
    assert document.unread == {"hidden text": 1}


def test_white_text_on_a_dark_ground_and_what_ocr_read_in_a_scan_stay(tmp_path: Path) -> None:
    """White letters are hidden only on white; a text layer over a picture is what the picture shows."""
    dark = "0 0 0.5 rg 50 590 300 30 re f 1 1 1 rg\n" + line(60, 600, "Total: 5")
    assert page(dark, tmp_path).text == "Total: 5"
    scan = "q 600 0 0 800 0 0 cm /I Do Q\n" + line(60, 600, "Read by OCR.", more="3 Tr")
    assert page(scan, tmp_path).text == "Read by OCR."


def rows_of(columns: list[list[str]], width: float = 170) -> str:
    return "".join(
        line(60 + width * c, 700 - 14 * r, text, 9)
        for r, row in enumerate(zip(*columns, strict=True))
        for c, text in enumerate(row)
    )


CATS = ["Cats sleep for most of the day", "and hunt at night in the", "gardens of the village."]
DOGS = ["Dogs need a long walk every", "morning and must be kept on", "a lead in the park."]
OWLS = ["Owls are heard in the old barn", "from early spring until the", "young have left the nest."]


@pytest.mark.parametrize("columns", [[CATS, DOGS], [CATS, DOGS, OWLS]], ids=["two", "three"])
def test_columns_that_are_written_row_by_row_are_read_column_by_column(
    columns: list[list[str]], tmp_path: Path
) -> None:
    """The lines of a column belong together, whatever the order of the file."""
    text = page(rows_of(columns), tmp_path).text
    assert text == "\n\n".join(" ".join(column) for column in columns)


@pytest.mark.parametrize(
    "table",
    [
        [["Tea room", "Reading room", "Hall"], ["ground floor", "first floor", "cellar"], ["20", "35", "120"]],
        [
            ["libfoo1", "libfoo-dev", "libfoo-tools", "libfoo-doc"],
            ["any", "any", "any", "all"],
            ["the shared library", "its header files etc.", "the programs that use it", "how to use the library"],
        ],
    ],
    ids=["short cells", "sentences in the last column"],
)
def test_a_table_without_rules_keeps_its_rows(table: list[list[str]], tmp_path: Path) -> None:
    """Cells with a gap between them are rows, not columns of prose."""
    text = page(rows_of(table), tmp_path).text
    assert text.split("\n") == [" ".join(row) for row in zip(*table, strict=True)]


def field(kind: str, value: str, rect: str, more: str = "") -> str:
    return f"/FT /{kind} /T (f) /V {value} /Rect [{rect}] {more}"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ((field("Tx", "(Harbour Tools Ltd)", "200 695 400 712"),), "Tenant: Harbour Tools Ltd\nPets allowed:"),
        ((field("Btn", "/Yes", "200 675 215 690", "/AS /Yes"),), "Tenant:\nPets allowed: ☑"),
        ((field("Btn", "/Off", "200 675 215 690", "/AS /Off"),), "Tenant:\nPets allowed: ☐"),
        (
            (field("Tx", "(Berlin)", "60 600 200 615", "/TU (Place of signing)"),),
            "Tenant:\nPets allowed:\n\nPlace of signing: Berlin",
        ),
    ],
    ids=["text", "ticked", "not ticked", "named by the form alone"],
)
def test_the_values_of_a_form_are_read_with_their_labels(fields: tuple[str, ...], text: str, tmp_path: Path) -> None:
    """A filled form says what was filled in."""
    content = line(60, 700, "Tenant:") + line(60, 680, "Pets allowed:")
    assert page(content, tmp_path, fields).text == text


def test_a_signature_is_counted(tmp_path: Path) -> None:
    """A field that is not text is named as unread."""
    signature = "/FT /Sig /T (s) /Rect [200 600 300 640]"
    assert page(line(60, 700, "Signed:"), tmp_path, (signature,)).unread == {"form field": 1}


@pytest.mark.parametrize("bullet", ["\x95", "\x95 ", "\xb7 "])
def test_bullets_are_items_also_when_one_line_holds_several(bullet: str, tmp_path: Path) -> None:
    """Each point of a slide stands on its own line."""
    content = line(60, 700, f"{bullet}Recap") + line(60, 680, f"{bullet}Changes {bullet}Phase two")
    text = page(content, tmp_path).text
    wanted = "- Recap\n- Changes\n- Phase two" if bullet[0] == "\x95" else "· Recap\n· Changes · Phase two"
    assert text == wanted


class Turned(FPDF):
    """Two pages with a header, a page number, and a word across the page."""

    def header(self) -> None:
        self.set_font("helvetica", size=8)
        self.text(20, 10, "ACME Confidential")
        self.text(20, 287, f"Page {self.page_no()} of 2")
        self.set_font("helvetica", size=60)
        with self.rotation(45, x=100, y=150):
            self.text(70, 150, "DRAFT")
        self.set_font("helvetica", size=12)


def test_watermarks_and_running_lines_of_two_pages_do_not_cut_a_sentence(tmp_path: Path) -> None:
    """A sentence that goes on over the page is one sentence."""
    document = Turned()
    document.add_page()
    document.text(20, 30, "The rent is due on the third working")
    document.add_page()
    document.text(20, 30, "day of each month, by standing order.")
    made = read(bytes(document.output()), tmp_path)
    sentence = "The rent is due on the third working\nday of each month, by standing order."
    assert made.text == f"ACME Confidential\n\nPage 1 of 2\n\n{sentence}"
    assert made.unread == {"turned text": 2}


@pytest.mark.parametrize(
    ("written", "left_out"),
    [
        ([["Lot 11", "sold for 20", "to Ann"], ["Lot 12", "sold for 20", "to Bob"]], 0),
        ([["The hall has a stage.", "Rent: 11"], ["The barn has none.", "Rent: 12"]], 0),
        ([["Step 1"], ["Step 2"], ["Step 3"]], 2),
    ],
    ids=["top", "foot", "three pages"],
)
def test_a_line_that_differs_by_a_number_is_read_or_counted(
    written: list[list[str]], left_out: int, tmp_path: Path
) -> None:
    """Only the number of a page says nothing."""
    made = read(pages(*("".join(line(60, 700 - 60 * i, t) for i, t in enumerate(one)) for one in written)), tmp_path)
    said = [text for one in written for text in one]
    assert made.text.split("\n\n") == said[: len(said) - left_out]
    assert made.unread == ({"numbered running line": 1} if left_out else {})


def test_an_upright_watermark_is_counted_and_not_read(tmp_path: Path) -> None:
    """Large letters through which the text is seen are not part of it."""
    content = line(60, 700, "The rent is due.") + "q /G gs\n" + line(100, 400, "COPY", 90) + "Q\n"
    document = page(content, tmp_path)
    assert (document.text, document.unread) == ("The rent is due.", {"watermark": 1})


def raised(base: str, mark: str, rise: float, after: str = "") -> str:
    return f"BT /F 12 Tf 60 700 Td ({base}) Tj /F 8 Tf {rise} Ts ({mark}) Tj /F 12 Tf 0 Ts ({after}) Tj ET\n"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (raised("The mass is 10", "6", 4, " kg."), "The mass is 10^6 kg."),
        (raised("They hold 1:10.", "3", 4, " Then come others."), "They hold 1:10.^3 Then come others."),
        (raised("It covers 40 m", "2", 4, " of floor."), "It covers 40 m^2 of floor."),
        (line(60, 700, "20 m") + line(86.7, 704, "2", 7) + line(91.7, 700, "in all."), "20 m^2 in all."),
        (raised("The fee", "1", 4, " is due."), "The fee^1 is due."),
        (raised("Binary 10", "2", -2, " is two."), "Binary 10_2 is two."),
        (raised("Drink H", "2", -2, "O."), "Drink H2O."),
        (raised("Take ", "1", 4, "/2 cup."), "Take 1/2 cup."),
        (
            line(60, 700, "Take 2") + line(97, 705, "1", 8) + line(97, 695, "2", 8) + "96 703 m 103 703 l S\n"
            + line(106, 700, "cups."),
            "Take 2 1/2 cups.",
        ),
    ],
    ids=["power", "full stop", "unit", "near word", "footnote", "base", "formula", "slash", "stacked"],
)  # fmt: skip
def test_raised_digits_and_fractions_are_not_read_as_other_numbers(content: str, text: str, tmp_path: Path) -> None:
    """Ten to the sixth is not 106, and a half is not 12."""
    assert page(content, tmp_path).text == text


def test_a_price_with_a_line_through_it_is_counted_and_not_read(tmp_path: Path) -> None:
    """An underlined word stays."""
    content = line(60, 700, "The ticket costs 30 25 euros.") + "149 704 m 162 704 l S 60 698 m 160 698 l S\n"
    document = page(content, tmp_path)
    assert document.text == "The ticket costs 25 euros."
    assert document.unread == {"struck passage": 1}


def test_images_and_pages_without_text_are_counted(tmp_path: Path) -> None:
    """A page that is only a picture is a scanned page; small ornaments do not count."""
    image, ornament = "q 100 0 0 100 60 300 cm /I Do Q\n", "q 5 0 0 5 60 300 cm /I Do Q\n"
    made = read(pages(line(60, 700, "Text.") + image + ornament, image), tmp_path)
    assert made.unread == {"image": 1, "scanned page": 1}


def test_each_line_has_its_box_on_its_page(tmp_path: Path) -> None:
    """A viewer can draw what is quoted: the lines begin where the boxes say, in the PDF's coordinates."""
    made = read(pages(line(60, 700, "One is here."), line(90, 500, "Two is") + line(90, 486, "here too.")), tmp_path)
    ends = [at.start for at in made.lines[1:]] + [len(made.text)]
    texts = [made.text[at.start : end].strip() for at, end in zip(made.lines, ends, strict=True)]
    assert texts == ["One is here.", "Two is", "here too."]
    assert [(at.page, at.x0) for at in made.lines] == [(1, 60), (2, 90), (2, 90)]
    assert all(482 <= at.y0 <= y <= at.y1 <= 514 for at, y in zip(made.lines[1:], (500, 486), strict=True))


def test_citations_findings_and_hits_have_the_boxes_of_their_lines(pipeline: Pipelines, tmp_path: Path) -> None:
    """An answer, an audit and a retriever say where on the page their quotation stands."""
    folder = tmp_path / "shop"
    folder.mkdir()
    for name, days in (("policy", 30), ("leaflet", 14)):
        said = (
            line(60, 700, "The shop.") + line(90, 500, "Goods may be returned within") + line(90, 486, f"{days} days.")
        )
        (folder / f"{name}.pdf").write_bytes(pages(said))
    rag = pipeline()
    rag.ingest_for_audit(folder)
    places = [(1, 90, 497), (1, 90, 483)]
    location = audit_sarif(rag.audit(corpus="shop"), tmp_path)["runs"][0]["results"][0]["locations"][0][
        "physicalLocation"
    ]
    assert [(r["page"], r["x0"], r["y0"]) for r in location["region"]["properties"]["regions"]] == places
    question = "Within how many days may goods be returned?"
    quoted = rag.ask(question, corpus="shop").answer.sentences[0].evidence[0]
    assert [(r.page, r.x0, r.y0) for r in quoted.regions] == places
    hits = DiscoRetriever(rag=rag, corpus="shop").invoke(question)
    hit = next(hit for hit in hits if hit.page_content.startswith("Goods"))
    assert [(r["page"], r["x0"], r["y0"]) for r in hit.metadata["regions"]] == places
    stored = rag.backends.store.document(rag.scope(corpus="shop"), hit.metadata["doc_id"])
    assert stored.lines == read(Path(stored.uri).read_bytes(), tmp_path).lines
    assert len(stored.lines) == 3
