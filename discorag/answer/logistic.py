"""A logistic regression as it is kept in a file: which unit answers, and whether anything does."""

from __future__ import annotations

import numpy as np
from pydantic import BaseModel, ConfigDict

from discorag.answer.words import Floats


class Logistic(BaseModel):
    """A logistic regression over standardised features, as it is kept in a file of JSON.

    Args:
        encoder: Whose vectors it was fitted on: its version up to the first ``/``; empty where that does not matter.
        names: Of the features, in the order of the columns.
        mean, scale, weights: Of each feature.
        bias: In log odds.
        threshold: Probability from which something is taken for true.

    Example:
        >>> from discorag.answer.logistic import Logistic
        >>> model = Logistic(names=("x",), mean=(0.0,), scale=(1.0,), weights=(2.0,), bias=0.0, threshold=0.5)
        >>> model.probabilities(np.array([[0.0], [3.0]])).round(2).tolist()
        [0.5, 1.0]
    """

    model_config = ConfigDict(frozen=True)

    encoder: str = ""
    names: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    bias: float
    threshold: float

    def probabilities(self, rows: Floats) -> Floats:
        """Shape (rows,)."""
        odds = ((rows - np.array(self.mean)) / np.array(self.scale)) @ np.array(self.weights) + self.bias
        return 1 / (1 + np.exp(-odds))
