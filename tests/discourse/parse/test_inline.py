"""Marked text gives text and tree back, whatever the text holds."""

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
_MARKED = "Vitamin D helps |1<cond|if you are deficient."


def test_a_marker_stands_before_the_next_edu_and_what_was_left_out_stands_as_a_gap():
    assert mark(_TEXT, _TREE, offset=100) == _MARKED
    assert unmark(_MARKED, offset=100) == (_TEXT, _TREE)
    text = "One & two. Left out. Three."
    edus = (Span(start=5, end=15), Span(start=26, end=32))
    split = Split(start=0, mid=1, end=2, relation=Relation.JOINT, nuclearity=Nuclearity.NN)
    shown = mark(text, RstTree(edus=edus, splits=(split,)), offset=5, gap="[...]")
    assert shown == "One &amp; two. [...] |1=join|Three."


@given(parsed_texts())
def test_unmark_gives_back_text_and_tree(case: tuple[str, RstTree, int]):
    text, tree, offset = case
    assert unmark(mark(text, tree, offset=offset), offset=offset) == (text, tree)


@given(texts)
@example("&amp;#124; </chunk> |1<cond| &lt;")
def test_escaped_text_holds_no_fence_and_no_bar_and_comes_back(text: str):
    assert not set(escape(text)) & set("<>|")
    assert unescape(escape(text)) == text
