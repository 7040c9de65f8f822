"""Fits the model of `discorag.answer.answerable`: for another encoder, or to questions of one's own documents."""

# scikit-learn is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, QuantileRegressor
from sklearn.model_selection import GroupKFold

from discorag.answer.answerable import NAMES, USUAL, Refusal
from discorag.answer.logistic import Logistic
from discorag.answer.words import Floats
from discorag.types.errors import InputError

WRONG = 0.08
"""Share of the questions with an answer that the threshold lets be refused, on held-out folds."""
FEWEST = 20
"""Questions of each kind."""
FOLDS = 5
_STRENGTH = 0.1  # the inverse of the penalty on large weights, best of 0.03 to 1 on held-out folds


def fit(
    rows: Floats, answerable: NDArray[np.bool_], groups: Sequence[str], encoder: str, weights: Floats | None = None
) -> Refusal:
    """A calibrated model, with the threshold under which `WRONG` of the answerable questions fall.

    Args:
        rows: Of `discorag.answer.answerable.evidence_features`, shape (questions, features).
        answerable: Shape (questions,).
        groups: Of each question its document: a group is never on both sides of a fold.
        encoder: See `Refusal`.
        weights: Of the questions, shape (questions,).

    Raises:
        InputError: Too few questions of one of the two kinds.
    """
    if min(answerable.sum(), (~answerable).sum()) < FEWEST:
        raise InputError(
            f"There are {answerable.sum()} questions with an answer and {(~answerable).sum()} without.",
            hint=f"Give at least {FEWEST} of each.",
        )
    weights = np.ones(len(rows)) if weights is None else weights
    told = held_out(rows, answerable, groups, weights)
    least, slope = _line(rows[answerable, NAMES.index("sentences")] - USUAL, told[answerable], weights[answerable])
    model = _fitted(rows, answerable, weights, encoder)
    return model.model_copy(update={"threshold": round(least, 4), "slope": round(slope, 4)})


def _line(amount: Floats, told: Floats, weights: Floats) -> tuple[float, float]:
    """The probability under which `WRONG` of them fall at the usual amount, and how its log odds change with it."""
    line = QuantileRegressor(quantile=WRONG, alpha=0.0)
    line.fit(amount[:, None], np.log(told / (1 - told)), sample_weight=weights)
    return float(1 / (1 + np.exp(-line.intercept_))), float(line.coef_[0])


def held_out(rows: Floats, answerable: NDArray[np.bool_], groups: Sequence[str], weights: Floats) -> Floats:
    """The probability of each question by a model that was fitted without its group. Arguments as of `fit`."""
    found = np.zeros(len(rows))
    for seen, unseen in GroupKFold(FOLDS).split(rows, answerable, groups):
        model = _fitted(rows[seen], answerable[seen], weights[seen])
        found[unseen] = model.probabilities(rows[unseen])
    return found


def _fitted(rows: Floats, answerable: NDArray[np.bool_], weights: Floats, encoder: str = "") -> Refusal:
    model = logistic(rows, answerable, weights, NAMES, _STRENGTH)
    return Refusal.model_validate(model.model_dump() | {"encoder": encoder})


def logistic(
    rows: Floats, labels: NDArray[np.bool_], weights: Floats, names: tuple[str, ...], strength: float
) -> Logistic:
    """A regression as it is kept, with the threshold at one half.

    Args:
        rows: Shape (n, features).
        labels: Shape (n,).
        weights: Of the rows, shape (n,).
        names: Of the features.
        strength: The inverse of the penalty on large weights.
    """
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    model = LogisticRegression(C=strength, max_iter=2000).fit((rows - mean) / scale, labels, weights)
    return Logistic(
        names=names,
        mean=tuple(mean.round(6).tolist()),
        scale=tuple(scale.round(6).tolist()),
        weights=tuple(model.coef_[0].round(6).tolist()),
        bias=round(float(model.intercept_[0]), 6),
        threshold=0.5,
    )
