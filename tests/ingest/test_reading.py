import html
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.ingest.loaders import Source, load
from discorag.ingest.segment.chunks import whole_chunk
from discorag.ingest.segment.headings import build_hierarchy
from discorag.ingest.segment.reading import has_verb, quote, quote_row, strip_markdown
from discorag.ingest.segment.sentence_table import sentences_in
from discorag.schema.document import Markup, UnitKind

NASTY = (
    "Every page that holds <iframe>s and <script> tags is refused by the filter.",
    "Install the library with requests[security] and pin it below version 3.",
    "The call f(*args, **kwargs) hands all arguments to the function below it.",
    "Set the names __init__ and snake_case_name before the class is read again.",
    "It costs $5 here and $6 there, and \\emph{nothing} of that is given back.",
    "Others found the same [12] (see BIBREF3) and cited [1](http://a.b/c) for it.",
    "The `code` of a term like ``Tar'' is n't looked up , as far as we know .",
    "The mark # begins a comment & a line that ends with \\\\ goes on below it.",
    "A tilde ~~like this~~ and a pipe a | b do not mean anything at all here.",
    "He paused {vocalsound} before he said that cork costs eleven euros today.",
    "The type Map<String, List<Integer>> is what the parser gives back to you.",
    "An entity such as &lt;b&gt; or &amp; stays as it was typed by its author.",
)
"""Sentences in which some reader of markup would see its own."""


@pytest.mark.parametrize("suffix", [".txt", ".rst"])
def test_plain_text_is_quoted_character_for_character(tmp_path: Path, suffix: str) -> None:
    assert quotes(tmp_path / f"notes{suffix}", "\n\n".join(NASTY)) == list(NASTY)


def test_markdown_is_quoted_without_its_markup_and_with_what_is_escaped_or_code(tmp_path: Path) -> None:
    text = "\n\n".join(re.sub(r"([\\`*_\[\]<>&~$|])", r"\\\1", sentence) for sentence in NASTY)
    assert quotes(tmp_path / "notes.md", text) == list(NASTY)
    marked = (
        "The **filter** refuses `<iframe>s` and [all scripts](http://a.b/c_(d)) _at once_,\n"
        "as <https://a.b> says &amp;<!-- why? -->![moon](m.png) \\*proves\\*.\n"
    )
    assert quotes(tmp_path / "notes.md", marked) == [
        "The filter refuses <iframe>s and all scripts at once, as https://a.b says & *proves*."
    ]


def test_a_converted_page_is_quoted_as_a_reader_sees_it(tmp_path: Path) -> None:
    page = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in NASTY)
    assert quotes(tmp_path / "page.html", page) == list(NASTY)
    page = (
        "<p>&gt; 5 is the <b>&gt; 6</b> of <code>&lt;iframe&gt;s</code> in <code># a</code> <i>*b*</i>, so to say.</p>"
    )
    assert quotes(tmp_path / "page.html", page) == ["> 5 is the > 6 of <iframe>s in # a *b*, so to say."]


def quotes(path: Path, text: str) -> list[str]:
    """The units of a document as an answer shows them."""
    path.write_text(text, encoding="utf-8")
    document = load(Source(path, path.name), max_bytes=10**6)
    return [unit.body for unit in sentences_in([whole_chunk(document, build_hierarchy(document))])]


def test_lines_are_joined() -> None:
    assert quote("The re\u2010\nsult was well-\nknown\n  to all.") == "The result was well-known to all."


@pytest.mark.parametrize("mark", ["- ", "2. ", "(a) ", "* [x] ", "三、"])
def test_the_mark_of_an_item_is_not_quoted(mark: str) -> None:
    assert quote(f"{mark}Drop *old* rivets", UnitKind.ITEM) == "Drop *old* rivets"


def test_what_a_model_writes_loses_its_markup() -> None:
    assert strip_markdown("The **moon** [pulls](x) at `__init__`.") == "The moon pulls at __init__."


def test_code_keeps_its_backticks() -> None:
    assert quote("```sh\necho `date`\nls\n```", UnitKind.CODE, markup=Markup.INLINE) == "`` echo `date` `` `ls`"


@pytest.mark.parametrize(
    ("row", "header", "expected"),
    [
        ("| Ada | 170 | |", "| Name | Height | Note |", "Ada, Height: 170."),
        ("Revenue   $   2,018   ( 5 )  %", "2023   2022", "Revenue, 2023: $2,018; 2022: ( 5 )%."),
        ("Revenue      2,018", "(in millions)     2023", "Revenue (in millions), 2023: 2,018."),
        ("Oslo,2020,697010", "city,year,people", "Oslo, year: 2020; people: 697010."),
        ("|收入|20|20|", "|项目|本期|本期|", "收入，本期：20。"),
        ("-q     say nothing", "", "-q: say nothing."),
    ],
)
def test_a_row_is_read_with_its_headers(row: str, header: str, expected: str) -> None:
    assert quote_row(row, header) == expected


@given(
    st.text(st.sampled_from("a B.,[](){}|*_`$\\<>!#-\n1é的"), max_size=80),
    st.sampled_from(UnitKind),
    st.sampled_from(Markup),
)
def test_whatever_it_is_it_is_one_line(text: str, kind: UnitKind, markup: Markup) -> None:
    assert "\n" not in quote(text, kind, text, markup)


@pytest.mark.parametrize(
    "text", ["The miller mends the wheel.", "Mend the wheel in spring.", "I think so.", "Was it mended?", "水车转动。"]
)
def test_sentences_have_a_finite_verb(text: str) -> None:
    assert has_verb(text)


@pytest.mark.parametrize(
    "text", ["Wheel of the mill.", "Repairs and costs of wheels", "(in thousands, but for mills)", "5."]
)
def test_headings_labels_and_loose_ends_have_none(text: str) -> None:
    assert not has_verb(text)
