"""The learned relations of the local graph engine: logistic models over pairs of passages, run with numpy.

Trained by `training.relations.train` on the GUM corpus. It says whether two passages are related (calibrated),
which of them is the satellite, and of what family the relation is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discorag.discourse.relate.passages import Floats, Pairs, Passage, pair_features
from discorag.schema.chunk_relations import ChunkRelation
from discorag.schema.errors import ConfigError

WEIGHTS = Path(__file__).parent / "weights" / "relations.safetensors"
_R = ChunkRelation
FAMILIES = (
    _R.ELABORATES, _R.SUPPLEMENTS, _R.FOLLOWS, _R.BACKGROUND_FOR, _R.COMPARES_WITH, _R.SUPPORTS, _R.JUSTIFIES,
    _R.MOTIVATES, _R.CAUSES, _R.RESULTS_FROM,
)  # fmt: skip
"""The coarse relations that are learned, each named by the label that it becomes when no cue says more.

FOLLOWS stands for sequence in either direction, COMPARES_WITH for everything adversative: that two texts disagree is
never concluded from a learned class.
"""
FIRST, SECOND, NEITHER = 0, 1, 2
"""Orientations: the first passage is the satellite (the edge's source), the second is, or both are nuclei."""

WITHIN, ACROSS = 0, 1
"""The two sets of weights: for pairs of one document, for pairs of two."""
_TURNED = [1, 0, 2]  # orientations of a pair that is turned round


@dataclass(frozen=True)
class Predicted:
    """What the models say of n ordered pairs.

    Args:
        related: Calibrated probability that a relation holds, shape (n,); the same for both orders.
        orientation: Probabilities that the first is the satellite, the second is, neither is; shape (n, 3).
        family: Probabilities of `FAMILIES`, shape (n, families).

    Example:
        >>> from discorag.discourse.relate.model import Predicted
        >>> found = Predicted(related=np.array([0.8]), orientation=np.array([[0.7, 0.2, 0.1]]), family=np.zeros((1, 9)))
        >>> ["first is the satellite", "second is", "neither is"][int(found.orientation[0].argmax())]
        'first is the satellite'
    """

    related: Floats
    orientation: Floats
    family: Floats


@dataclass(frozen=True)
class Inputs:
    """What is read of n ordered pairs.

    Args:
        between: `pair_features` of the pairs, shape (n, f).
        full: The same with `Passage.alone` of the first and of the second, shape (n, f + 2 a).

    Example:
        >>> from discorag.discourse.relate.model import inputs_of
        >>> inputs = inputs_of(passages, (np.array([0]), np.array([1])), same=np.array([False]))
        >>> len(inputs.between), inputs.full.shape[1] > inputs.between.shape[1]
        (1, True)
    """

    between: Floats
    full: Floats


def inputs_of(passages: Sequence[Passage], pairs: Pairs, same: NDArray[np.bool_]) -> Inputs:
    """The inputs; ``same`` as in `pair_features`."""
    between, alone = pair_features(passages, pairs, same), np.stack([p.alone for p in passages])
    return Inputs(between, np.concatenate([between, alone[pairs[0]], alone[pairs[1]]], axis=1))


def both_ways(passages: Sequence[Passage], pairs: Pairs, same: NDArray[np.bool_]) -> tuple[Inputs, Inputs]:
    """The inputs of the pairs, and of the pairs turned round."""
    one, other = pairs
    turned = np.concatenate([one, other]), np.concatenate([other, one])
    both, n = inputs_of(passages, turned, np.concatenate([same, same])), len(same)
    return Inputs(both.between[:n], both.full[:n]), Inputs(both.between[n:], both.full[n:])


@dataclass(frozen=True)
class RelationModel:
    """Logistic models, one set for pairs of one document and one for pairs of two.

    Args:
        weights: For ``related``, ``orientation`` and ``family`` a matrix ``.weight`` of shape (2, outputs, inputs) and
            ``.bias``, (2, outputs); ``calibration``, slope and shift, (2, 2); ``thresholds``, (2,).

    Example:
        >>> from discorag.discourse.relate.model import load_model
        >>> found = load_model().predict(passages, (np.array([0]), np.array([1])), same=np.array([False]))
        >>> found.related.shape, bool(0 <= found.related[0] <= 1)
        ((1,), True)
    """

    weights: Mapping[str, Floats]

    @property
    def thresholds(self) -> Floats:
        """Probability from which two passages count as related: within a document, across documents."""
        return self.weights["thresholds"]

    def predict(self, passages: Sequence[Passage], pairs: Pairs, same: NDArray[np.bool_]) -> Predicted:
        """What is said of ``pairs``; the order in which a pair is given changes nothing but the orientation's.

        Args:
            passages: At least one.
            pairs: Indices of the first and of the second passage of each pair.
            same: For each pair, whether the two are parts of one document.
        """
        starts = np.array([p.start for p in passages])
        late = same & (starts[pairs[0]] > starts[pairs[1]])
        first, second = np.where(late, pairs[1], pairs[0]), np.where(late, pairs[0], pairs[1])
        said = self.read(*both_ways(passages, (first, second), same), same)
        orientation = np.where(late[:, None], said.orientation[:, _TURNED], said.orientation)
        return Predicted(said.related, orientation, said.family)

    def read(self, one: Inputs, other: Inputs, same: NDArray[np.bool_]) -> Predicted:
        """The same from inputs: of pairs in the order of the text, if they have one, and of the pairs turned round.

        Parts of one document are read in the order of the text; two documents have none, so both readings are averaged.
        """
        slope, shift = self.weights["calibration"][np.where(same, WITHIN, ACROSS)].T
        orientation = _softmax(self._linear("orientation", one.full, same))
        turned = _softmax(self._linear("orientation", other.full, same))[:, _TURNED]
        family = _softmax(self._linear("family", one.full, same))
        again = _softmax(self._linear("family", other.full, same))
        return Predicted(
            _sigmoid(slope * self.logits(one, other, same) + shift),
            _mean_across(orientation, turned, same),
            _mean_across(family, again, same),
        )

    def logits(self, one: Inputs, other: Inputs, same: NDArray[np.bool_]) -> Floats:
        """Uncalibrated relatedness, shape (n,)."""
        first, again = (self._linear("related", i.between, same) for i in (one, other))
        return _mean_across(first, again, same)[:, 0]

    def _linear(self, name: str, x: Floats, same: NDArray[np.bool_]) -> Floats:
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        within: Floats = x @ weight[WITHIN].T + bias[WITHIN]
        across: Floats = x @ weight[ACROSS].T + bias[ACROSS]
        return np.where(same[:, None], within, across)


def _mean_across(one: Floats, other: Floats, same: NDArray[np.bool_]) -> Floats:
    return np.where(same[:, None], one, (one + other) / 2)


def _sigmoid(x: Floats) -> Floats:
    return (1 / (1 + np.exp(-np.clip(x, -30, 30)))).astype(np.float32)


def _softmax(x: Floats) -> Floats:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@cache
def load_model(path: Path = WEIGHTS) -> RelationModel:
    """The trained models.

    Raises:
        ConfigError: There are no weights.
    """
    from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType]

    if not path.is_file():
        raise ConfigError(f"There are no weights in {path}.", hint="Train them: python -m training.relations.train.")
    return RelationModel({name: value.astype(np.float32) for name, value in load_file(path).items()})
