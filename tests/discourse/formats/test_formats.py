"""RST trees in the formats of other tools, and for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given

from discorag.discourse.formats.dis import read_dis, write_dis
from discorag.discourse.formats.rs3 import read_rs3, write_rs3, write_rs4
from discorag.discourse.formats.table import FORMATS, read_tree, write_trees
from discorag.discourse.formats.text import tree_text
from discorag.discourse.formats.tree_json import read_json, write_json
from discorag.discourse.parse.rules import rule_tree
from discorag.schema.discourse import Nuclearity, Relation, RstTree, Split, from_splits
from discorag.schema.document import Chunk
from discorag.schema.errors import InputError, InvariantError
from discorag.schema.values import Span
from discorag.text.sentences import sentence_spans
from tests.strategies import parsed_texts

_Write = Callable[[Chunk], str]
_Read = Callable[[str], tuple[str, RstTree]]
_Parsed = tuple[str, RstTree, int]
_Shape = tuple[int, int, int, Relation, Nuclearity]

_FORMATS = pytest.mark.parametrize(
    ("write", "read"), [(write_rs3, read_rs3), (write_rs4, read_rs3), (write_dis, read_dis)], ids=["rs3", "rs4", "dis"]
)
_GROUP, _ELAB = '<group id="9" type="{}"/>', "elaboration"
_NS, _SN, _NN = Nuclearity.NS, Nuclearity.SN, Nuclearity.NN
_HEADER = """<rst><header><relations><rel name="elaboration" type="rst"/><rel name="contrast" type="rst"/>
    <rel name="contrast" type="multinuc"/><rel name="joint" type="multinuc"/><rel name="joint-list" type="multinuc"/>
    <rel name="same-unit" type="multinuc"/><rel name="unheard-of" type="multinuc"/></relations></header>"""


def _rs3(body: str) -> str:
    return f"{_HEADER}<body>{body}</body></rst>"


def _segment(number: int, parent: str = "", relname: str = "") -> str:
    link = f' parent="{parent}" relname="{relname}"' if parent else ""
    return f'<segment id="{number}"{link}>unit {number}</segment>'


def _leaf(number: int, role: str, relation: str) -> str:
    return f"( {role} (leaf {number}) (rel2par {relation}) (text _!unit {number}_!) )"


def _shapes(tree: RstTree) -> list[_Shape]:
    return [(s.start, s.mid, s.end, s.relation, s.nuclearity) for s in tree.splits]


def _tree(text: str, *shapes: _Shape) -> RstTree:
    """A tree whose EDUs are the words of ``text``."""
    edus, at = list[Span](), 0
    for word in text.split():
        at = text.index(word, at)
        edus.append(Span(start=at, end=at + len(word)))
        at += len(word)
    splits = {(a, c): Split(start=a, mid=b, end=c, relation=r, nuclearity=n) for a, b, c, r, n in shapes}
    return from_splits(tuple(edus), splits)


def _chunk(text: str, tree: RstTree, offset: int = 0) -> Chunk:
    span = Span(start=offset, end=offset + len(text))
    return Chunk(id="c", doc_id="d", order=0, span=span, text=text, sentences=(span,), tree=tree)


# --- round trips ----------------------------------------------------------------------------------


def _comparable(texts: Iterable[str]) -> list[str]:
    """EDU texts, without what a format may change: white space, ``_!``, characters that XML does not have."""
    lines = [" ".join(text.split()).replace("_!", "_ !") for text in texts]
    return ["".join("\ufffd" if c < " " or c in "\ufffe\uffff" else c for c in line) for line in lines]


@_FORMATS
@given(parsed=parsed_texts())
def test_a_tree_written_and_read_keeps_structure_and_edus(write: _Write, read: _Read, parsed: _Parsed) -> None:
    chunk = _chunk(*parsed)
    text, found = read(write(chunk))
    assert found.splits == parsed[1].splits
    assert _comparable(s.of(text) for s in found.edus) == _comparable(chunk.slice(s) for s in parsed[1].edus)


@given(parsed=parsed_texts())
def test_the_drawing_is_well_formed_whatever_the_text_holds(parsed: _Parsed) -> None:
    drawn = ElementTree.fromstring(FORMATS["svg"].write(_chunk(*parsed)))
    numbers = [t.text for t in drawn.iter("{http://www.w3.org/2000/svg}text") if t.get("font-weight") == "bold"]
    assert numbers == [str(i + 1) for i in range(len(parsed[1].edus))]


@_FORMATS
def test_edus_are_joined_by_single_spaces(write: _Write, read: _Read) -> None:
    text = "Rain\n\nfell.  Then \tsun."
    split = Split(start=0, mid=1, end=2, relation=Relation.SEQUENCE, nuclearity=_NN)
    tree = RstTree(edus=(Span(start=0, end=11), Span(start=13, end=len(text))), splits=(split,))
    found, read_tree = read(write(_chunk(text, tree)))
    assert found == "Rain fell. Then sun."
    assert [s.of(found) for s in read_tree.edus] == ["Rain fell.", "Then sun."]


@_FORMATS
def test_deep_trees_meet_no_recursion_limit(write: _Write, read: _Read) -> None:
    text, n = "w " * 1500, 1500
    tree = _tree(text, *((i, i + 1, n, Relation.ELABORATION, _NS) for i in range(n - 1)))
    assert read(write(_chunk(text, tree)))[1].splits == tree.splits


@given(parsed=parsed_texts())
def test_json_keeps_text_and_offsets_exactly(parsed: _Parsed) -> None:
    text, tree, offset = parsed
    found_text, found = read_json(write_json(_chunk(text, tree, offset)))
    assert found_text == text
    assert found.splits == tree.splits
    assert [(s.start + offset, s.end + offset) for s in found.edus] == [(s.start, s.end) for s in tree.edus]
    assert read_json(write_json(_chunk(found_text, found))) == (found_text, found)


def test_json_names_what_it_holds() -> None:
    tree = _tree("a b", (0, 1, 2, Relation.CAUSE, _SN))
    assert json.loads(write_json(_chunk("a b", tree))) == {
        "text": "a b",
        "edus": [{"start": 0, "end": 1, "text": "a"}, {"start": 2, "end": 3, "text": "b"}],
        "splits": [{"start": 0, "mid": 1, "end": 2, "relation": "CAUSE", "nuclearity": "SN"}],
    }


# --- what is written ------------------------------------------------------------------------------


def _nodes(xml: str) -> dict[str, tuple[str, str | None, str | None]]:
    root = ElementTree.fromstring(xml)
    body = root.find("body")
    assert body is not None
    return {e.attrib["id"]: (e.get("type", e.tag), e.get("parent"), e.get("relname")) for e in body if "id" in e.attrib}


def test_rs3_hangs_satellites_on_their_nucleus_and_nuclei_under_groups() -> None:
    tree = _tree("a b c", (0, 1, 3, Relation.ELABORATION, _SN), (1, 2, 3, Relation.JOINT, _NN))
    assert _nodes(write_rs3(_chunk("a b c", tree))) == {
        "1": ("segment", "5", "elaboration"),
        "2": ("segment", "5", "joint"),
        "3": ("segment", "5", "joint"),
        "4": ("span", None, None),
        "5": ("multinuc", "4", "span"),
    }


def test_dis_nests_roles_and_relations() -> None:
    tree = _tree("a b c", (0, 1, 3, Relation.CAUSE, _SN), (1, 2, 3, Relation.JOINT, _NN))
    assert write_dis(_chunk("a b c", tree)).splitlines() == [
        "( Root (span 1 3)",
        "  ( Satellite (leaf 1) (rel2par cause) (text _!a_!) )",
        "  ( Nucleus (span 2 3) (rel2par span)",
        "    ( Nucleus (leaf 2) (rel2par joint) (text _!b_!) )",
        "    ( Nucleus (leaf 3) (rel2par joint) (text _!c_!) )",
        "  )",
        ")",
    ]


@pytest.mark.parametrize("write", [write_rs3, write_rs4, write_dis])
def test_a_blank_edu_is_not_written(write: _Write) -> None:
    with pytest.raises(InvariantError, match="no text"):
        write(_chunk(" \n ", RstTree(edus=(Span(start=0, end=2),))))


# --- what is read ---------------------------------------------------------------------------------

_LIST = "".join(_segment(i, "9", "joint-list") for i in (1, 2, 3)) + _GROUP.format("multinuc")
_LIST_DIS = "( Root (span 1 3) " + "".join(_leaf(i, "Nucleus", "joint-list") for i in (1, 2, 3)) + ")"
_STAR = "".join(_segment(i, *(("9", "span") if i == 3 else ("3", _ELAB))) for i in range(1, 6)) + _GROUP.format("span")
_STAR_DIS = "".join(_leaf(i, *(("Nucleus", "span") if i == 3 else ("Satellite", _ELAB))) for i in range(1, 6))


@pytest.mark.parametrize(("read", "tree"), [(read_rs3, _rs3(_LIST)), (read_dis, _LIST_DIS)], ids=["rs3", "dis"])
def test_many_nuclei_branch_to_the_right(read: _Read, tree: str) -> None:
    assert _shapes(read(tree)[1]) == [(0, 1, 3, Relation.JOINT, _NN), (1, 2, 3, Relation.JOINT, _NN)]


@pytest.mark.parametrize(
    ("read", "tree"), [(read_rs3, _rs3(_STAR)), (read_dis, f"( Root {_STAR_DIS} )")], ids=["rs3", "dis"]
)
def test_satellites_join_nearest_first_and_left_before_right(read: _Read, tree: str) -> None:
    assert _shapes(read(tree)[1]) == [
        (0, 4, 5, Relation.ELABORATION, _NS),
        (0, 1, 4, Relation.ELABORATION, _SN),
        (1, 3, 4, Relation.ELABORATION, _NS),
        (1, 2, 3, Relation.ELABORATION, _SN),
    ]


@pytest.mark.parametrize(
    ("label", "relation"),
    [("causal-cause", Relation.CAUSE), ("mode-means", Relation.ELABORATION), ("Evidence", Relation.EVIDENCE)],
)
def test_labels_of_satellites_are_mapped(label: str, relation: Relation) -> None:
    dis = "( Root (span 1 2) " + _leaf(1, "Nucleus", "span") + _leaf(2, "Satellite", label) + ")"
    assert read_dis(dis)[1].splits[0].relation is relation
    assert read_rs3(_rs3(_segment(1) + _segment(2, "1", label)))[1].splits[0].relation is relation


def test_secondary_edges_and_signals_are_ignored() -> None:
    body = _segment(1) + _segment(2, "1", "elaboration")
    extra = '<secedges><secedge id="1-2" source="1" target="2" relname="x"/></secedges><signals><signal/></signals>'
    assert read_rs3(_rs3(body + extra)) == read_rs3(_rs3(body))


# --- what is refused ------------------------------------------------------------------------------

_BAD_RS3 = (
    ("not XML", "<rst><body>"),
    ("no units", _rs3("")),
    ("no text", _rs3('<segment id="1"> \n</segment>')),
    ("Unknown relation 'nonsense'", _rs3(_segment(1) + _segment(2, "1", "nonsense"))),
    (
        "Unknown relation 'unheard-of'",
        _rs3(_segment(1, "9", "unheard-of") + _segment(2, "9", "joint") + _GROUP.format("multinuc")),
    ),
    ("'joint' joins a satellite", _rs3(_segment(1) + _segment(2, "1", "joint"))),
    ("2 nodes have no parent", _rs3(_segment(1) + _segment(2))),
    ("2 segments and groups have 1 ids", _rs3(_segment(1) + _segment(1, "1", _ELAB))),
    ("parent '7' of '2' does not exist", _rs3(_segment(1) + _segment(2, "7", _ELAB))),
    ("parents of '1' form a cycle", _rs3(_segment(1, "2", _ELAB) + _segment(2, "1", _ELAB))),
    ("Unknown relation 'span'", _rs3(_segment(1, "9", "span") + _segment(2, "9", "span") + _GROUP.format("span"))),
    ("span '2' has no nucleus", _rs3(_segment(1) + f'<group id="2" type="span" parent="1" relname="{_ELAB}"/>')),
    ("type 'tree'", _rs3(_segment(1, "9", "span") + _GROUP.format("tree"))),
    (
        "Units 1-1 and 3-3 are joined but are not neighbours",
        _rs3(
            _segment(1, "9", "joint") + _segment(2, "9", "joint") + _segment(3, "1", _ELAB) + _GROUP.format("multinuc")
        ),
    ),
)


@pytest.mark.parametrize(("message", "xml"), _BAD_RS3, ids=[message for message, _ in _BAD_RS3])
def test_rs3_that_is_no_tree_is_refused_with_a_hint(message: str, xml: str) -> None:
    with pytest.raises(InvariantError, match=message) as caught:
        read_rs3(xml)
    assert caught.value.hint


_ONE = "( Root (leaf 1) (text _!a_!) )"
_BAD_DIS = (
    ("not one whole Root", _ONE[:-1]),
    ("not one whole Root", "( Nucleus (leaf 1) (text _!a_!) )"),
    ("does not belong", _ONE + ")"),
    ("does not belong", _ONE + "(text _!b_!)"),
    ("no text", "( Root (leaf 1) (text _! _!) )"),
    ("must hold either", "( Root (leaf 1) )"),
    ("must hold either", "( Root (text _!a_!) " + _leaf(2, "Nucleus", "span") + ")"),
    ("must hold either", "( Root " + _leaf(1, "Satellite", "cause") + _leaf(2, "Satellite", "cause") + ")"),
    ("Unknown relation 'x'", "( Root " + _leaf(1, "Nucleus", "span") + _leaf(2, "Satellite", "x") + ")"),
    (
        "not neighbours",
        "( Root " + _leaf(1, "Nucleus", "joint") + _leaf(2, "Satellite", "x") + _leaf(3, "Nucleus", "joint") + ")",
    ),
)


@pytest.mark.parametrize(("message", "dis"), _BAD_DIS, ids=[message for message, _ in _BAD_DIS])
def test_dis_that_is_no_tree_is_refused_with_a_hint(message: str, dis: str) -> None:
    with pytest.raises(InvariantError, match=message) as caught:
        read_dis(dis)
    assert caught.value.hint


_EDU = {"start": 0, "end": 1, "text": "a"}
_BAD_JSON = (
    ("Invalid JSON", "{"),
    ("splits Field required", json.dumps({"text": "a", "edus": [_EDU]})),
    ("at least 1", json.dumps({"text": "a", "edus": [], "splits": []})),
    ("not the text at", json.dumps({"text": "b", "edus": [_EDU], "splits": []})),
    ("not the text at", json.dumps({"text": "a", "edus": [_EDU | {"end": 5}], "splits": []})),
    ("greater than or equal", json.dumps({"text": "a", "edus": [_EDU | {"start": -1}], "splits": []})),
    ("No node joins", json.dumps({"text": "aa", "edus": [_EDU, {"start": 1, "end": 2, "text": "a"}], "splits": []})),
)


@pytest.mark.parametrize(("message", "value"), _BAD_JSON, ids=[message for message, _ in _BAD_JSON])
def test_json_that_is_no_tree_is_refused_with_a_hint(message: str, value: str) -> None:
    with pytest.raises(InvariantError, match=message) as caught:
        read_json(value)
    assert caught.value.hint


def test_entities_are_neither_expanded_nor_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret", encoding="utf-8")
    doctype = f'<!DOCTYPE rst [<!ENTITY e SYSTEM "{secret.as_uri()}">]>'
    with pytest.raises(InvariantError, match="document type") as caught:
        read_rs3(f'{doctype}<rst><body><segment id="1">&e;</segment></body></rst>')
    assert "the secret" not in str(caught.value)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("use", ["<segment id='1'>&a9;</segment>", "<segment id='&a9;'>x</segment>"])
def test_entities_that_would_grow_exponentially_are_refused_at_once(use: str) -> None:
    entities = "".join(f"<!ENTITY a{i} '{f'&a{i - 1};' * 10 if i else 'ha'}'>" for i in range(10))
    with pytest.raises(InvariantError):
        read_rs3(f"<!DOCTYPE rst [{entities}]><rst><body>{use}</body></rst>")


# --- by name --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS)
def test_only_what_people_read_takes_several_trees(name: str) -> None:
    chunks = [_chunk("a", _tree("a")), _chunk("b", _tree("b"))]
    assert write_trees(chunks[:1], name).endswith("\n")
    if name == "text":
        assert write_trees(chunks, name) == "".join(write_trees([c], name) for c in chunks)
    else:
        with pytest.raises(InputError, match=f"{name} holds one tree, these are 2"):
            write_trees(chunks, name)


def test_a_file_that_is_gone_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_tree(tmp_path / "gone.rs3")
    (tmp_path / "bad.dis").write_bytes(b"( Root \xff")
    with pytest.raises(InputError, match="not UTF-8"):
        read_tree(tmp_path / "bad.dis")


def _ruled(text: str) -> Chunk:
    span = Span(start=0, end=len(text))
    chunk = Chunk(id="c", doc_id="d", order=3, span=span, text=text, sentences=sentence_spans(text))
    return _with_tree(chunk)


def _with_tree(chunk: Chunk) -> Chunk:
    return chunk.model_copy(update={"tree": rule_tree(chunk)})


def test_the_terminal_shows_relations_roles_and_edus():
    lines = tree_text(_ruled("Gold shines. However, iron rusts. For example, nails do.")).splitlines()
    assert [line.strip(" │├└─") for line in lines] == [
        "CONTRAST 1-3",
        "N  1: Gold shines.",
        "N  EXAMPLE 2-3",
        "N  2: However, iron rusts.",
        "S  3: For example, nails do.",
    ]


def test_markup_and_control_characters_of_a_document_do_not_reach_the_terminal():
    shown = tree_text(_ruled("[red]Gold[/red] \x1b[2Jshines\x07 \u202ereversed."))
    assert "[red]Gold[/red]" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)
