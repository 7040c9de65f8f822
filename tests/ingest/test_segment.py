"""Layouts, headings and units of a text, and how a unit is quoted."""

import html
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.ingest.loaders import load
from discorag.ingest.segment.blocks import blocks
from discorag.ingest.segment.chunks import whole_chunk
from discorag.ingest.segment.headings import build_hierarchy
from discorag.ingest.segment.layout import lines_of, speakers
from discorag.ingest.segment.reading import quote, quote_row, strip_markdown
from discorag.ingest.segment.sentence_table import sentences_in
from discorag.ingest.segment.verbs import has_verb
from discorag.schema.document import Document, Hierarchy, Kind, Markup, UnitKind
from discorag.text.sentences import evenly_wrapped
from tests.text.layouts import SAMPLES, Sample


def document(sample: Sample) -> Document:
    return Document(uri="u", title="t", text=sample.text, markup=Markup.INLINE if sample.markdown else Markup.NONE)


def units(sample: Sample) -> list[tuple[UnitKind, str]]:
    found = build_hierarchy(document(sample)).of_kind(Kind.SENTENCE)
    return [(node.unit, node.span.of(sample.text)) for _, node in found]


def of(text: str, *, markdown: bool = False) -> list[tuple[str, str]]:
    return [(str(kind), unit) for kind, unit in units(Sample(text, {}, markdown))]


def hierarchy_of(text: str, *, markdown: bool = False) -> Hierarchy:
    return build_hierarchy(document(Sample(text, {}, markdown)))


@pytest.mark.parametrize("name", SAMPLES)
def test_units_have_the_kinds_that_their_layout_gives_them(name: str) -> None:
    found = units(SAMPLES[name])
    for opening, kind in SAMPLES[name].kinds.items():
        assert (opening, next((k for k, text in found if text.startswith(opening)), None)) == (opening, kind)


@pytest.mark.parametrize("name", SAMPLES)
def test_no_unit_crosses_the_border_of_a_part(name: str) -> None:
    parts = [part.span for block in blocks(document(SAMPLES[name])) for part in block.parts]
    for _, node in build_hierarchy(document(SAMPLES[name])).of_kind(Kind.SENTENCE):
        assert sum(part.contains(node.span) for part in parts) == 1


def test_code_between_fences_is_one_unit_and_a_long_one_is_cut_between_its_lines() -> None:
    short, long = "```\na = 1. B\n\nc = 2\n```", "```\n" + "value = other(x)\n" * 200 + "```"
    assert of(f"{short}\n", markdown=True) == [("code", short)]
    pieces = [unit for _, unit in of(long, markdown=True)]
    assert len(pieces) > 1
    assert "\n".join(pieces) == long
    assert all(len(piece) <= 1000 for piece in pieces)


def test_wide_lines_of_even_length_are_one_paragraph_and_those_of_a_list_are_not() -> None:
    [sentence, *_] = units(SAMPLES["wide lines"])
    assert sentence[1].count("\n") == 1
    wide = "tide " * 29 + "tides"
    assert evenly_wrapped([wide, wide[:-2], wide, "end"])
    assert not evenly_wrapped([wide, "High water", wide, "end"])


def test_labels_are_speakers_in_a_dialogue_only() -> None:
    def who(text: str) -> frozenset[str]:
        return speakers(lines_of(text, 0, len(text)))

    talk = "Ada: One.\nBo: Two.\nAda: Three.\nBo: Four.\n"
    assert who(talk) == {"Ada", "Bo"}
    assert who(talk + "A long report follows without any labels.\n\n" * 20) == frozenset()
    assert who("Note: be careful.\nNote: be quick.\nNote: be kind.\nNote: be off.\n") == frozenset()


def test_justified_prose_is_no_table() -> None:
    text = (
        "The  harbour office  keeps a record of  every vessel\nthat enters,  and of  the cargo which  it declares on\n"
        "arrival,  together with the name of  its owner  and\nthe port from  which it  sailed on  its last  voyage.\n"
    )
    assert {kind for kind, _ in of(text)} == {"prose"}


