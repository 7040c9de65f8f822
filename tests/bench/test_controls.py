"""The controls that look at a sentence's neighbours, and windows of every width."""

import numpy as np
import pytest

from bench.controls import SlideBuilder, expand, smooth, smoothed
from discorag.store.outline import TreeArrays
from tests.retrieval.builders.checks import source_of
from tests.retrieval.strategies import small_tree

TREE = TreeArrays.of(small_tree(8))
SCORES = np.array([0.9, 0.1, 0.2, 0.3, 1.0, 0.2, 0.4, 0.0])
ONES, ZEROS = np.ones(8, np.int64), np.zeros(8, np.int64)


@pytest.mark.parametrize(
    ("limit", "leaves"),
    [
        (2, (3, 4)),  # the better-scored side first
        (4, (3, 4, 5, 6)),  # two away: 6 scores more than 2
        (6, (0, 2, 3, 4, 5, 6)),  # the next best leaf
        (7, (0, 1, 2, 3, 4, 5, 6)),  # its neighbour
    ],
)
def test_expand_goes_outward_from_the_best_leaf_and_then_to_the_next_best(limit: int, leaves: tuple[int, ...]) -> None:
    assert expand(TREE, SCORES, ONES, limit, ZEROS) == leaves


def test_leaves_of_the_next_document_are_not_neighbours() -> None:
    owners = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    assert expand(TREE, SCORES, ONES, 3, owners) == (2, 3, 4)
    assert smoothed(TREE, np.array([0, 0, 0, 0.4, 0.4, 1.0, 0, 0]), ONES, 1, owners) == (5,)
    assert smoothed(TREE, np.array([0, 0, 0, 0.4, 0.4, 1.0, 0, 0]), ONES, 1, ZEROS) == (4,)


def test_smoothing_means_over_the_neighbours_there_are() -> None:
    np.testing.assert_allclose(smooth(np.array([0.9, 0.3, 0.0, 0.6]), 1), [0.6, 0.4, 0.3, 0.3])


async def test_every_run_of_each_width_is_a_node_also_those_at_the_ends() -> None:
    tree = (await SlideBuilder((2, 5)).build(source_of("Ann ate. Bob bit. Cid cut. Dan dug. Eva ebbed. Flo fed."))).tree
    runs = [(node.children[0], node.children[-1] + 1) for node in tree.nodes[tree.leaves :]]
    assert runs == [(0, 2), (1, 3), (2, 4), (3, 5), (4, 6), (0, 5), (1, 6)]
