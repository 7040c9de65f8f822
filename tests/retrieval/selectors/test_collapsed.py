import numpy as np
import pytest

from discorag.retrieval.selectors import Evidence, collapsed_set, collapsed_tree, traversal
from discorag.schema.errors import ConfigError, InvariantError
from tests.retrieval.strategies import small_tree

# 8 is above the leaves 0-3, 9 above 4-5, 10 above 6-7, 11 above all. Best first: 9 5 11 8 1 2 3 6 7 4 0 10.
TREE = small_tree(8, (0, 1, 2, 3), (4, 5), (6, 7), (8, 9, 10))
SCORES = np.array([0.1, 0.5, 0.5, 0.4, 0.2, 0.9, 0.3, 0.3, 0.8, 0.9, 0.05, 0.85])
SIZES = np.array([10, 10, 10, 10, 10, 10, 10, 10, 50, 30, 30, 100])
ALL = 10_000


def test_the_collapsed_tree_gives_the_best_nodes_of_all_layers_by_rank() -> None:
    assert collapsed_tree(TREE, SCORES, SIZES, ALL).nodes == (9, 5, 11, 8, 1, 2, 3, 6, 7, 4, 0, 10)


def test_the_collapsed_tree_counts_summaries_with_their_own_length_and_stops_at_the_budget() -> None:
    assert collapsed_tree(TREE, SCORES, SIZES, 140) == Evidence(leaves=(5,), nodes=(9, 5, 11))
    assert collapsed_tree(TREE, SCORES, SIZES, 139) == Evidence(leaves=(5,), nodes=(9, 5))


def test_the_collapsed_set_holds_ten_nodes_unless_said_otherwise() -> None:
    assert collapsed_set(TREE, SCORES, SIZES, ALL).nodes == (9, 5, 11, 8, 1, 2, 3, 6, 7, 4)
    assert collapsed_set(TREE, SCORES, SIZES, ALL, k=2).nodes == (9, 5)
    assert collapsed_set(TREE, SCORES, SIZES, 45, k=5).nodes == (9, 5)


def test_the_traversal_descends_from_the_roots_through_the_best_of_each_layer() -> None:
    assert traversal(TREE, SCORES, SIZES, ALL, k=1) == Evidence(leaves=(5,), nodes=(11, 9, 5))
    assert traversal(TREE, SCORES, SIZES, ALL, k=2) == Evidence(leaves=(1, 5), nodes=(11, 9, 8, 5, 1))


def test_the_traversal_does_not_see_a_good_leaf_below_a_pruned_node() -> None:
    scores = SCORES.copy()
    scores[6] = 1
    assert 6 not in traversal(TREE, scores, SIZES, ALL, k=2).leaves


def test_a_threshold_takes_all_of_a_layer_that_reach_it() -> None:
    assert traversal(TREE, SCORES, SIZES, ALL, k=1, threshold=0.5).nodes == (11, 9, 8, 5, 1, 2)
    assert traversal(TREE, SCORES, SIZES, ALL, threshold=0.86).nodes == ()


def test_the_traversal_goes_on_below_where_a_root_is_a_leaf() -> None:
    tree = small_tree(3, (0, 1))
    assert traversal(tree, np.array([0.1, 0.2, 0.9, 0.5]), SIZES, ALL, k=2).nodes == (2, 3, 1, 0)


def test_the_traversal_meets_a_node_with_two_parents_once() -> None:
    tree = small_tree(2, (0, 1), (0, 2))
    assert traversal(tree, np.array([0.4, 0.3, 0.5, 0.1]), SIZES, ALL).nodes == (3, 2, 0, 1)


def test_a_traversal_over_budget_takes_fewer_of_each_layer_and_still_reaches_leaves() -> None:
    whole = traversal(TREE, SCORES, SIZES, ALL, k=2).nodes
    assert whole == (11, 9, 8, 5, 1)
    size = int(SIZES[list(whole)].sum())
    assert traversal(TREE, SCORES, SIZES, size, k=2).nodes == whole
    assert traversal(TREE, SCORES, SIZES, size - 1, k=2).nodes == (11, 9, 5)


def test_where_one_node_a_layer_is_too_much_the_lowest_ones_are_given() -> None:
    path = [11, 9, 5]
    assert traversal(TREE, SCORES, SIZES, int(SIZES[path].sum()) - 1).nodes == (9, 5)
    assert traversal(TREE, SCORES, SIZES, 1).nodes == (5,)


@pytest.mark.parametrize("words", [200, 400])
def test_a_traversal_of_summaries_of_a_hundred_words_reaches_leaves(words: int) -> None:
    tree = small_tree(8, (0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13))
    sizes = np.array([75] * 8 + [100] * 7)
    found = traversal(tree, np.linspace(0.1, 0.9, 15), sizes, words)
    assert found.leaves
    assert sizes[list(found.nodes)].sum() <= words


def test_sizes_of_leaves_only_and_parameters_below_one_are_refused() -> None:
    for selector in (collapsed_tree, collapsed_set, traversal):
        with pytest.raises(InvariantError, match=r"\(8,\)"):
            selector(TREE, SCORES, SIZES[:8], ALL)
        with pytest.raises(ConfigError, match="limit is 0"):
            selector(TREE, SCORES, SIZES, 0)
    for selector in (collapsed_set, traversal):
        with pytest.raises(ConfigError, match="k is 0"):
            selector(TREE, SCORES, SIZES, ALL, k=0)
