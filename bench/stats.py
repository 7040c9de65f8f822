"""Figures over questions, with 95 % bootstrap intervals."""

# scikit-learn is typed in part only.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

RESAMPLES, SEED = 2000, 0

Floats = NDArray[np.float64]
Statistic = Callable[..., float]
"""A figure of arrays of rows, one for each sample, e.g. the scores of answerable and of unanswerable questions."""


def estimate(statistic: Statistic, *samples: NDArray[Any], digits: int = 4) -> dict[str, float]:
    """Return a statistic as ``value``, and ``low`` and ``high``, the percentiles of its bootstrap.

    Args:
        statistic: Called with the samples.
        samples: A row is a question; the rows of each sample are resampled, and their columns stay together.
        digits: To which all three are rounded.
    """
    from scipy.stats import bootstrap  # takes a second

    def resampled(*rows: NDArray[np.int64]) -> float:
        return statistic(*(sample[at] for sample, at in zip(samples, rows, strict=True)))

    value = statistic(*samples)
    found = {"value": value, "low": value, "high": value}
    if min(map(len, samples)) > 1:
        interval = bootstrap(
            [np.arange(len(sample)) for sample in samples],
            resampled,
            n_resamples=RESAMPLES,
            vectorized=False,
            method="percentile",
            rng=np.random.default_rng(SEED),
        ).confidence_interval
        found |= {"low": interval.low, "high": interval.high}
    return {name: round(float(number), digits) for name, number in found.items()}


def mean(values: Sequence[float] | Floats, digits: int = 4) -> dict[str, float]:
    """The mean over questions; of differences question by question, the paired difference."""
    return estimate(np.mean, np.asarray(values, dtype=np.float64), digits=digits)


def kappa(one: Sequence[bool], other: Sequence[bool]) -> float:
    """Cohen's kappa of two readers' marks."""
    from sklearn.metrics import cohen_kappa_score  # takes a second

    return float(cohen_kappa_score(one, other))


def auc(positive: Floats, negative: Floats) -> float:
    """Probability that a positive score is above a negative one; ties count half."""
    ordered = np.sort(negative)  # scikit-learn's function costs ten times as much, and a bootstrap calls it 2000 times
    below = np.searchsorted(ordered, positive, "left") + np.searchsorted(ordered, positive, "right")
    return float(below.mean()) / (2 * len(ordered))


def refused_at(positive: Floats, negative: Floats, allowed: float) -> float:
    """Share of ``negative`` refused by the highest threshold that refuses at most ``allowed`` of ``positive``.

    A score below the threshold is refused, so the threshold is one of the positive scores.
    """
    threshold = np.sort(positive)[int(allowed * len(positive))]
    return float(np.mean(negative < threshold))
