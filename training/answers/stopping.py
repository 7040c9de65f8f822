"""Fits `discorag.answer.stop`: whether the next unit is gold too, given those that are told before it.

Only sets whose gold evidence is single sentences can say so; where a whole section is gold, everything adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discorag.answer import stop
from discorag.answer.fit import logistic
from discorag.answer.logistic import Logistic
from discorag.answer.selection import LIMIT
from discorag.answer.words import Floats
from training.answers import listwise
from training.answers.listwise import Ranked

SENTENCES = ("clapnq", "hotpotqa", "nq_open_oracle")
_GRID = np.linspace(0.05, 0.8, 31)
_NEAR = 0.005
_STRENGTH = 0.3  # the inverse of the penalty on large weights


@dataclass(frozen=True)
class Ladder:
    """A question's best units, best first: a rung for each after the first.

    Args:
        dataset: Whose question it is.
        first: Whether the best unit is gold.
        rows: Of `discorag.answer.stop.NAMES`, shape (rungs, features).
        gold: Whether each is gold, shape (rungs,).
        most: Gold units that an answer can hold.
    """

    dataset: str
    first: bool
    rows: Floats
    gold: NDArray[np.bool_]
    most: int

    def f1(self, going: NDArray[np.bool_]) -> float:
        """Of the units up to the first rung that is not climbed."""
        rungs = len(going) if going.all() else int(going.argmin())
        return 2 * (self.first + int(self.gold[:rungs].sum())) / (1 + rungs + self.most)


def ladder(question: Ranked, relevance: Floats) -> Ladder:
    """Of the units in the order of their probabilities, shape (units,)."""
    order = [int(i) for i in np.argsort(-relevance, kind="stable")[:LIMIT]]
    rows = [stop.row(unit, order[:n], relevance, question.said) for n, unit in enumerate(order) if n]
    return Ladder(
        dataset=question.dataset,
        first=bool(question.gold[order[0]]),
        rows=np.array(rows).reshape(-1, len(stop.NAMES)),
        gold=question.gold[order[1:]],
        most=min(LIMIT, int(question.gold.sum())),
    )


def fit(questions: Sequence[Ranked], relevance: Sequence[Floats]) -> tuple[Logistic, dict[str, dict[str, float]]]:
    """The model with its threshold, and what it does on held-out folds to each dataset.

    The threshold is the least one whose mean F1 there is within half a point of the best: F1 hardly changes around
    its best, and a missing answer is worse than a further sentence.

    Args:
        questions: With gold evidence.
        relevance: The scorer's probabilities of their units, by weights that were fitted without their group.
    """
    ladders, fold = [ladder(q, r) for q, r in zip(questions, relevance, strict=True)], listwise.folds(questions)
    fitted = [_fitted([x for x, f in zip(ladders, fold, strict=True) if f != k]) for k in range(listwise.FOLDS)]
    going = [fitted[f].probabilities(x.rows) for x, f in zip(ladders, fold, strict=True)]
    scored = [_mean_f1(ladders, [g >= at for g in going]) for at in _GRID]
    threshold = round(float(_GRID[int(np.argmax(np.array(scored) >= max(scored) - _NEAR))]), 4)
    return _fitted(ladders).model_copy(update={"threshold": threshold}), _told(ladders, going, threshold)


def _mean_f1(ladders: Sequence[Ladder], going: Sequence[NDArray[np.bool_]]) -> float:
    """Over the datasets of `SENTENCES`, each counting the same."""
    found = [(x.dataset, x.f1(g)) for x, g in zip(ladders, going, strict=True)]
    return float(np.mean([np.mean([value for name, value in found if name == wanted]) for wanted in SENTENCES]))


def _fitted(ladders: Sequence[Ladder]) -> Logistic:
    used = [x for x in ladders if x.dataset in SENTENCES]
    rows, gold = np.concatenate([x.rows for x in used]), np.concatenate([x.gold for x in used])
    sizes = {name: sum(x.dataset == name for x in used) for name in SENTENCES}
    weights = np.concatenate([np.full(len(x.gold), sizes[x.dataset] ** -0.5) for x in used])
    return logistic(rows, gold, weights / weights.mean(), stop.NAMES, _STRENGTH)


def _told(ladders: Sequence[Ladder], going: Sequence[Floats], threshold: float) -> dict[str, dict[str, float]]:
    told: dict[str, dict[str, float]] = {}
    for name in dict.fromkeys(x.dataset for x in ladders):
        own = [(x, g >= threshold) for x, g in zip(ladders, going, strict=True) if x.dataset == name]
        lengths = [1 + (len(g) if g.all() else int(g.argmin())) for _, g in own]
        f1 = [x.f1(g) for x, g in own]
        told[name] = {"units": round(float(np.mean(lengths)), 2), "f1": round(float(np.mean(f1)), 3)}
    return told
