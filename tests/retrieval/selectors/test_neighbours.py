import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.retrieval.selectors.neighbours import expand, smooth, smoothed
from discorag.schema.errors import ConfigError, InvariantError
from tests.retrieval.strategies import small_tree

TREE = small_tree(8)
SCORES = np.array([0.9, 0.1, 0.2, 0.3, 1.0, 0.2, 0.4, 0.0])
ONES = np.ones(8, np.int64)


@pytest.mark.parametrize(
    ("limit", "leaves"),
    [
        (1, (4,)),
        (2, (3, 4)),  # the better-scored side first
        (3, (3, 4, 5)),
        (4, (3, 4, 5, 6)),  # two away: 6 scores more than 2
        (5, (2, 3, 4, 5, 6)),
        (6, (0, 2, 3, 4, 5, 6)),  # the next best leaf
        (7, (0, 1, 2, 3, 4, 5, 6)),  # its neighbour; then 6, chosen already, brings 7
        (8, (0, 1, 2, 3, 4, 5, 6, 7)),
    ],
)
def test_expand_goes_outward_from_the_best_leaf_and_then_to_the_next_best(limit: int, leaves: tuple[int, ...]) -> None:
    assert expand(TREE, SCORES, ONES, limit).leaves == leaves


def test_expand_takes_the_left_side_first_where_both_score_the_same() -> None:
    assert expand(TREE, np.array([0, 0, 0, 1, 0, 0, 0, 0.5]), ONES, 2, radius=1).leaves == (2, 3)


def test_the_next_document_is_no_neighbour() -> None:
    owners = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    assert expand(TREE, SCORES, ONES, 3, owners=owners).leaves == (2, 3, 4)
    assert smoothed(TREE, np.array([0, 0, 0, 0.4, 0.4, 1.0, 0, 0]), ONES, 1, owners=owners).leaves == (5,)
    assert smoothed(TREE, np.array([0, 0, 0, 0.4, 0.4, 1.0, 0, 0]), ONES, 1).leaves == (4,)


def test_expand_stops_at_a_neighbour_that_exceeds_the_budget() -> None:
    assert expand(TREE, SCORES, np.array([1, 1, 1, 50, 1, 1, 1, 1]), 10).leaves == (4,)


def test_smoothing_means_over_the_neighbours_there_are() -> None:
    np.testing.assert_allclose(smooth(np.array([0.9, 0.3, 0.0, 0.6]), 1), [0.6, 0.4, 0.3, 0.3])
    np.testing.assert_allclose(smooth(np.array([0.9, 0.3, 0.6]), 5), [0.6, 0.6, 0.6])


def test_smoothed_prefers_a_leaf_among_good_neighbours_to_a_better_one_alone() -> None:
    scores = np.array([0.0, 0.0, 0.9, 0.0, 0.6, 0.7, 0.6, 0.0])
    assert smoothed(TREE, scores, ONES, 1).leaves == (5,)
    assert smoothed(TREE, scores, ONES, 3).leaves == (3, 4, 5)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=9), st.integers(1, 12))
def test_smoothing_is_the_plain_mean_of_the_neighbourhood(scores: list[float], radius: int) -> None:
    plain = [np.mean(scores[max(0, i - radius) : i + radius + 1]) for i in range(len(scores))]
    np.testing.assert_allclose(smooth(np.array(scores), radius), plain, atol=1e-12)


def test_parameters_below_one_and_scores_of_another_tree_are_refused() -> None:
    for select in (expand, smoothed):
        with pytest.raises(ConfigError, match="radius is 0"):
            select(TREE, SCORES, ONES, 3, radius=0)
        with pytest.raises(InvariantError, match=r"\(7,\)"):
            select(TREE, SCORES[:7], ONES, 3)
