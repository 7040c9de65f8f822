"""Figures with intervals, by hand-made scores."""

import numpy as np
import pytest

from bench.answers.stats import auc, mean, pooled_f1, refused_at, two_samples


def test_a_tie_counts_half_in_the_auc() -> None:
    assert auc(np.array([0.9, 0.5]), np.array([0.5, 0.1])) == pytest.approx(3.5 / 4)


def test_the_threshold_refuses_no_more_of_the_answerable_than_is_allowed() -> None:
    positive = np.arange(10) / 10
    negative = np.array([0.05, 0.09, 0.1, 0.5])
    assert refused_at(positive, negative, allowed=0.1) == 0.5
    assert refused_at(positive, negative, allowed=0.0) == 0.0


def test_an_interval_holds_the_mean_and_shrinks_with_more_questions() -> None:
    few, many = mean([0.0, 1.0] * 10), mean([0.0, 1.0] * 1000)
    assert few.low < few.value == 0.5 < few.high
    assert many.high - many.low < few.high - few.low


def test_a_constant_difference_has_no_width() -> None:
    found = mean([0.25] * 20)
    assert (found.value, found.low, found.high) == (0.25, 0.25, 0.25)


def test_answerable_and_unanswerable_questions_are_resampled_apart() -> None:
    found = two_samples(auc, np.array([0.9, 0.8, 0.4]), np.array([0.5]))
    assert found.value == pytest.approx(2 / 3, abs=1e-4)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_counts_of_words_are_pooled_over_rows() -> None:
    precision, recall, f1 = pooled_f1(np.array([[3, 1, 0], [0, 0, 3]]))
    assert (precision, recall) == (0.75, 0.5)
    assert f1 == pytest.approx(0.6)
    assert pooled_f1(np.zeros((2, 3), dtype=np.int64)) == (0.0, 0.0, 0.0)
