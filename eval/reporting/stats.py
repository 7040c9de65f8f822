"""Is one system better than another on the same questions? Paired t-test and paired bootstrap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

RESAMPLES = 9999
TIE = 1e-9
_BATCH = 500


class Interval(BaseModel, frozen=True):
    """A 95 % interval, in score points."""

    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether the whole interval lies on one side of 0."""
        return self.low > TIE or self.high < -TIE


class Paired(BaseModel, frozen=True):
    """The first system's scores minus the second's, question by question.

    Args:
        n: Number of questions.
        difference: Mean difference in score points; positive where the first is better.
        p: Two-sided p of the paired t-test (as in Disco-RAG, appendix H); None where it is undefined: fewer than two
            questions, or the same difference at every one.
        interval: 95 % percentile bootstrap interval of the mean difference; None for fewer than two questions.
        wins, losses, ties: Questions at which the first is better, worse, equal.
    """

    n: int
    difference: float
    p: float | None
    interval: Interval | None
    wins: int
    losses: int
    ties: int

    @property
    def shown(self) -> str:
        """Difference and interval, bold in Markdown where the interval excludes 0."""
        interval = f" [{self.interval.low:+.1f}, {self.interval.high:+.1f}]" if self.interval else ""
        text = f"{self.difference:+.1f}{interval}"
        return f"**{text}**" if self.interval and self.interval.excludes_zero else text


def paired(a: Sequence[float], b: Sequence[float], *, seed: int, resamples: int = RESAMPLES) -> Paired:
    """Compare two systems on the same questions.

    Args:
        a: Scores of the first system, 0 to 100, one per question.
        b: Scores of the second, in the same order.
        seed: Of the bootstrap.
        resamples: Of the bootstrap.

    Raises:
        ValueError: The sequences differ in length, or are empty.
    """
    if len(a) != len(b) or not a:
        raise ValueError(f"Paired scores must be as many, and some: {len(a)} and {len(b)}.")
    differences = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    return Paired(
        n=len(a),
        difference=float(differences.mean()),
        p=_t_test(differences),
        interval=mean_interval(differences.tolist(), seed=seed, resamples=resamples),
        wins=int((differences > TIE).sum()),
        losses=int((differences < -TIE).sum()),
        ties=int((np.abs(differences) <= TIE).sum()),
    )


def paired_by_question(a: Mapping[str, float], b: Mapping[str, float], *, seed: int) -> Paired | None:
    """`paired` over the questions that both have; None if there are none."""
    shared = [question for question in a if question in b]
    return paired([a[q] for q in shared], [b[q] for q in shared], seed=seed) if shared else None


def corrected(ps: Sequence[float]) -> list[float]:
    """The p of several comparisons, corrected for their number (Holm)."""
    if not ps:
        return []
    from statsmodels.stats.multitest import multipletests

    return [float(p) for p in multipletests(ps, method="holm")[1]]


def mean_interval(values: Sequence[float], *, seed: int, resamples: int = RESAMPLES) -> Interval | None:
    """95 % percentile bootstrap interval of a mean; None for fewer than two values."""
    array = np.asarray(values, dtype=np.float64)
    if len(array) < 2:
        return None
    if _constant(array):
        return Interval(low=float(array.min()), high=float(array.max()))
    from scipy.stats import bootstrap

    found = bootstrap(
        (array,),
        np.mean,
        n_resamples=resamples,
        batch=_BATCH,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(low=float(found.low), high=float(found.high))


def _t_test(differences: NDArray[np.float64]) -> float | None:
    if len(differences) < 2 or _constant(differences):
        return None
    from scipy.stats import ttest_rel

    return float(ttest_rel(differences, np.zeros_like(differences)).pvalue)


def _constant(values: NDArray[np.float64]) -> bool:
    return float(np.ptp(values)) <= TIE
