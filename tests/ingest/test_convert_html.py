from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.ingest.convert.html import from_html
from discorag.ingest.segment.blocks import blocks
from discorag.ingest.segment.headings import build_hierarchy
from discorag.schema.document import Document, Kind
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


@pytest.mark.parametrize("data", [b"<p>caf\xe9</p>", b"\x89PNG\x00\x00", b"<meta charset=nonsense><p>caf\xe9"])
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
    document = Document(uri="u", title="t", text=text, media_type="text/markdown")
    assert [b.by_line for b in blocks(document)] == [False, True, False]


def test_tables_that_only_lay_out_the_page_are_dissolved() -> None:
    html = f"<table><tr><td><p>Left.</p></td><td>{TABLES[0]}</td></tr></table>"
    assert text_of(html) == "Left.\n\n| Year | Range |\n| --- | --- |\n| 2020 | 3\\|4 |"


def test_words_that_look_like_markup_stay_words() -> None:
    text = text_of("<p># not a heading</p><p>~~~</p><p>x<br>---</p><h2>Real</h2><p>End.</p>")
    hierarchy = build_hierarchy(Document(uri="u", title="t", text=text, media_type="text/markdown"))
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
def test_any_bytes_give_text_or_an_input_error_and_always_the_same(data: str | bytes) -> None:
    raw = data.encode() if isinstance(data, str) else data
    try:
        made = from_html(raw, PATH)
    except InputError:
        return
    assert made == from_html(raw, PATH)
    assert made.text == made.text.strip("\n")


@pytest.mark.parametrize("start", ["<?xml ", "<?xml?><?xml?>", "<?xml<?xml "])
def test_a_broken_xml_declaration_is_no_warning_and_no_loss(start: str) -> None:
    assert from_html(f"{start}<p>Tides rise.</p>".encode(), PATH).text == "Tides rise."
