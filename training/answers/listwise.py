"""Fits the scorer's weights: the units with gold evidence against all others of the same question.

The loss of a question is minus the logarithm of the softmax mass on its gold units; then Platt's scaling makes
probabilities of the scores, on folds that the weights were not fitted on.
"""

# torch's own annotations are not complete.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from discorag.answer.logistic import Logistic
from discorag.answer.selection import LIMIT
from discorag.answer.words import Floats, Said

PENALTY = 0.03
"""Weight of the squared weights; best of 0.003 to 0.1 on the choosing part."""
FOLDS = 5


@dataclass(frozen=True)
class Ranked:
    """A question's units.

    Args:
        dataset: Whose question it is.
        group: See `eval.splits`.
        rows: Features, shape (units, features).
        gold: Whether each unit meets gold evidence, shape (units,).
        said: How far each says the question's words.
    """

    dataset: str
    group: str
    rows: Floats
    gold: NDArray[np.bool_]
    said: Said


def useful(questions: Sequence[Ranked]) -> list[Ranked]:
    """Those that have both gold units and others."""
    return [q for q in questions if q.gold.any() and not q.gold.all()]


def fit(questions: Sequence[Ranked], names: tuple[str, ...]) -> tuple[Logistic, list[Floats]]:
    """The scorer over these features, and of each question's units the probabilities by weights without its group.

    Args:
        questions: Of `useful`.
        names: Of the features.
    """
    rows = np.concatenate([q.rows for q in questions])
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    weights = _weights(questions, mean, scale)
    scores = held_out(questions, range(len(names)))
    slope, bias = _platt(questions, scores)
    relevance = [1 / (1 + np.exp(-slope * s - bias)) for s in scores]
    scorer = Logistic(
        names=names,
        mean=tuple(mean.round(6).tolist()),
        scale=tuple(scale.round(6).tolist()),
        weights=tuple((slope * weights).round(6).tolist()),
        bias=round(bias, 6),
        threshold=_relevant(questions, relevance),
    )
    return scorer, relevance


def folds(questions: Sequence[Ranked]) -> list[int]:
    """The fold of each question; a group is in one."""
    groups = sorted({f"{q.dataset}|{q.group}" for q in questions})
    dealt = dict(zip(groups, np.random.default_rng(0).integers(0, FOLDS, len(groups)).tolist(), strict=True))
    return [dealt[f"{q.dataset}|{q.group}"] for q in questions]


def held_out(questions: Sequence[Ranked], columns: Sequence[int]) -> list[Floats]:
    """Scores of every question by weights that were fitted without its group, over some of the features."""
    chosen = [replace(q, rows=q.rows[:, list(columns)]) for q in questions]
    rows = np.concatenate([q.rows for q in chosen])
    mean, scale, fold = rows.mean(axis=0), rows.std(axis=0) + 1e-6, folds(questions)
    fitted = [
        _weights([q for q, f in zip(chosen, fold, strict=True) if f != k and q.gold.any()], mean, scale)
        for k in range(FOLDS)
    ]
    return [((q.rows - mean) / scale) @ fitted[f] for q, f in zip(chosen, fold, strict=True)]


def _weights(questions: Sequence[Ranked], mean: Floats, scale: Floats) -> Floats:
    x = torch.from_numpy((np.concatenate([q.rows for q in questions]) - mean) / scale)
    gold = torch.from_numpy(np.concatenate([q.gold for q in questions]))
    of = torch.repeat_interleave(torch.arange(len(questions)), torch.tensor([len(q.gold) for q in questions]))
    weights = torch.zeros(x.shape[1], dtype=torch.double, requires_grad=True)
    optimiser = torch.optim.LBFGS([weights], max_iter=100, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        scores = x @ weights
        mass = torch.zeros(len(questions), dtype=torch.double)
        every, own = (mass.index_add(0, of, scores.exp() * keep) for keep in (torch.ones_like(scores), gold.double()))
        value = (every.log() - own.clamp_min(1e-12).log()).mean() + PENALTY * (weights**2).sum()
        value.backward()
        return value

    optimiser.step(loss)  # type: ignore[arg-type]
    return weights.detach().numpy()


def _relevant(questions: Sequence[Ranked], probabilities: Sequence[Floats]) -> float:
    """The probability from which a unit is worth telling if another disputes it: the best mean F1 over gold units."""
    grid = np.linspace(0.02, 0.6, 30)
    return round(
        float(grid[int(np.argmax([np.mean([*map(partial(_f1, at), questions, probabilities)]) for at in grid]))]), 2
    )


def _f1(threshold: float, question: Ranked, probabilities: Floats) -> float:
    """Of the best unit and those, `LIMIT` at most, that reach the threshold."""
    order = np.argsort(-probabilities)[:LIMIT]
    told = [i for n, i in enumerate(order) if n == 0 or probabilities[i] >= threshold]
    return 2 * float(question.gold[told].sum()) / (len(told) + min(LIMIT, int(question.gold.sum())))


def _platt(questions: Sequence[Ranked], scores: Sequence[Floats]) -> tuple[float, float]:
    """Slope and bias that make probabilities of the scores."""
    gold = np.concatenate([q.gold for q in questions])
    model = LogisticRegression(C=1e6).fit(np.concatenate(scores)[:, None], gold)
    return float(model.coef_[0, 0]), float(model.intercept_[0])
