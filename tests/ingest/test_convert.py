"""HTML, CSV and Word files as Markdown."""

import tracemalloc
import zipfile
from io import BytesIO
from pathlib import Path

import docx
import pytest
from docx.document import Document as DocxDocument
from hypothesis import example, given
from hypothesis import strategies as st

from discorag.ingest.convert.converted import Converted
from discorag.ingest.convert.formats import convert
from discorag.ingest.convert.html import from_html
from discorag.ingest.loaders import load
from discorag.ingest.segment.blocks import blocks
from discorag.ingest.segment.headings import build_hierarchy
from discorag.schema.document import Document, Kind, Markup
from discorag.schema.errors import DecodingError, InputError

PATH = Path("page.html")


def text_of(html: str | bytes) -> str:
    return from_html(html.encode() if isinstance(html, str) else html, PATH).text


def test_what_is_not_the_page_s_text_is_dropped() -> None:
    html = """<html><head><title>T</title><style>p {}</style></head><body><nav><a href="/">Home</a></nav>
    <script>var x = 1</script><p hidden>draft</p><div role="navigation">Menu</div><p>Tides rise.</p></body></html>"""
    assert text_of(html) == "Tides rise."


@pytest.mark.parametrize(
    "html",
    [
        '<p style="color: red; DISPLAY : none !important">secret</p>',
        "<div style='visibility:hidden'><p>secret</p></div>",
        "<p style='visibility: collapse'>secret</p>",
        "<style>.a, .b { display: none } p { color: red }</style><p class='b'>secret</p>",
        "<style>#s { display: none } p { display: block }</style><p id=s>secret</p>",
        "<style>/* p {} */ div > p { visibility: hidden; }</style><div><p>secret</p></div>",
        "<style>p { display: none !important }</style><p style='display: block'>secret</p>",
        "<style>p { display: none</style><p>secret</p>",
        "<template><p>secret</p></template>",
        "<!-- secret --><!--[if IE]>secret<![endif]-->",
        "<p hidden>secret</p>",
        "<h1 style='display:none'>secret</h1>",
    ],
)
def test_what_the_page_hides_is_left_out(html: str) -> None:
    page = from_html(f"<body>{html}<div>Tides rise.</div></body>".encode(), PATH)
    assert (page.text, page.title) == ("Tides rise.", "")


@pytest.mark.parametrize(
    "html",
    [
        "<p style='display: block'>Tides rise.</p>",
        "<style>.tab { display: none } .tab.active { display: block }</style><p class='tab active'>Tides rise.</p>",
        "<style>p { display: none } p { display: inline }</style><p>Tides rise.</p>",
        "<style>p { display: none }</style><p style='display: block'>Tides rise.</p>",
        "<style media=print>p { display: none }</style><p>Tides rise.</p>",
        "<style>@media print { p { display: none } }</style><p>Tides rise.</p>",
        "<style>body { display: none !important }</style><p>Tides rise.</p>",
        "<style>p::before, p:no-such { display: none } ]]> {{{</style><p>Tides rise.</p>",
        "<p style='display: {'>Tides rise.</p>",
    ],
)
def test_what_the_page_shows_stays(html: str) -> None:
    assert text_of(html) == "Tides rise."


def test_links_keep_their_text_and_emphasis_loses_its_markers() -> None:
    html = '<p>The <b>wag</b>gle <a href="https://bees.example/a_b">dance_1</a> <em>is</em> 10<sup>3</sup> m off.</p>'
    assert text_of(html) == "The waggle dance_1 is 10^3 m off."


def test_title_is_the_page_s_title_else_its_first_heading() -> None:
    assert from_html(b"<title> A\n &amp; B </title><h1>C</h1>", PATH).title == "A & B"
    assert from_html(b"<p>x<h1>C <i>d</i></h1>", PATH).title == "C d"
    assert from_html(b"<p>x", PATH).title == ""


