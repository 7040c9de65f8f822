"""Is one system better than another on the same questions? Paired t-test and paired bootstrap."""

from collections.abc import Mapping, Sequence

import numpy as np
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
    """

    n: int
    difference: float
    p: float | None = None
    interval: Interval | None = None

    @property
    def shown(self) -> str:
        """Difference and interval, bold in Markdown where the interval excludes 0."""
        interval = f" [{self.interval.low:+.1f}, {self.interval.high:+.1f}]" if self.interval else ""
        text = f"{self.difference:+.1f}{interval}"
        return f"**{text}**" if self.interval and self.interval.excludes_zero else text


def compare(a: Mapping[str, float], b: Mapping[str, float], *, seed: int) -> Paired | None:
    """Compare two systems on the questions that both have; None if there are none.

    Args:
        a: Question -> score of the first system, 0 to 100.
        b: The same of the second.
        seed: Seed of the bootstrap.
    """
    differences = np.array([a[question] - b[question] for question in a if question in b])
    if not len(differences):
        return None
    found = Paired(n=len(differences), difference=float(differences.mean()))
    if len(differences) < 2:
        return found
    low, high = float(differences.min()), float(differences.max())
    if high - low <= TIE:
        return found.model_copy(update={"interval": Interval(low=low, high=high)})
    from scipy.stats import bootstrap, ttest_1samp

    rng = np.random.default_rng(seed)
    means = bootstrap(
        (differences,), np.mean, n_resamples=RESAMPLES, batch=_BATCH, method="percentile", rng=rng
    ).confidence_interval
    interval = Interval(low=float(means.low), high=float(means.high))
    return found.model_copy(update={"p": float(ttest_1samp(differences, 0).pvalue), "interval": interval})


def correct_for_number(ps: Sequence[float]) -> list[float]:
    """The p of several comparisons, corrected for their number (Holm)."""
    if not ps:
        return []
    from statsmodels.stats.multitest import multipletests

    return [float(p) for p in multipletests(ps, method="holm")[1]]