def test_a_row_of_words_is_a_header_only_with_nothing_over_the_first_column() -> None:
    rows = "Suffix   Units    Bytes\nb        Blocks     512\nc        Bytes     SIZE\nk        Kilo      1024\n"
    assert [kind for kind, _ in of(rows)] == ["header", "row", "row", "row"]
    again = "Year      2023     2022\nSold       518      490\n          Iron     Cork\nBought      12       40\n"
    assert [kind for kind, _ in of(again)] == ["header", "row", "header", "row"]


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("NAME\nweld - join files of iron\nEXIT STATUS\nWeld exits 0 on success.\n", ["NAME", "EXIT STATUS"]),
        (
            "Termination\nYou may not convey a work except as this License\nsays. Any attempt to do so is void.\n\n"
            "Licences of others\nEach time you convey a work, the one who gets it gets\n"
            "a license & may run it, as long as he likes.\n",
            ["Termination", "Licences of others"],
        ),
        (
            "Present: Ada Berg, Bo Lind\nOpening\nAda Berg: We begin with the budget.\nBo Lind: It is small.\n"
            "Ada Berg: That is less than before.\nThe new quay\nBo Lind: We build it in spring.\n",
            ["Opening", "The new quay"],
        ),
    ],
)
def test_a_title_right_above_its_text_is_not_a_part_of_it(text: str, titles: list[str]) -> None:
    assert [unit for kind, unit in of(text) if kind == "heading"] == titles


@pytest.mark.parametrize(
    "text",
    [
        "Tides\nof the moon\n",
        "The harbour of Lanse\n51 Franklin Street, Fifth Floor\nBoston, MA 02110\n",
        "The board of Smith &\nWesson met in May and in June to say what should be done about it all, and did.\n",
    ],
)
def test_short_first_lines_are_no_titles(text: str) -> None:
    assert "heading" not in {kind for kind, _ in of(text)}


def leads(text: str, *, markdown: bool = False) -> dict[str, str | None]:
    found = hierarchy_of(text, markdown=markdown).of_kind(Kind.SENTENCE)
    return {n.span.of(text): None if n.lead is None else text[n.lead :].split("\n", maxsplit=1)[0] for _, n in found}


def test_what_introduces_a_unit_is_its_lead_until_a_heading() -> None:
    found = leads(SAMPLES["nested lists"].text, markdown=True)
    assert found["1. food"] == "Bring:"
    assert found["- bread"] == found["Wrap it well."] == "1. food"
    assert found["2. water"] == "Bring:"
    assert leads(SAMPLES["table"].text, markdown=True)["| Bo | 181 |"] == "| Name | Height |"
    code = SAMPLES["readme"].text
    assert leads(code, markdown=True)[code[code.index("```") :].strip()] == "Install it with pip:"
    assert str(leads(SAMPLES["meeting"].text)["Plastic costs four."]).startswith("Ada Berg: Cork")
    assert leads("Bring:\n\n# Later\n\n- bread\n", markdown=True)["- bread"] is None


def test_headings_by_layout_nest_by_indentation_and_end_with_it() -> None:
    text = SAMPLES["man page"].text + "       Other text.\n"
    hierarchy = hierarchy_of(text)
    path = {n.span.of(text)[:9]: hierarchy.headings(i) for i, n in hierarchy.of_kind(Kind.SENTENCE)}
    assert path["join them"] == ("OPTIONS", "-f, --force")
    assert path["say nothi"] == ("OPTIONS", "-q")
    assert path["rivet(1)\n"[:9].strip()] == ("SEE ALSO",)


