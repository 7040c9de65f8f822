"""RST trees in the formats of other tools, and for people."""

import json
from xml.etree import ElementTree

import pytest
from hypothesis import given

from discorag.discourse.formats import MEDIA_TYPES, write_trees
from discorag.discourse.parse.rules import rule_tree
from discorag.schema.discourse import Nuclearity, Relation, RstTree, Split, from_splits
from discorag.schema.document import Chunk
from discorag.schema.errors import InputError
from discorag.schema.values import Span
from discorag.text.sentences import sentence_spans
from tests.strategies import chunk_over, parsed_texts

_Shape = tuple[int, int, int, Relation, Nuclearity]

_NS, _SN, _NN = Nuclearity.NS, Nuclearity.SN, Nuclearity.NN


def _tree(text: str, *shapes: _Shape) -> RstTree:
    """A tree whose EDUs are the words of ``text``."""
    edus, at = list[Span](), 0
    for word in text.split():
        at = text.index(word, at)
        edus.append(Span(start=at, end=at + len(word)))
        at += len(word)
    splits = {(a, c): Split(start=a, mid=b, end=c, relation=r, nuclearity=n) for a, b, c, r, n in shapes}
    return from_splits(tuple(edus), splits)


@given(parsed=parsed_texts())
def test_rs3_is_well_formed_whatever_the_text_holds(parsed: tuple[str, RstTree, int]) -> None:
    kinds = [kind for kind, _, _ in _nodes(write_trees([chunk_over(*parsed)], "rs3")).values()]
    assert kinds.count("segment") == len(parsed[1].edus)


def test_deep_trees_meet_no_recursion_limit() -> None:
    text, n = "w " * 1500, 1500
    tree = _tree(text, *((i, i + 1, n, Relation.ELABORATION, _NS) for i in range(n - 1)))
    assert len(_nodes(write_trees([chunk_over(text, tree)], "rs3"))) == 2 * n - 1


def test_json_names_what_it_holds() -> None:
    tree = _tree("a b", (0, 1, 2, Relation.CAUSE, _SN))
    assert json.loads(write_trees([chunk_over("a b", tree)], "json")) == {
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
    assert _nodes(write_trees([chunk_over("a b c", tree)], "rs3")) == {
        "1": ("segment", "5", "elaboration"),
        "2": ("segment", "5", "joint_m"),
        "3": ("segment", "5", "joint_m"),
        "4": ("span", None, None),
        "5": ("multinuc", "4", "span"),
    }


# --- by name --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MEDIA_TYPES)
def test_only_what_people_read_takes_several_trees(name: str) -> None:
    chunks = [chunk_over("a", _tree("a")), chunk_over("b", _tree("b"))]
    assert write_trees(chunks[:1], name).endswith("\n")
    if name == "text":
        assert write_trees(chunks, name) == "".join(f"Chunk 0\n{write_trees([c], name)}" for c in chunks)
    else:
        with pytest.raises(InputError, match=f"{name} holds one tree, these are 2"):
            write_trees(chunks, name)


def _ruled(text: str) -> Chunk:
    chunk = chunk_over(text, sentences=sentence_spans(text))
    return chunk.model_copy(update={"tree": rule_tree(chunk)})


def test_the_terminal_shows_relations_roles_and_edus_without_markup_and_control_characters():
    lines = write_trees([_ruled("Gold shines. It lasts. Iron rusts.")], "text").splitlines()
    assert [line.strip(" │├└─") for line in lines] == [
        "ELABORATION 1-3",
        "N  1: Gold shines.",
        "S  ELABORATION 2-3",
        "N  2: It lasts.",
        "S  3: Iron rusts.",
    ]
    shown = write_trees([_ruled("[red]Gold[/red] \x1b[2Jshines\x07 \u202ereversed.")], "text")
    assert "[red]Gold[/red]" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)
