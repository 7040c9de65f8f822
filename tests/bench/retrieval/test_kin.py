"""Evidence that grows from the best sentences along the tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.retrieval.kin import kin, related
from discorag.types.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.types.span import Span
from tests.trees.strategies import ordered_trees

ONES = np.ones(8, np.int64)


def _node(children: tuple[int, ...], first: int, stop: int, layer: int, relation: str) -> RetrievalNode:
    span = Span(start=2 * first, end=2 * stop - 1)
    return RetrievalNode(text="w", spans=(span,), children=children, layer=layer, relation=relation)


# ((0 1) 2) (3 4): 0 explained by 1, both joined with 2; then 3 and 4.
TREE = RetrievalTree(
    builder="test",
    nodes=(
        *(_node((), i, i + 1, 0, "") for i in range(5)),
        _node((0, 1), 0, 2, 1, "EXPLANATION"),
        _node((2, 5), 0, 3, 2, "JOINT"),
        _node((3, 4), 3, 5, 1, "CAUSE"),
        _node((6, 7), 0, 5, 3, ""),
    ),
)
SCORES = np.array([0.5, 0.1, 0.4, 0.0, 0.2, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("limit", "leaves"),
    [(1, (0,)), (2, (0, 1)), (3, (0, 1, 2)), (4, (0, 1, 2, 4)), (5, (0, 1, 2, 3, 4))],
)
def test_the_best_leaf_brings_its_nearest_kin_first_though_others_score_more(limit: int, leaves: tuple[int, ...]):
    assert kin(TREE, SCORES, ONES, limit, widest=3).leaves == leaves


def test_kinship_ends_at_a_node_that_is_too_wide() -> None:
    assert kin(TREE, SCORES, ONES, 3, widest=1).leaves == (0, 2, 4)
    assert kin(TREE, SCORES, ONES, 4, widest=2).leaves == (0, 1, 2, 4)


def test_kinship_ends_where_sentences_only_stand_side_by_side() -> None:
    scores = np.array([0.1, 0.2, 0.0, 0.0, 0.5, 0, 0, 0, 0])
    assert kin(TREE, scores, ONES, 4, widest=5, follow=related).leaves == (0, 1, 3, 4)
    assert kin(TREE, scores, ONES, 3, widest=5).leaves == (1, 3, 4)
    assert [related(r) for r in ("", "JOINT", "ELABORATION")] == [False, False, True]


@given(ordered_trees(), st.data())
def test_the_budget_is_kept_no_leaf_comes_twice_and_all_come_if_there_is_room(tree: RetrievalTree, data: st.DataObject):
    scores = np.array(
        data.draw(st.lists(st.sampled_from([0, 0.5, 1]), min_size=len(tree.nodes), max_size=len(tree.nodes)))
    )
    sizes = np.ones(tree.leaves, np.int64)
    limit, widest = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 8))
    found = kin(tree, scores, sizes, limit, widest=widest).leaves
    assert list(found) == sorted(set(found))
    assert len(found) == min(limit, tree.leaves)
