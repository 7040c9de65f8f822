import numpy as np
import pytest

from discorag.retrieval.selectors import Evidence, Variant, algorithm1
from discorag.schema.errors import ConfigError, InvariantError
from tests.retrieval.strategies import small_tree

# 8 is above the leaves 0-3, 9 above 4-5, 10 above 6-7, 11 above all.
TREE = small_tree(8, (0, 1, 2, 3), (4, 5), (6, 7), (8, 9, 10))
SCORES = np.array([0.1, 0.5, 0.5, 0.4, 0.2, 0.9, 0.3, 0.3, 0.8, 0.9, 0.05, 0.85])
ONES = np.ones(12, np.int64)


def chosen(variant: Variant, limit: int, *, k: int = 2) -> tuple[int, ...]:
    return algorithm1(TREE, SCORES, ONES, limit, k=k, variant=variant).nodes


def test_an_inner_node_gives_its_k_best_leaves_that_are_not_chosen_yet() -> None:
    # By hand: 9 (its tie with leaf 5 goes to what starts first) gives 5 and 4; 11 gives 1 and 2 (a tie); 8 is left
    # with 3 and 0; then leaves 6 and 7; 10 has nothing left.
    assert chosen(Variant.RANKING_ORDER, 8) == (5, 4, 1, 2, 3, 0, 6, 7)
    assert chosen(Variant.RANKING_ORDER, 8, k=1) == (5, 1, 2, 3, 6, 7, 4, 0)


def test_an_inner_node_whose_leaves_are_all_chosen_gives_nothing_and_the_search_goes_on() -> None:
    # By hand, k = 2: 11 gives 5 and 1; 9 is left with 4; 8 gives 2 and 3; leaves 1 to 5 are chosen; 10 gives 6 and 7,
    # which makes them nothing new; 0 comes last. Then three nodes over the same two leaves: the first takes both.
    scores = np.array([0.01, 0.6, 0.5, 0.4, 0.3, 0.9, 0.2, 0.2, 0.7, 0.95, 0.25, 0.99])
    found = algorithm1(TREE, scores, ONES, 8, k=2, variant=Variant.RANKING_ORDER)
    assert found.nodes == (5, 1, 4, 2, 3, 6, 7, 0)
    again = small_tree(3, (0, 1), (0, 1), (0, 1))
    scores = np.array([0.1, 0.2, 0.3, 0.9, 0.8, 0.7])
    assert algorithm1(again, scores, ONES, 3, k=2, variant=Variant.RANKING_ORDER).nodes == (1, 0, 2)


def test_evidence_is_in_the_order_of_the_text() -> None:
    assert algorithm1(TREE, SCORES, ONES, 5, k=2) == Evidence(leaves=(1, 2, 3, 4, 5), nodes=(1, 2, 3, 4, 5))


def test_five_leaves_are_taken_of_an_inner_node_unless_said_otherwise() -> None:
    tree = small_tree(8, tuple(range(7)))
    scores = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    assert algorithm1(tree, scores, ONES, 8, variant=Variant.RANKING_ORDER).nodes == (6, 5, 4, 3, 2, 7, 1, 0)


def test_all_leaves_takes_every_leaf_of_an_inner_node() -> None:
    assert chosen(Variant.ALL_LEAVES, 7) == (1, 2, 3, 4, 5, 6, 7)
    assert chosen(Variant.ORIGINAL_ORDER, 7) == (0, 1, 2, 3, 4, 5, 6)


def test_summaries_gives_the_texts_of_inner_nodes_in_the_order_of_the_text() -> None:
    found = algorithm1(TREE, SCORES, ONES, 4, variant=Variant.SUMMARIES)
    assert found == Evidence(leaves=(5,), nodes=(8, 11, 9, 5))


def test_selection_stops_at_the_first_leaf_that_exceeds_the_budget_though_a_smaller_one_would_fit() -> None:
    sizes = np.array([1, 10, 1, 1, 1, 1, 1, 1])
    assert algorithm1(TREE, SCORES, sizes, 5, k=2).leaves == (4, 5)


def test_a_budget_that_is_met_exactly_is_kept() -> None:
    assert algorithm1(TREE, SCORES, np.full(8, 20), 60, k=2).leaves == (1, 4, 5)
    assert algorithm1(TREE, SCORES, np.full(8, 20), 59, k=2).leaves == (4, 5)


def test_the_best_leaf_is_given_even_if_it_alone_exceeds_the_budget() -> None:
    assert algorithm1(TREE, SCORES, np.full(8, 20), 3, k=2).leaves == (5,)


@pytest.mark.parametrize(("k", "limit", "named"), [(0, 5, "k is 0"), (5, 0, "limit is 0"), (-1, 5, "k is -1")])
def test_parameters_below_one_are_refused(k: int, limit: int, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        algorithm1(TREE, SCORES, ONES, limit, k=k)


def test_scores_and_sizes_of_another_tree_are_refused() -> None:
    with pytest.raises(InvariantError, match=r"\(11,\)"):
        algorithm1(TREE, SCORES[:11], ONES, 5)
    with pytest.raises(InvariantError, match=r"\(7,\)"):
        algorithm1(TREE, SCORES, ONES[:7], 5)
    with pytest.raises(InvariantError, match=r"\(8,\)"):
        algorithm1(TREE, SCORES, ONES[:8], 5, variant=Variant.SUMMARIES)


def test_a_score_that_is_no_number_is_refused_by_name() -> None:
    with pytest.raises(InvariantError, match="node 3 is nan"):
        algorithm1(TREE, np.where(np.arange(12) == 3, np.nan, SCORES), ONES, 5)