def test_values_below_a_label_are_items_under_it() -> None:
    text = "RUNNING\n   Exit status:\n       0      if all holds,\n\n       1      if a rivet is missing.\n"
    hierarchy = hierarchy_of(text)
    sentences = hierarchy.of_kind(Kind.SENTENCE)
    items = {n.span.of(text): hierarchy.headings(i) for i, n in sentences if n.unit is UnitKind.ITEM}
    under = ("RUNNING", "Exit status")
    assert items == {"0      if all holds,": under, "1      if a rivet is missing.": under}


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        (
            " 1. Is it\n    free?\n\n    Yes.\n\n 2. It fails.\n\n    So it does.\n\n 3. Why?\n\n    No one knows.\n",
            {"Yes.": "1. Is it free?", "So it does.": "2. It fails.", "No one knows.": "3. Why?"},
        ),
        (
            "Q: Is it free?\n\nA:  Yes. It is.\n\nQ: Why?\nA:  No one knows.\n",
            {"Yes.": "Q: Is it free?", "It is.": "Q: Is it free?", "No one knows.": "Q: Why?"},
        ),
        (
            "COSTS\n    Is it free?\n        Yes.\n\n    Why?\n        Ask.\n\n    Other text.\n",
            {"Yes.": "Is it free?", "Ask.": "Why?", "Other text.": "COSTS"},
        ),
        ("Is it free?\n===========\n\nYes.\n", {"Yes.": "Is it free?"}),
        ("Q: Is it free?\n\nYes.\n", {"Yes.": None}),
        (
            "Q: Is it free?\nA: Yes. It is.\nQ: Why?\nA: No one knows.\n",
            {"Yes.": "Q: Is it free?", "It is.": "Q: Is it free?", "No one knows.": "Q: Why?"},
        ),
        (
            "1. How?\n\nIn steps.\n\n1. Ask.\n\n2. Wait.\n\n2. Why?\n\nNo one knows.\n\n3. When?\n\nNow.\n",
            {"In steps.": "1. How?", "1. Ask.": "1. How?", "2. Wait.": "1. How?", "Now.": "3. When?"},
        ),
        ("Is it free? It is.\n\n1. Is it?\n2. Why?\n\nSo it goes.\n", {"So it goes.": None}),
    ],
)
def test_questions_of_plain_text_are_headings_of_their_answers(text: str, headings: dict[str, str | None]) -> None:
    hierarchy = hierarchy_of(text)
    found = {n.span.of(text): hierarchy.headings(i) for i, n in hierarchy.of_kind(Kind.SENTENCE)}
    assert {answer: next(iter(found[answer][-1:]), None) for answer in headings} == headings


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


def test_plain_text_is_quoted_character_for_character(tmp_path: Path) -> None:
    assert quotes(tmp_path / "notes.txt", "\n\n".join(NASTY)) == list(NASTY)


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
    document = load(path, max_bytes=10**6)
    return [unit.body for unit in sentences_in([whole_chunk(document, build_hierarchy(document))])]


def test_lines_are_joined_markup_of_a_model_goes_and_code_keeps_its_backticks() -> None:
    assert quote("The re\u2010\nsult was well-\nknown\n  to all.") == "The result was well-known to all."
    assert strip_markdown("The **moon** [pulls](x) at `__init__`.") == "The moon pulls at __init__."
    assert quote("```sh\necho `date`\nls\n```", UnitKind.CODE, markup=Markup.INLINE) == "`` echo `date` `` `ls`"


@pytest.mark.parametrize("mark", ["- ", "2. ", "(a) ", "三、"])
def test_the_mark_of_an_item_is_not_quoted(mark: str) -> None:
    assert quote(f"{mark}Drop *old* rivets", UnitKind.ITEM) == "Drop *old* rivets"


