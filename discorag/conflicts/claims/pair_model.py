"""Small models of two texts side by side: a probability from what `discorag.conflicts.claims.features` sees of them.

Words that differ have learned weights; their sum and the numbers go through small regression trees, whose score is
made a probability. Fitted by ``python -m training.disagreement``; here they are only read.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from discorag.conflicts.claims.features import Seen

Values = NDArray[np.float64]


class Tree(BaseModel):
    """A regression tree, node by node, the root first.

    Args:
        feature: Of each node the column that it asks; -1 for a leaf.
        threshold: Up to which it goes left.
        left, right: Where it goes.
        value: Of each node, used of leaves.

    Example:
        >>> from discorag.conflicts.claims.pair_model import Tree
        >>> tree = Tree(feature=(0, -1, -1), threshold=(0.5, 0, 0), left=(1, 0, 0), right=(2, 0, 0), value=(0, -1, 1))
        >>> tree.values(np.array([[0.0], [1.0]])).tolist()
        [-1.0, 1.0]
    """

    model_config = ConfigDict(frozen=True)

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]

    def values(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of each row, shape (rows,)."""
        feature, threshold, left, right, value = self._columns
        at = np.zeros(len(rows), np.int64)
        while (inner := feature[at] >= 0).any():
            goes_left = rows[np.arange(len(rows)), feature[at]] <= threshold[at]
            at = np.where(inner, np.where(goes_left, left[at], right[at]), at)
        return value[at]

    @cached_property
    def _columns(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], Values]:
        feature, left, right = (np.array(column, np.int64) for column in (self.feature, self.left, self.right))
        return feature, np.array(self.threshold), left, right, np.array(self.value)


class PairModel(BaseModel):
    """What was learned.

    Args:
        names: Of the numbers, in the order of the columns; behind them comes the sum of the cues.
        cues: Weights of `discorag.conflicts.claims.features.Seen.cues`.
        bias: Of their sum.
        trees: Whose values are added.
        base: Added to them.
        slope, offset: Make a probability of the score (Platt 1999).
        threshold: Probability from which the two are called what the model is of.

    Example:
        >>> from discorag.conflicts.claims.features import NAMES, seen
        >>> from discorag.conflicts.claims.pair_model import PairModel
        >>> weights = {"often>always": -2.0}
        >>> model = PairModel(
        ...     names=NAMES, cues=weights, bias=0.5, trees=(), base=0.0, slope=1.0, offset=0.0, threshold=0.5
        ... )
        >>> model.cue_score(seen("It always rained.", "It often rained."))
        -1.5
    """

    model_config = ConfigDict(frozen=True)

    names: tuple[str, ...]
    cues: dict[str, float]
    bias: float
    trees: tuple[Tree, ...]
    base: float
    slope: float
    offset: float
    threshold: float

    @classmethod
    def read(cls, path: Path) -> Self:
        """From a file of its JSON."""
        return cls.model_validate_json(path.read_text("utf-8"))

    def probabilities(self, found: Sequence[Seen]) -> NDArray[np.float64]:
        """Of each pair, shape (found,)."""
        rows = np.array([[*s.numbers, self.cue_score(s)] for s in found], np.float64)
        score = self.base + sum((tree.values(rows) for tree in self.trees), np.zeros(len(rows)))
        return 1 / (1 + np.exp(-(self.slope * score + self.offset)))

    def cue_score(self, found: Seen) -> float:
        """What the words that differ say, in log odds."""
        return self.bias + sum(self.cues.get(cue, 0.0) for cue in found.cues)