@pytest.mark.parametrize(
    ("html", "encoding"),
    [
        ('<meta charset="windows-1252"><p>café</p>', "cp1252"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1"><p>café’s</p>', "cp1252"),
        ('<meta charset="gb2312"><p>绿茶</p>', "gb18030"),
        ('<meta charset="utf-7-like"><p>café 绿茶</p>', "utf-8"),
        ("<p>café 绿茶</p>", "utf-8"),
        ("<p>café 绿茶</p>", "utf-8-sig"),
        ("<p>café 绿茶</p>", "utf-16"),
    ],
)
def test_the_declared_encoding_is_honoured(html: str, encoding: str) -> None:
    assert text_of(html.encode(encoding)) == html.split("<p>")[1].removesuffix("</p>")


@pytest.mark.parametrize("data", [b"<p>\xc4\xe0</p>", b"\x89PNG\x00\x00", b"<meta charset=nonsense><p>\xc4\xe0</p>"])
def test_bytes_in_no_declared_encoding_are_refused_with_what_to_do(data: bytes) -> None:
    with pytest.raises(DecodingError, match=r"page\.html.*utf-8.*<meta charset>"):
        text_of(data)


def test_code_is_a_fenced_block_even_if_it_holds_fences() -> None:
    html = (
        '<p>Run:</p><pre><code class="language-python">def f(x):\n\n    return x_1  # y\n```\n</code></pre><p>Done.</p>'
    )
    assert text_of(html) == "Run:\n\n````python\ndef f(x):\n\n    return x_1  # y\n```\n````\n\nDone."


TABLES = [
    "<table><tr><td>Year<td>Range<tr><td>2020<td>3|4</table>",
    "<table><colgroup><col></colgroup><tbody><tr><th>Year<th>Range<tr><td>2020<td><p>3|4</p></tbody></table>",
    "<table><thead><tr><th>Year</th><th>Range</th></tr></thead><tbody><tr><td>2020</td><td>3|4</td></tr></table>",
]


@pytest.mark.parametrize("table", TABLES)
def test_tables_become_pipe_tables_however_they_are_marked_up(table: str) -> None:
    text = text_of(f"<p>Before.</p>{table}<p>After.</p>")
    assert text == "Before.\n\n| Year | Range |\n| --- | --- |\n| 2020 | 3\\|4 |\n\nAfter."
    document = Document(uri="u", title="t", text=text, markup=Markup.INLINE)
    assert [b.by_line for b in blocks(document)] == [False, True, False]


def test_tables_that_only_lay_out_the_page_are_dissolved() -> None:
    html = f"<table><tr><td><p>Left.</p></td><td>{TABLES[0]}</td></tr></table>"
    assert text_of(html) == "Left.\n\n| Year | Range |\n| --- | --- |\n| 2020 | 3\\|4 |"


def test_words_that_look_like_markup_stay_words() -> None:
    text = text_of("<p># not a heading</p><p>~~~</p><p>x<br>---</p><h2>Real</h2><p>End.</p>")
    hierarchy = build_hierarchy(Document(uri="u", title="t", text=text, markup=Markup.INLINE))
    assert [n.heading for _, n in hierarchy.of_kind(Kind.SECTION)] == ["Real"]
    assert not any(n.by_line for _, n in hierarchy.of_kind(Kind.PARAGRAPH))


def test_absurd_nesting_is_refused_and_common_nesting_is_not() -> None:
    assert text_of("<div>" * 150 + "deep" + "</div>" * 150) == "deep"
    with pytest.raises(DecodingError, match="nested too deeply"):
        text_of("<div><blockquote>" * 2000 + "deep")


PIECES = st.sampled_from((
    "<p>", "</p>", "<table>", "<tr>", "<td>", "<td colspan=999999999>", "<th>", "<caption>", "</table>", "<pre>",
    "</pre>", "<ul><li>", "<h2>", "</h2>", "<b>", "<br>", "<a href=x>", "Tides rise.", "绿茶", "#", "|", "```", "\n",
    "&amp;", "<!-- c -->", "<?xml?>", "\x0b",
))  # fmt: skip


@given(st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=200), st.binary(max_size=200)))
@example("<td colspan=999999999>Tides rise.<td colspan=x>")
def test_any_bytes_give_text_or_an_input_error_and_always_the_same(data: str | bytes) -> None:
    raw = data.encode() if isinstance(data, str) else data
    try:
        made = from_html(raw, PATH)
    except InputError:
        return
    assert made == from_html(raw, PATH)
    assert made.text == made.text.strip("\n")


def made(name: str, data: str | bytes) -> Converted:
    return convert(data.encode() if isinstance(data, str) else data, Path(name), max_bytes=1_000_000)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", 'place,range\nVenice,1\n"Bay of\nFundy",16\n'),
        ("a.csv", "place;range\r\n\r\nVenice;1\r\nBay of Fundy;16"),
        ("a.csv", "place|range\nVenice|1\nBay of Fundy|16\n"),
        ("a.TSV", "place\trange\nVenice\t1\nBay of Fundy\t16\n"),
    ],
)
def test_a_table_is_read_whatever_its_delimiter_quotes_and_line_ends(name: str, text: str) -> None:
    assert made(name, text).text == "| place | range |\n| --- | --- |\n| Venice | 1 |\n| Bay of Fundy | 16 |"


def test_the_delimiter_is_what_cuts_the_rows_alike_not_what_is_frequent() -> None:
    text = made("a.csv", "what;price\nsalt;1,2\ntea, green, loose;1,5\n").text
    assert text.splitlines()[-1] == "| tea, green, loose | 1,5 |"