@pytest.mark.parametrize(
    ("row", "header", "expected"),
    [
        ("| Ada | 170 | |", "| Name | Height | Note |", "Ada, Height: 170."),
        ("Revenue   $   2,018   ( 5 )  %", "2023   2022", "Revenue, 2023: $2,018; 2022: ( 5 )%."),
        ("Revenue      2,018", "(in millions)     2023", "Revenue (in millions), 2023: 2,018."),
        ("Oslo,2020,697010", "city,year,people", "Oslo, year: 2020; people: 697010."),
        ("|收入|20|20|", "|项目|本期|本期|", "收入，本期：20；本期：20。"),
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


def texts(text: str, kind: Kind, *, markdown: bool = True) -> list[str]:
    return [node.span.of(text) for _, node in hierarchy_of(text, markdown=markdown).of_kind(kind)]


def sections(hierarchy: Hierarchy) -> list[tuple[str, ...]]:
    return [hierarchy.headings(i) for i, _ in hierarchy.of_kind(Kind.SECTION)]


LINES = st.sampled_from((
    "# One", "## Two *b*", "#", "Text. More text", "lower case", "===", "---", "- item", "  - nested", "1. first",
    "> quote", "> # in quote", "```", "~~~ python", "    code", "| a | b |", "|---|---|", "[a]: http://b", "<div>",
    "</div>", "<!-- c", "-->", "", "", " ", "\t", "你好。再见！", "\x0b", "\u3000", "a\rb", "\x00", "$$", "x\\",
    *(line for sample in SAMPLES.values() for line in sample.text.split("\n")),
))  # fmt: skip


@given(st.one_of(st.text(max_size=200), st.lists(LINES, max_size=30).map("\n".join)).filter(bool), st.booleans())
def test_every_visible_character_lies_in_exactly_one_sentence_and_nodes_nest(text: str, markdown: bool) -> None:
    at, nodes = 0, hierarchy_of(text, markdown=markdown).nodes
    for i, node in enumerate(nodes):
        children = [n for n in nodes if n.parent == i]
        if node.kind is Kind.SENTENCE:
            assert not text[at : node.span.start].strip()
            assert node.span.of(text) == node.span.of(text).strip()
            assert node.lead is None or node.lead <= node.span.start
            at = node.span.end
        elif i:
            assert (children[0].span.start, children[-1].span.end) == (node.span.start, node.span.end)
    assert not text[at:].strip()


def test_sections_nest_by_level_and_hold_their_text() -> None:
    text = "Intro.\n\n# A\n\na\n\n### B\n\nb\n\n## C\n\nc\n\n# D\n\nd\n"
    hierarchy = hierarchy_of(text, markdown=True)
    assert sections(hierarchy) == [("A",), ("A", "B"), ("A", "C"), ("D",)]
    spans = [node.span.of(text) for _, node in hierarchy.of_kind(Kind.SECTION)]
    assert spans == ["# A\n\na\n\n### B\n\nb\n\n## C\n\nc", "### B\n\nb", "## C\n\nc", "# D\n\nd"]


def test_setext_headings_make_sections_and_those_in_code_quotes_and_lists_none() -> None:
    hierarchy = hierarchy_of("Main\n====\n\ntext\n\nSub\ntitle\n---\n", markdown=True)
    assert sections(hierarchy) == [("Main",), ("Main", "Sub title")]
    text = "```\n# code\n```\n\n    # indented\n\n> # quoted\n\n- # listed\n\n\\# escaped\n"
    assert sections(hierarchy_of(text, markdown=True)) == []


def test_heading_is_one_sentence_in_a_paragraph_of_its_own_and_known_as_heading() -> None:
    text = "# A. B? C *d*\ntext. More.\n"
    hierarchy = hierarchy_of(text, markdown=True)
    assert texts(text, Kind.PARAGRAPH) == ["# A. B? C *d*", "text. More."]
    assert texts(text, Kind.SENTENCE) == ["# A. B? C *d*", "text.", "More."]
    assert hierarchy.nodes[1].heading == "A. B? C d"
    kinds = [node.unit for _, node in hierarchy.of_kind(Kind.SENTENCE)]
    assert kinds == [UnitKind.HEADING, UnitKind.PROSE, UnitKind.PROSE]


def test_list_table_and_code_are_one_paragraph_each_and_lists_and_tables_split_by_item_and_row() -> None:
    listed, table, code = "- one. Two\n\n- three", "| a | b |\n|---|---|\n| 1. C | 2 |", "```\nx = 1. A\n\ny\n```"
    text = f"{listed}\n\n{table}\n\n{code}\n"
    assert texts(text, Kind.PARAGRAPH) == [listed, table, code]
    assert texts(text, Kind.SENTENCE) == ["- one.", "Two", "- three", *table.split("\n"), code]
    nodes = hierarchy_of(text, markdown=True).of_kind(Kind.PARAGRAPH)
    assert [node.by_line for _, node in nodes] == [False, True, True]


def test_lines_of_unwrapped_plain_text_are_paragraphs() -> None:
    lines = ["标题", "本行及董事会全体成员保证信息披露的内容真实。" * 10, "第三"]
    assert texts("\n".join(lines), Kind.PARAGRAPH, markdown=False) == lines
