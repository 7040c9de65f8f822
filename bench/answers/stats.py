"""Figures over questions, with 95 % bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

RESAMPLES, SEED = 2000, 0

Floats = NDArray[np.float64]
Statistic = Callable[[Floats, Floats], float]
"""Of the scores of answerable and of unanswerable questions; a row is a question."""


class Estimate(BaseModel):
    """A figure with its 95 % interval."""

    model_config = ConfigDict(frozen=True)

    value: float
    low: float
    high: float


def estimate(value: float, resampled: Sequence[float] | Floats, digits: int = 4) -> Estimate:
    """The figure with the percentiles of its bootstrap."""
    low, high = np.percentile(np.asarray(resampled, dtype=np.float64), [2.5, 97.5])
    return Estimate(value=round(value, digits), low=round(float(low), digits), high=round(float(high), digits))


def mean(values: Sequence[float], digits: int = 4) -> Estimate:
    """The mean over questions; of differences question by question, the paired difference."""
    array = np.asarray(values, dtype=np.float64)
    drawn = array[np.random.default_rng(SEED).integers(0, len(array), (RESAMPLES, len(array)))]
    return estimate(float(array.mean()), drawn.mean(axis=1), digits)


def two_samples(statistic: Statistic, positive: Floats, negative: Floats) -> Estimate:
    """A statistic of answerable and unanswerable questions, each resampled.

    Args:
        statistic: Called with rows of both.
        positive: Scores of the answerable questions, one row a question; several columns for a difference.
        negative: Of the unanswerable ones.
    """
    random = np.random.default_rng(SEED)
    drawn = [
        statistic(
            positive[random.integers(0, len(positive), len(positive))],
            negative[random.integers(0, len(negative), len(negative))],
        )
        for _ in range(RESAMPLES)
    ]
    return estimate(statistic(positive, negative), drawn)


def auc(positive: Floats, negative: Floats) -> float:
    """Probability that a positive score is above a negative one; ties count half."""
    order = np.sort(negative)
    below, upto = np.searchsorted(order, positive, "left"), np.searchsorted(order, positive, "right")
    return float(np.mean(below + upto)) / (2 * len(negative))


def refused_at(positive: Floats, negative: Floats, allowed: float) -> float:
    """Share of ``negative`` refused by the highest threshold that refuses at most ``allowed`` of ``positive``.

    A score below the threshold is refused, so the threshold is one of the positive scores.
    """
    threshold = sorted(positive.tolist())[int(allowed * len(positive))]
    return float(np.mean(np.less(negative, threshold)))


def pooled_f1(counts: NDArray[np.int64]) -> tuple[float, float, float]:
    """Precision, recall and F1 of pooled counts.

    Args:
        counts: Rightly, wrongly and not marked, shape (rows, 3).
    """
    right, wrong, missed = map(float, np.sum(counts, axis=0))
    precision, recall = right / max(1.0, right + wrong), right / max(1.0, right + missed)
    return precision, recall, 2 * right / max(1.0, 2 * right + wrong + missed)