def test_rows_of_other_lengths_keep_their_cells_under_the_first_columns() -> None:
    assert made("a.csv", "a,b\n1\n2,3,4\n5,6").text.splitlines() == [
        "| a | b |  |",
        "| --- | --- | --- |",
        "| 1 |",
        "| 2 | 3 | 4 |",
        "| 5 | 6 |",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            'a,b\n1,2\n3,"open\n4,5\n',
            r"t\.csv is not a valid CSV table: unexpected end.*begins at line 3.*quotation marks",
        ),
        ('a,b\n"x" y,2\n', r"begins at line 2"),
        ("a,b\n" + "x" * 200_000 + ",2\n", r"field larger than field limit.*line 2"),
    ],
)
def test_a_broken_table_is_an_error_that_names_the_row(text: str, says: str) -> None:
    with pytest.raises(DecodingError, match=says):
        made("t.csv", text)


def test_a_table_that_says_nothing_is_refused_as_empty(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("\n,\n", encoding="utf-8")
    with pytest.raises(InputError):
        load(tmp_path / "a.csv", max_bytes=1000)


WORD = Path("notes.docx")
LIMIT = 10_000_000


def word_file() -> bytes:
    document = docx.Document()
    document.add_heading("Tides", 0)
    document.add_heading("Range", 1)
    line = document.add_paragraph("The tide ")
    line.add_run("ri").bold = True
    line.add_run("ses.")
    document.add_paragraph("spring", style="List Bullet")
    document.add_paragraph("neap", style="List Bullet")
    table = document.add_table(2, 2)
    for i, text in enumerate(["Place", "Range", "Fundy", "16 m"]):
        table.cell(i // 2, i % 2).text = text
    document.add_paragraph("for x in y:", style="macro")
    document.add_paragraph("    print(x)", style="macro")
    document.add_paragraph("The end.")
    return saved(document)


def saved(document: DocxDocument) -> bytes:
    buffer = BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def zipped(parts: dict[str, str]) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_headings_lists_tables_and_code_keep_their_form() -> None:
    assert convert(word_file(), WORD, max_bytes=LIMIT).text == (
        "# Tides\n\n# Range\n\nThe tide rises.\n\n- spring\n- neap\n\n"
        "|  |  |\n| --- | --- |\n| Place | Range |\n| Fundy | 16 m |\n\n"  # one row of figures names nothing
        "```\nfor x in y:\n    print(x)\n```\n\nThe end."
    )


def test_a_word_file_is_titled_by_its_first_heading_else_its_name(tmp_path: Path) -> None:
    path = tmp_path / "notes.docx"
    path.write_bytes(word_file())
    assert load(path, max_bytes=LIMIT).title == "Tides"
    document = docx.Document()
    document.add_paragraph("Text.")
    path.write_bytes(saved(document))
    assert load(path, max_bytes=LIMIT).title == "notes"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (zipped({"xl/workbook.xml": "<workbook/>"}), "damaged, or is not a Word document"),
        (zipped({"word/document.xml": "<broken"}), "damaged, or is not a Word document"),
        (b"\xd0\xcf\x11\xe0" + bytes(600), "locked by a password"),
    ],
    ids=["spreadsheet", "bad xml", "locked"],
)
def test_what_is_no_word_document_says_so(data: bytes, message: str) -> None:
    with pytest.raises(DecodingError, match=rf"notes\.docx is .*{message}") as error:
        convert(data, WORD, max_bytes=LIMIT)
    assert error.value.hint


def with_part(name: str, content: bytes) -> bytes:
    buffer = BytesIO(word_file())
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(name, content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def test_every_part_counts_towards_the_size() -> None:
    with pytest.raises(InputError, match=r"notes\.docx has 12\.\d MB when it is unpacked; the limit is 10"):
        convert(with_part("word/media/image1.png", bytes(12_000_000)), WORD, max_bytes=LIMIT)


def test_a_part_that_lies_about_its_length_is_not_unpacked_beyond_it() -> None:
    data = with_part("customXml/item.bin", bytes(50_000_000))
    at = data.rindex(b"PK\x01\x02")  # its entry in the directory of the zip
    lying = data[: at + 24] + (1000).to_bytes(4, "little") + data[at + 28 :]
    tracemalloc.start()
    with pytest.raises(DecodingError, match="damaged"):
        convert(lying, WORD, max_bytes=LIMIT)
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def test_hidden_text_is_left_out() -> None:
    document = docx.Document()
    line = document.add_paragraph("The tide ")
    line.add_run("always sinks ").font.hidden = True
    line.add_run("rises").font.hidden = False
    line.add_run(".")
    assert convert(saved(document), WORD, max_bytes=LIMIT).text == "The tide rises."
