"""Marks stand between EDUs, and the text stays as it is."""

import pytest
from hypothesis import example, given

from discorag.discourse.parse.inline import escape, mark, unescape
from discorag.schema.discourse import Nuclearity, Relation, RstTree, Split
from discorag.schema.values import Span
from tests.strategies import parsed_texts, texts
from tests.unmark import unmark

_TEXT = "Vitamin D helps if you are deficient."
_TREE = RstTree(
    edus=(Span(start=100, end=115), Span(start=116, end=137)),
    splits=(Split(start=0, mid=1, end=2, relation=Relation.CONDITION, nuclearity=Nuclearity.NS),),
)
_MARKED = "Vitamin D helps {1<cond}if you are deficient."


def test_a_marker_stands_before_the_next_edu_and_what_was_left_out_stands_as_a_gap():
    assert mark(_TEXT, _TREE, offset=100) == _MARKED
    assert unmark(_MARKED, offset=100) == (_TEXT, _TREE)
    text = "One & two. Left out. Three."
    edus = (Span(start=5, end=15), Span(start=26, end=32))
    split = Split(start=0, mid=1, end=2, relation=Relation.JOINT, nuclearity=Nuclearity.NN)
    shown = mark(text, RstTree(edus=edus, splits=(split,)), offset=5, gap="[...]")
    assert shown == "One & two. [...] {1=join}Three."


_OURS = str.maketrans(dict.fromkeys("{}|`~-*+•.)", "x"))  # of marks, tables, lists and code


@given(parsed_texts())
def test_a_text_without_tables_and_lists_and_its_tree_can_be_read_back(case: tuple[str, RstTree, int]):
    text, tree, offset = case
    text = text.translate(_OURS)
    assert unmark(mark(text, tree, offset=offset), offset=offset) == (text, tree)


@pytest.mark.parametrize(
    ("edus", "marked"),
    [
        (["| 1 | 2 |", "| 3 | 4 |"], "| 1 | 2 |\n| 3 | 4 |"),
        (
            ["Sales:", "| 1 | 2 |", "| 3 | 4 |", "They rose."],
            "Sales:\n{1=join}| 1 | 2 |\n| 3 | 4 |\n{3=join}They rose.",
        ),
        (["Take:", "- one", "- two, if", "it helps"], "Take:\n{1=join}- one\n- two, if\n{3=join}it helps"),
        (["So:", "```", "x = 1", "```", "Done."], "So:\n{1=join}```\nx = 1\n```\n{4=join}Done."),
    ],
)
def test_no_mark_stands_inside_a_table_a_list_or_code(edus: list[str], marked: str):
    text = "\n".join(edus)
    starts = [text.index(edu) if edu != "```" else 0 for edu in edus]
    for i, edu in enumerate(edus[1:], start=1):
        starts[i] = text.index(edu, starts[i - 1] + len(edus[i - 1]))
    spans = tuple(Span(start=s, end=s + len(e)) for s, e in zip(starts, edus, strict=True))
    n = len(edus)
    joint = Split(start=0, mid=1, end=n, relation=Relation.JOINT, nuclearity=Nuclearity.NN)
    splits = (joint.model_copy(update={"start": i, "mid": i + 1}) for i in range(n - 1))
    tree = RstTree(edus=spans, splits=tuple(splits))
    assert mark(text, tree, offset=0) == marked


@given(texts)
@example("&amp;#124; </chunk> {1<cond} &lt;")
def test_escaped_text_holds_no_fence_keeps_its_bars_and_comes_back(text: str):
    assert not set(escape(text)) & set("<>")
    assert escape(text).count("|") == text.count("|")
    assert unescape(escape(text)) == text
