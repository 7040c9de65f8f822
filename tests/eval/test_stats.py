from math import atan, pi, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.reporting.stats import Interval, mean_interval, paired


def test_t_test_mean_and_counts_equal_those_by_hand() -> None:
    # d = 2, 1, 3, 0: mean 1.5; variance (0.25 + 0.25 + 2.25 + 2.25) / 3 = 5/3; t = 1.5 / sqrt(5/12), t² = 5.4.
    # Three degrees of freedom: F(t) = 1/2 + (x / (1 + x²) + atan x) / pi with x = t / sqrt(3).
    x = sqrt(5.4 / 3)
    p = 2 * (0.5 - (x / (1 + x * x) + atan(x)) / pi)
    found = paired([3, 5, 7, 5], [1, 4, 4, 5], seed=0)
    assert (found.n, found.difference, found.wins, found.losses, found.ties) == (4, 1.5, 3, 0, 1)
    assert found.p == pytest.approx(p, abs=1e-9)
    assert found.p == pytest.approx(0.1027, abs=1e-4)


def test_bootstrap_interval_equals_that_by_hand() -> None:
    # Resampled means of 1 and 3 are 1, 2, 3 with chances 1/4, 1/2, 1/4: the outer 2.5 % are 1 and 3.
    assert mean_interval([1, 3], seed=0) == Interval(low=1, high=3)


@pytest.mark.parametrize(("values", "interval"), [([4.0, 4.0, 4.0], Interval(low=4, high=4)), ([4.0], None)])
def test_equal_or_single_differences_have_no_p(values: list[float], interval: Interval | None) -> None:
    found = paired(values, [0.0] * len(values), seed=0)
    assert (found.difference, found.p, found.interval) == (4, None, interval)


def test_interval_that_touches_zero_does_not_exclude_it() -> None:
    found = [Interval(low=lo, high=hi).excludes_zero for lo, hi in ((0, 1), (-1, 0), (0.1, 1), (-1, -0.1), (-1, 1))]
    assert found == [False, False, True, True, False]


@pytest.mark.parametrize(("a", "b"), [([1.0], [1.0, 2.0]), ([], [])])
def test_scores_that_do_not_pair_are_refused(a: list[float], b: list[float]) -> None:
    with pytest.raises(ValueError, match="as many"):
        paired(a, b, seed=0)


score = st.floats(0, 100).map(lambda x: round(x, 3))


@given(st.lists(st.tuples(score, score), min_size=1, max_size=12))
def test_swapping_the_systems_mirrors_everything(pairs: list[tuple[float, float]]) -> None:
    a, b = [p[0] for p in pairs], [p[1] for p in pairs]
    one, two = paired(a, b, seed=1, resamples=199), paired(b, a, seed=1, resamples=199)
    assert one.difference == pytest.approx(-two.difference, abs=1e-6)
    assert (one.wins, one.losses, one.ties) == (two.losses, two.wins, two.ties)
    assert one.wins + one.losses + one.ties == one.n
    assert (one.p is None) == (two.p is None)
    assert one.p is None or one.p == pytest.approx(two.p, abs=1e-6)
    if one.interval and two.interval:
        assert one.interval.low == pytest.approx(-two.interval.high, abs=1e-6)
        assert one.interval.low - 1e-6 <= one.interval.high
