"""What an RST tree is, and what none can be."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from discorag.schema.errors import InvariantError
from discorag.schema.rst_relations import Nuclearity, Relation
from discorag.schema.rst_tree import RstTree, Split, from_splits
from discorag.schema.span import Span
from tests.strategies import trees


def _nested_depths(tree: RstTree, start: int, end: int, depth: int = 1) -> list[int]:
    if end - start < 2:
        return []
    mid = tree.split_at(start, end).mid
    return [*_nested_depths(tree, start, mid, depth + 1), depth, *_nested_depths(tree, mid, end, depth + 1)]


def _tree_from_depths(depths: tuple[int, ...]) -> set[tuple[int, int, int]]:
    found: set[tuple[int, int, int]] = set()

    def cut(start: int, end: int) -> None:
        if end - start > 1:
            inside = depths[start : end - 1]
            mid = start + 1 + inside.index(min(inside))
            found.add((start, mid, end))
            cut(start, mid)
            cut(mid, end)

    cut(0, len(depths) + 1)
    return found


def _satellites_above(tree: RstTree, edu: int) -> int:
    start, end, count = 0, len(tree.edus), 0
    while end - start > 1:
        s = tree.split_at(start, end)
        left = edu < s.mid
        count += s.nuclearity == (Nuclearity.SN if left else Nuclearity.NS)
        start, end = (start, s.mid) if left else (s.mid, end)
    return count


@given(trees())
def test_json_gives_the_same_tree_back(tree: RstTree):
    assert RstTree.model_validate_json(tree.model_dump_json()) == tree


@given(trees())
def test_a_tree_over_n_edus_has_n_minus_1_splits(tree: RstTree):
    assert len(tree.splits) == len(tree.edus) - 1
    assert all(tree.span.contains(e) for e in tree.edus)


@given(trees(), st.data())
def test_splits_in_any_order_give_the_same_tree(tree: RstTree, data: st.DataObject):
    reordered = data.draw(st.permutations(tree.splits))
    assert from_splits(tree.edus, {(s.start, s.end): s for s in reordered}) == tree


@given(trees())
def test_depths_are_the_nesting_and_determine_the_tree(tree: RstTree):
    assert list(tree.depths) == _nested_depths(tree, 0, len(tree.edus))
    assert _tree_from_depths(tree.depths) == {(s.start, s.mid, s.end) for s in tree.splits}


@given(trees())
def test_satellite_depth_counts_satellite_links_and_some_edu_has_none(tree: RstTree):
    assert list(tree.satellite_depth) == [_satellites_above(tree, i) for i in range(len(tree.edus))]
    assert min(tree.satellite_depth) == 0


@given(trees())
def test_a_satellite_link_weighs_as_much_as_it_is_sure(tree: RstTree):
    unsure = tree.model_copy(update={"splits": tuple(s.model_copy(update={"confidence": 0.5}) for s in tree.splits)})
    silent = tree.model_copy(update={"splits": tuple(s.model_copy(update={"confidence": None}) for s in tree.splits)})
    assert list(unsure.satellite_weight) == [depth / 2 for depth in tree.satellite_depth]
    assert silent.satellite_weight == tree.satellite_depth


@given(trees(), st.data())
def test_no_tree_lacks_a_split(tree: RstTree, data: st.DataObject):
    assume(tree.splits)
    gone = data.draw(st.integers(0, len(tree.splits) - 1))
    with pytest.raises(ValidationError, match="whole"):
        RstTree(edus=tree.edus, splits=tree.splits[:gone] + tree.splits[gone + 1 :])


@given(trees())
def test_no_tree_has_a_split_too_many(tree: RstTree):
    extra = Split(start=0, mid=1, end=len(tree.edus) + 1, relation=Relation.CAUSE, nuclearity=Nuclearity.NS)
    with pytest.raises(ValidationError, match="do not form"):
        RstTree(edus=tree.edus, splits=(*tree.splits, extra))


@given(trees())
def test_splits_out_of_preorder_are_refused(tree: RstTree):
    assume(len(tree.splits) > 1)
    with pytest.raises(ValidationError, match="pre-order"):
        RstTree(edus=tree.edus, splits=tree.splits[::-1])


@given(trees())
def test_edus_in_the_wrong_order_are_refused(tree: RstTree):
    assume(len(tree.edus) > 1)
    with pytest.raises(ValidationError, match="overlaps"):
        RstTree(edus=tree.edus[::-1], splits=tree.splits)


@given(trees(), st.data())
def test_overlapping_edus_are_refused(tree: RstTree, data: st.DataObject):
    assume(len(tree.edus) > 1)
    i = data.draw(st.integers(0, len(tree.edus) - 2))
    longer = Span(start=tree.edus[i].start, end=tree.edus[i + 1].start + 1)
    with pytest.raises(ValidationError, match="overlaps"):
        RstTree(edus=(*tree.edus[:i], longer, *tree.edus[i + 1 :]), splits=tree.splits)


def test_a_tree_has_an_edu():
    with pytest.raises(ValidationError):
        RstTree(edus=())


@pytest.mark.parametrize("nuclearity", [Nuclearity.NS, Nuclearity.SN])
def test_joint_has_two_nuclei(nuclearity: Nuclearity):
    with pytest.raises(ValidationError, match="JOINT"):
        Split(start=0, mid=1, end=2, relation=Relation.JOINT, nuclearity=nuclearity)


@pytest.mark.parametrize(("start", "mid", "end"), [(0, 0, 1), (0, 1, 1), (2, 1, 3), (-1, 1, 2)])
def test_a_split_has_two_sides(start: int, mid: int, end: int):
    with pytest.raises(ValidationError):
        Split(start=start, mid=mid, end=end, relation=Relation.CAUSE, nuclearity=Nuclearity.NS)


def test_from_splits_refuses_a_tree_that_is_not_whole():
    with pytest.raises(InvariantError, match="not whole"):
        from_splits((Span(start=0, end=1), Span(start=1, end=2)), {})


def test_relation_codes_are_unique():
    assert len({r.code for r in Relation}) == len(Relation)
