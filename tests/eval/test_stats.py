from collections.abc import Sequence
from math import atan, pi, sqrt

import pytest

from eval.reporting.stats import Interval, Paired, compare


def compare_lists(a: Sequence[float], b: Sequence[float], *, seed: int = 0) -> Paired:
    found = compare({str(i): x for i, x in enumerate(a)}, {str(i): x for i, x in enumerate(b)}, seed=seed)
    assert found
    return found


def test_t_test_and_mean_equal_those_by_hand() -> None:
    # d = 2, 1, 3, 0: mean 1.5; variance (0.25 + 0.25 + 2.25 + 2.25) / 3 = 5/3; t = 1.5 / sqrt(5/12), t² = 5.4.
    # Three degrees of freedom: F(t) = 1/2 + (x / (1 + x²) + atan x) / pi with x = t / sqrt(3).
    x = sqrt(5.4 / 3)
    p = 2 * (0.5 - (x / (1 + x * x) + atan(x)) / pi)
    found = compare_lists([3, 5, 7, 5], [1, 4, 4, 5])
    assert (found.n, found.difference) == (4, 1.5)
    assert found.p == pytest.approx(p, abs=1e-9)
    assert found.p == pytest.approx(0.1027, abs=1e-4)


def test_bootstrap_interval_equals_that_by_hand_and_one_that_touches_zero_does_not_exclude_it() -> None:
    # Resampled means of 1 and 3 are 1, 2, 3 with chances 1/4, 1/2, 1/4: the outer 2.5 % are 1 and 3.
    assert compare_lists([1, 3], [0, 0]).interval == Interval(low=1, high=3)
    found = [Interval(low=lo, high=hi).excludes_zero for lo, hi in ((0, 1), (-1, 0), (0.1, 1), (-1, -0.1), (-1, 1))]
    assert found == [False, False, True, True, False]


@pytest.mark.parametrize(("values", "interval"), [([4.0, 4.0, 4.0], Interval(low=4, high=4)), ([4.0], None)])
def test_equal_or_single_differences_have_no_p(values: list[float], interval: Interval | None) -> None:
    found = compare_lists(values, [0.0] * len(values))
    assert (found.difference, found.p, found.interval) == (4, None, interval)


def test_only_questions_that_both_have_are_compared() -> None:
    found = compare({"a": 3.0, "b": 9.0}, {"a": 1.0, "c": 0.0}, seed=0)
    assert found == Paired(n=1, difference=2.0)
    assert compare({"a": 1.0}, {"b": 1.0}, seed=0) is None
