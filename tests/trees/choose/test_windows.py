import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.trees.choose.windows import slide, snapped, snapped_windows, window_scores
from discorag.types.errors import ConfigError, InvariantError
from discorag.types.retrieval_tree import RetrievalTree
from tests.trees.strategies import retrieval_trees, small_tree

VECTORS = np.array([[1, 0], [0.6, 0.8], [0.8, -0.6], [0.96, 0.28]])
QUERY = np.array([1.0, 0.0])
FLAT = small_tree(4)
ONES = np.ones(16, np.int64)


def windows(tree: RetrievalTree, widest: int) -> set[tuple[int, int]]:
    return {(int(start), int(start + beyond + 1)) for start, beyond in np.argwhere(snapped_windows(tree, widest))}


def test_a_window_scores_as_the_mean_of_its_leaves_made_a_unit_vector() -> None:
    # By hand: the sums of two are (1.6, .8), (1.4, .2), (1.76, -.32); of three (2.4, .2), (2.36, .48).
    expected = [
        [1, 1.6 / np.hypot(1.6, 0.8), 2.4 / np.hypot(2.4, 0.2)],
        [0.6, 1.4 / np.hypot(1.4, 0.2), 2.36 / np.hypot(2.36, 0.48)],
        [0.8, 1.76 / np.hypot(1.76, 0.32), -np.inf],
        [0.96, -np.inf, -np.inf],
    ]
    np.testing.assert_allclose(window_scores(VECTORS, QUERY, 3), expected, atol=1e-8)


def test_slide_brings_in_leaves_whose_window_is_closer_to_the_query_than_they_are() -> None:
    # Leaf 0 scores 1; window 0-2 .997 gives leaf 2; window 1-2 .990 gives leaf 1; leaf 3 scores .96.
    assert slide(FLAT, VECTORS, QUERY, ONES, 3, widest=3, k=1).leaves == (0, 1, 2)
    assert slide(FLAT, VECTORS, QUERY, ONES, 3, widest=1, k=1).leaves == (0, 2, 3)


def test_slide_keeps_to_the_budget_of_the_leaves() -> None:
    assert slide(FLAT, VECTORS, QUERY, np.array([5, 5, 5, 5]), 14, widest=3, k=1).leaves == (0, 2)


def test_windows_that_score_the_same_but_for_rounding_go_in_text_order() -> None:
    vectors = np.tile(np.random.default_rng(1).standard_normal(3), (6, 1))
    assert len({score for score in window_scores(vectors, np.ones(3), 6).ravel() if np.isfinite(score)}) == 1
    assert slide(small_tree(6), vectors, np.ones(3), ONES, 2, widest=4, k=1).leaves == (0, 1)


def test_a_window_whose_vectors_cancel_scores_nothing() -> None:
    assert window_scores(np.array([[1.0, 0], [-1, 0]]), QUERY, 2).tolist() == [[1, 0], [-1, -np.inf]]


@given(st.integers(1, 9), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_window_scores_are_those_of_the_plain_definition(leaves: int, widest: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    vectors, query = random.standard_normal((leaves, 4)), random.standard_normal(4)
    found = window_scores(vectors, query, widest)
    assert found.shape == (leaves, widest)
    for i in range(leaves):
        for wide in range(1, widest + 1):
            mean = vectors[i : i + wide].mean(axis=0)
            plain = mean @ query / np.linalg.norm(mean) / np.linalg.norm(query)
            assert found[i, wide - 1] == (pytest.approx(plain, abs=1e-7) if i + wide <= leaves else -np.inf)


def test_snapped_windows_of_a_flat_tree_are_runs_of_siblings_and_two_subtrees_that_touch() -> None:
    tree = small_tree(6, (0, 1, 2), (3, 4, 5), (6, 7))
    runs = {(a, b) for low in (0, 3) for a in range(low, low + 3) for b in range(a + 1, low + 4)}
    touching = {(2, 4), (0, 4), (2, 6), (0, 6)}
    assert windows(tree, 6) == runs | touching
    assert windows(tree, 3) == runs | {(2, 4)}


def test_snapped_windows_of_a_right_branching_tree_do_not_cut_a_subtree() -> None:
    tree = small_tree(4, (2, 3), (1, 4), (0, 5))
    assert windows(tree, 9) == {(0, 1), (1, 2), (2, 3), (3, 4), (0, 2), (1, 3), (2, 4), (1, 4), (0, 4)}


def test_roots_count_as_siblings() -> None:
    assert windows(small_tree(3), 3) == {(0, 1), (1, 2), (2, 3), (0, 2), (1, 3), (0, 3)}


def test_a_cluster_of_leaves_that_are_not_adjacent_makes_no_window() -> None:
    assert windows(small_tree(4, (0, 2), (1, 3)), 4) == {(0, 1), (1, 2), (2, 3), (3, 4), (0, 2), (1, 3), (2, 4)}


@given(retrieval_trees(), st.integers(1, 14))
def test_snapped_windows_hold_all_leaves_and_end_inside_the_text(tree: RetrievalTree, widest: int) -> None:
    found = windows(tree, widest)
    assert {(i, i + 1) for i in range(tree.leaves)} <= found
    assert all(end <= tree.leaves and end - start <= widest for start, end in found)


@given(retrieval_trees())
def test_every_narrow_subtree_of_adjacent_leaves_is_a_snapped_window(tree: RetrievalTree) -> None:
    spans = {(leaves[0], leaves[-1] + 1) for leaves in tree.leaves_of if leaves[-1] - leaves[0] + 1 == len(leaves)}
    assert {(start, end) for start, end in spans if end - start <= 5} <= windows(tree, 5)


def test_snapped_does_not_use_a_window_that_cuts_a_subtree() -> None:
    # Without window 0-2, which cuts the subtree 2-3: leaf 0; window 1-2 gives 2; window 2-3 .984 gives 3.
    tree = small_tree(4, (2, 3), (1, 4), (0, 5))
    assert slide(tree, VECTORS, QUERY, ONES, 3, widest=3, k=1).leaves == (0, 1, 2)
    assert snapped(tree, VECTORS, QUERY, ONES, 3, widest=3, k=1).leaves == (0, 2, 3)


def test_vectors_of_another_tree_or_encoder_are_refused() -> None:
    for select in (slide, snapped):
        with pytest.raises(InvariantError, match=r"\(3,\)"):
            select(FLAT, VECTORS[:3], QUERY, ONES, 3)
        with pytest.raises(InvariantError, match=r"\(4, 2\), the query \(3,\)"):
            select(FLAT, VECTORS, np.ones(3), ONES, 3)
        with pytest.raises(ConfigError, match="widest is 0"):
            select(FLAT, VECTORS, QUERY, ONES, 3, widest=0)
        with pytest.raises(ConfigError, match="k is 0"):
            select(FLAT, VECTORS, QUERY, ONES, 3, k=0)
        with pytest.raises(InvariantError, match="node 1 is nan"):
            select(FLAT, np.where(VECTORS == 0.6, np.nan, VECTORS), QUERY, ONES, 3)


@pytest.mark.deep
def test_sixteen_widths_over_a_thousand_leaves_are_scored_in_a_moment() -> None:
    vectors = np.random.default_rng(0).standard_normal((1000, 384)).astype(np.float32)
    start = time.process_time()
    window_scores(vectors, vectors[0], 16)
    assert time.process_time() - start < 0.5
