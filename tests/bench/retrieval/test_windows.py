import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.retrieval.windows import by_windows, window_scores
from discorag.trees.builders.borders import snapped_windows
from discorag.trees.choose.evidence import Evidence, Floats, Ints
from discorag.types.errors import ConfigError, InvariantError
from discorag.types.retrieval_tree import RetrievalTree
from tests.trees.strategies import small_tree

VECTORS = np.array([[1, 0], [0.6, 0.8], [0.8, -0.6], [0.96, 0.28]])
QUERY = np.array([1.0, 0.0])
FLAT = small_tree(4)
ONES = np.ones(16, np.int64)


def slide(
    tree: RetrievalTree, vectors: Floats, query: Floats, sizes: Ints, limit: int, *, widest: int = 16, k: int = 5
) -> Evidence:
    scores = window_scores(vectors, query, widest)
    return by_windows(tree, scores, np.isfinite(scores), sizes, limit, k)


def snapped(
    tree: RetrievalTree, vectors: Floats, query: Floats, sizes: Ints, limit: int, *, widest: int = 16, k: int = 5
) -> Evidence:
    return by_windows(tree, window_scores(vectors, query, widest), snapped_windows(tree, widest), sizes, limit, k)


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
