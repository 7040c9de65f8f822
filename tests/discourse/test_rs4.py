"""rs3 and rs4 files of other tools: what is read, that it is written as it was, and where it stands in a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.discourse.labelled import LabelledSplit
from discorag.discourse.rs4 import RstFile, SecondaryEdge, Signal, read_rs4, write_rs4
from discorag.schema.discourse import Nuclearity
from discorag.schema.errors import InputError

_NS, _SN, _NN = Nuclearity.NS, Nuclearity.SN, Nuclearity.NN
FILE = """<rst>
  <header>
    <relations>
      <rel name="joint-list" type="multinuc"/>
      <rel name="causal-cause" type="rst"/>
      <rel name="organization-heading" type="rst"/>
    </relations>
    <sigtypes><sig type="dm" subtypes="dm"/></sigtypes>
  </header>
  <body>
    <segment id="1" parent="7" relname="organization-heading">Mills</segment>
    <segment id="2" parent="6" relname="joint-list">The mill &amp; the weir stand still ,</segment>
    <segment id="3" parent="6" relname="joint-list">the boats wait ,</segment>
    <segment id="4" parent="8" relname="span">and nobody sings</segment>
    <segment id="5" parent="4" relname="causal-cause">because the river froze .</segment>
    <group id="6" type="multinuc" parent="7" relname="span"/>
    <group id="7" type="span" parent="9" relname="span"/>
    <group id="8" type="span" parent="6" relname="joint-list"/>
    <group id="9" type="span"/>
    <secedges><secedge id="2-5" source="2" target="5" relname="causal-cause"/></secedges>
    <signals>
      <signal source="5" type="dm" subtype="dm" tokens="19" status="gold"/>
      <signal source="2-5" type="orphan" subtype="orphan" tokens=""/>
    </signals>
  </body>
</rst>
"""
CROSSING = """<rst><body>
  <segment id="1">One</segment>
  <segment id="2" parent="4" relname="causal-cause">two</segment>
  <segment id="3" parent="1" relname="causal-cause">three</segment>
  <segment id="4" parent="1" relname="causal-cause">four</segment>
</body></rst>"""
TEXT = "# Mills\n\nThe mill & the weir stand still, the boats wait,\nand nobody sings because the river froze."


def test_nodes_of_several_nuclei_and_satellites_become_binary_with_the_labels_of_the_file() -> None:
    found = read_rs4(FILE)
    assert found.edus[1] == "The mill & the weir stand still ,"
    assert found.splits == (
        LabelledSplit(0, 1, 5, _SN, "organization-heading"),
        LabelledSplit(1, 2, 5, _NN, "joint-list"),
        LabelledSplit(2, 3, 5, _NN, "joint-list"),
        LabelledSplit(3, 4, 5, _NS, "causal-cause"),
    )


def test_without_relations_in_the_header_the_children_of_a_multinuclear_group_are_nuclei() -> None:
    segments = "".join(f'<segment id="{i}" parent="9" relname="list">{i}</segment>' for i in (1, 2))
    body = f'<body>{segments}<group id="9" type="multinuc"/></body>'
    found = read_rs4(f"<rst><header><relations/></header>{body}</rst>")
    assert found.splits == (LabelledSplit(0, 1, 2, _NN, "list"),)


def test_secondary_edges_and_signals_are_read_by_what_they_join() -> None:
    found, edge = read_rs4(FILE), SecondaryEdge((1, 2), (4, 5), "causal-cause")
    assert found.edges == (edge,)
    assert [signal.source for signal in found.signals] == [(4, 5), edge]
    assert dict(found.signals[0].about) == {"type": "dm", "subtype": "dm", "tokens": "19", "status": "gold"}


def test_what_is_written_is_read_as_the_same() -> None:
    assert read_rs4(write_rs4(read_rs4(FILE))) == read_rs4(FILE)


@st.composite
def files(draw: st.DrawFn) -> RstFile:
    """Any tree, with secondary edges and signals between any of its constituents."""
    n = draw(st.integers(1, 8))
    splits, spans = list[LabelledSplit](), [(0, n)]
    while spans:
        start, end = spans.pop()
        if end - start > 1:
            mid, nuclearity = draw(st.integers(start + 1, end - 1)), draw(st.sampled_from(Nuclearity))
            label = "joint" if nuclearity is _NN else draw(st.sampled_from(["cause", "span-like"]))
            splits.append(LabelledSplit(start, mid, end, nuclearity, label))
            spans += [(mid, end), (start, mid)]
    places = st.sampled_from([*((i, i + 1) for i in range(n)), *((s.start, s.end) for s in splits)])
    pairs = draw(st.lists(st.tuples(places, places), max_size=3, unique=True))
    edges = tuple(SecondaryEdge(a, b, "cause") for a, b in pairs)
    sources = st.one_of(places, st.sampled_from(edges)) if edges else places
    signals = tuple(Signal(source, (("type", "dm"),)) for source in draw(st.lists(sources, max_size=3)))
    words = draw(st.lists(st.text("abc<&\"'", min_size=1), min_size=n, max_size=n))
    return RstFile(tuple(words), tuple(splits), edges, signals)


@given(file=files())
def test_every_tree_is_read_as_it_was_written(file: RstFile) -> None:
    assert read_rs4(write_rs4(file)) == file


def test_edus_are_found_in_a_text_that_differs_in_white_space_only() -> None:
    found = read_rs4(FILE)
    places = found.places(TEXT.removeprefix("# "))
    assert [span.of(TEXT.removeprefix("# ")) for span in places] == [
        "Mills",
        "The mill & the weir stand still,",
        "the boats wait,",
        "and nobody sings",
        "because the river froze.",
    ]
    with pytest.raises(InputError, match="does not have EDU 1"):
        found.places(TEXT)
    with pytest.raises(InputError, match="does not have EDU 5"):
        found.places("Mills The mill & the weir stand still, the boats wait, and nobody sings")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (FILE[:200], "not the tree of an rs3 or rs4 file"),
        (FILE.replace('type="span" parent="9" relname="span"', 'type="span"'), "2 roots"),
        (FILE.replace('parent="4" relname="causal', 'parent="44" relname="causal'), "below them"),
        (FILE.replace('parent="9" relname="span"', 'parent="8" relname="span"'), "below them"),
        (FILE.replace('source="2" target="5"', 'source="2" target="55"'), "'55'"),
        (CROSSING, "What begins at unit 2 is joined to units that are not next to it"),
        ("<rst><body/></rst>", "0 roots"),
        ('<rst><body><group id="1"/></body></rst>', "group 1 has no nucleus"),
    ],
)
def test_what_is_no_tree_is_refused_with_what_is_wrong(changed: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_rs4(changed)
