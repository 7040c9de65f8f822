import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.ingest.segment.blocks import MARKDOWN, blocks
from discorag.ingest.segment.headings import build_hierarchy
from discorag.ingest.segment.layout import lines_of, speakers
from discorag.schema.document import Document, Hierarchy, Kind, UnitKind
from discorag.text.sentences import evenly_wrapped
from tests.text.layouts import SAMPLES, Sample


def document(sample: Sample) -> Document:
    return Document(uri="u", title="t", text=sample.text, media_type=MARKDOWN if sample.markdown else "text/plain")


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


_LINES = st.lists(st.sampled_from([line for s in SAMPLES.values() for line in s.text.split("\n")]), max_size=25)


@given(_LINES.map("\n".join).filter(str.strip), st.booleans())
def test_lines_of_all_kinds_in_any_order_lose_nothing(text: str, markdown: bool) -> None:
    at = 0
    for _, node in hierarchy_of(text, markdown=markdown).of_kind(Kind.SENTENCE):
        assert not text[at : node.span.start].strip()
        assert node.lead is None or node.lead <= node.span.start
        at = node.span.end
    assert not text[at:].strip()


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


def test_what_introduces_a_unit_is_its_lead() -> None:
    found = leads(SAMPLES["nested lists"].text, markdown=True)
    assert found["1. food"] == "Bring:"
    assert found["- bread"] == found["Wrap it well."] == "1. food"
    assert found["2. water"] == "Bring:"
    assert leads(SAMPLES["table"].text, markdown=True)["| Bo | 181 |"] == "| Name | Height |"
    code = SAMPLES["readme"].text
    assert leads(code, markdown=True)[code[code.index("```") :].strip()] == "Install it with pip:"
    assert str(leads(SAMPLES["meeting"].text)["Plastic costs four."]).startswith("Ada Berg: Cork")


def test_a_heading_ends_what_a_sentence_above_it_introduced() -> None:
    assert leads("Bring:\n\n# Later\n\n- bread\n", markdown=True)["- bread"] is None


def test_headings_by_layout_nest_by_indentation_and_end_with_it() -> None:
    text = SAMPLES["man page"].text + "       Other text.\n"
    hierarchy = hierarchy_of(text)
    path = {n.span.of(text)[:9]: hierarchy.headings(i) for i, n in hierarchy.of_kind(Kind.SENTENCE)}
    assert path["join them"] == ("OPTIONS", "-f, --force")
    assert path["say nothi"] == ("OPTIONS", "-q")
    assert path["rivet(1)\n"[:9].strip()] == ("SEE ALSO",)
