"""When enough is told: whether a further unit still adds, by a small model trained on labelled evidence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from discorag.answer.logistic import Logistic
from discorag.answer.words import Floats, Said

WEIGHTS = Path(__file__).parent / "weights" / "stop.json"
NAMES = ("odds", "best", "told", "new")
"""What the model sees of a unit: the logarithm of the scorer's odds that it answers, and of the best unit's; how many
are told already; and how much of the question's words it says that none of those does, rare words weighing more."""


def adds(unit: int, told: Sequence[int], relevance: Floats, said: Said) -> bool:
    """Whether ``unit`` is worth telling after the units ``told``.

    Args:
        unit: Index of the unit.
        told: Indices of those that are told, at least one.
        relevance: The scorer's probability of every unit, shape (units,).
        said: How far every unit says the question's words.
    """
    probability = model().probabilities(np.array([row(unit, told, relevance, said)]))
    return bool(probability[0] >= model().threshold)


def row(unit: int, told: Sequence[int], relevance: Floats, said: Said) -> list[float]:
    """The numbers of `NAMES`; arguments as above."""
    known = said.forms[list(told)].max(axis=0)
    new = float(np.maximum(said.forms[unit] - known, 0.0) @ said.unusual)
    return [_odds(relevance[unit]), _odds(relevance.max()), float(len(told)), new]


def _odds(probability: float) -> float:
    bounded = min(max(float(probability), 1e-6), 1 - 1e-6)
    return float(np.log(bounded / (1 - bounded)))


@cache
def model() -> Logistic:
    """The trained model; ``threshold`` is the probability from which a further unit is told."""
    return Logistic.model_validate_json(WEIGHTS.read_text("utf-8"))
