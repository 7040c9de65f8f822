"""A model's reply becomes a tree over exactly the chunk's text, or an error that says what to change."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prompts
from discorag.discourse.parse.inline import escape
from discorag.discourse.parse.prompted import tree_from_reply
from discorag.schema.discourse import Nuclearity, Relation, RstTree
from tests.strategies import parsed_texts

_TEXT = "Gold shines,\nbut iron rusts because it is wet."
_EDUS = ["Gold shines,", "but iron rusts", "because it is wet."]
_NODES: list[dict[str, Any]] = [
    {"left": [2, 2], "right": [3, 3], "relation": "CAUSE", "nuclearity": "NS"},
    {"left": [1, 1], "right": [2, 3], "relation": "CONTRAST", "nuclearity": "NN"},
]


def _reply(edus: list[str] = _EDUS, nodes: list[dict[str, Any]] = _NODES) -> str:
    return json.dumps({"edus": edus, "nodes": nodes})


def _parse(reply: str, text: str = _TEXT) -> RstTree:
    return tree_from_reply(reply, text, offset=50)


def _written(text: str, tree: RstTree, offset: int, *, escaped: bool) -> str:
    edus = [text[e.start - offset : e.end - offset] for e in tree.edus]
    nodes = [
        {"left": [s.start + 1, s.mid], "right": [s.mid + 1, s.end], "relation": s.relation, "nuclearity": s.nuclearity}
        for s in reversed(tree.splits)
    ]
    return _reply([escape(e) if escaped else e for e in edus], nodes)


def test_a_valid_reply_is_a_tree_in_document_offsets():
    tree = _parse(_reply())
    assert [_TEXT[e.start - 50 : e.end - 50] for e in tree.edus] == _EDUS
    assert [(s.relation, s.nuclearity) for s in tree.splits] == [
        (Relation.CONTRAST, Nuclearity.NN),
        (Relation.CAUSE, Nuclearity.NS),
    ]


@given(parsed_texts(), st.booleans())
def test_every_tree_over_every_text_can_be_written_by_a_model(case: tuple[str, RstTree, int], escaped: bool):
    text, tree, offset = case
    assert tree_from_reply(_written(text, tree, offset, escaped=escaped), text, offset=offset) == tree


def test_entities_that_the_text_itself_holds_match_in_either_form():
    text, nodes = "Write &amp; for & here.", [_node([1, 1], [2, 2])]
    plain = _parse(_reply(["Write &amp;", "for & here."], nodes), text)
    assert [(e.start, e.end) for e in plain.edus] == [(50, 61), (62, 73)]
    assert _parse(_reply(["Write &amp;amp;", "for &amp; here."], nodes), text) == plain


def _node(left: list[int], right: list[int], relation: str = "CAUSE", nuclearity: str = "NS") -> dict[str, Any]:
    return {"left": left, "right": right, "relation": relation, "nuclearity": nuclearity}


@pytest.mark.parametrize(
    ("edus", "message"),
    [
        (_EDUS[1:], "EDU 1 is 'but iron.* has 'Gold"),  # missing at the start
        ([_EDUS[0], _EDUS[2]], "EDU 2 is 'because.* has 'but iron"),  # missing inside
        ([_EDUS[1], _EDUS[0], _EDUS[2]], "EDU . is"),  # reordered
        (["Gold shines,", "but steel rusts", "because it is wet."], "EDU 2 is .*steel"),  # another word
        (["Gold shines,", "shines, but iron rusts", "because it is wet."], "EDU 1 is"),  # repeated
        ([*_EDUS, "The end."], "EDU 4 is 'The end.' where the text has ''"),  # added
        ([], "There are no EDUs"),
    ],
)
def test_edus_that_are_not_the_text_are_refused_with_the_place(edus: list[str], message: str):
    with pytest.raises(ValueError, match=message):
        _parse(_reply(edus))


@pytest.mark.parametrize(
    ("edus", "cuts"),
    [
        (
            ["Gold shines", "but iron rusts", "because its wet"],
            ["Gold shines,", "but iron rusts", "because it is wet."],
        ),
        (["“Gold shines,", "(but) iron rusts,", "because it is wet"], _EDUS),
        (["gold shines, but", "Iron rusts because it is wet"], ["Gold shines,\nbut", "iron rusts because it is wet."]),
    ],
)
def test_slips_in_the_copies_do_not_move_the_cuts(edus: list[str], cuts: list[str]):
    nodes = _NODES if len(edus) == 3 else [_node([1, 1], [2, 2])]
    assert [_TEXT[e.start - 50 : e.end - 50] for e in _parse(_reply(edus, nodes)).edus] == cuts


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (_NODES[:1], "3 EDUs take exactly 2 nodes; there are 1"),
        ([_NODES[0], _NODES[0]], "Node 2: another node already joins EDUs 2 to 3"),
        ([_node([1, 1], [3, 3]), _NODES[1]], "Node 1: right must start at EDU 2, where left ends; it starts at EDU 3"),
        ([_node([2, 2], [1, 1]), _NODES[1]], "Node 1: .* in order"),
        ([_node([2, 2], [3, 4]), _NODES[1]], "Node 1: .* EDUs 1 to 3"),
        ([_node([1, 1], [2, 2]), _node([2, 2], [3, 3])], "No node joins EDUs 1 to 3"),  # no root
        ([_node([2, 2], [3, 3], "JOINT", "NS"), _NODES[1]], "Node 1: JOINT joins two nuclei"),
        ([_node([2, 2], [3, 3], "REASON"), _NODES[1]], "nodes.0.relation.*ELABORATION"),
        ([_NODES[0] | {"note": "x"}, _NODES[1]], "nodes.0.note"),
    ],
)
def test_nodes_that_are_no_binary_tree_are_refused_with_the_node(nodes: list[dict[str, Any]], message: str):
    with pytest.raises(ValueError, match=message):
        _parse(_reply(nodes=nodes))


@pytest.mark.parametrize("reply", ["", "The tree is as follows.", _reply()[:-20], "[]", '{"edus": []}', "null"])
def test_what_is_no_json_of_the_schema_is_refused(reply: str):
    with pytest.raises(ValueError, match="not a JSON object of the requested form"):
        _parse(reply)


def test_the_prompt_explains_every_relation_and_its_own_example_is_valid():
    prompt = prompts.load("tree")
    assert set(prompt.meta.variables) == {"relations", "chunk"}
    assert all(f"{r.value}: " in prompt.text for r in Relation)
    example = next(line for line in prompt.text.splitlines() if line.startswith('{"edus"'))
    assert len(_parse(example, "Take vitamin D if your level is low, because the body needs it.").edus) == 3
