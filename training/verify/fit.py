"""Fits models of two texts: weights of the words that differ, then trees over these and the numbers."""

# scikit-learn is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from discorag.conflicts.claims.features import Seen
from discorag.conflicts.claims.pair_model import PairModel, Tree
from training.verify.sources import Pair

FOLDS = 4
EDITED = 0.55
"""Share of the weight that edits have; each set of others has a part of the rest, its classes the same weight."""
_FEWEST = {"+": 25, "-": 25, "^": 25, ">": 12}  # examples that a cue stands in
_PENALTY = 0.1  # inverse, of the cues' weights
_TREES, _LEAVES, _RATE = 120, 10, 0.1

Floats = NDArray[np.float64]
Threshold = Callable[[Floats, "Labels"], float]


@dataclass(frozen=True)
class Examples:
    """Pairs with what the model sees of them."""

    pairs: Sequence[Pair]
    seen: Sequence[Seen]

    @property
    def supported(self) -> NDArray[np.bool_]:
        """Shape (pairs,)."""
        return np.array([p.supported for p in self.pairs])

    @property
    def groups(self) -> NDArray[np.str_]:
        """What is on one side of a fold."""
        return np.array([f"{p.source}|{p.group}" for p in self.pairs])

    def some(self, n: int) -> Examples:
        """At most ``n`` of them, evenly from all."""
        step = max(1, len(self.pairs) // n)
        return Examples(self.pairs[::step], self.seen[::step])

    def part(self, held_out: bool) -> Examples:
        """Those that only score, or those that are fitted."""
        kept = [i for i, p in enumerate(self.pairs) if p.held_out is held_out]
        return Examples([self.pairs[i] for i in kept], [self.seen[i] for i in kept])


def weights(pairs: Sequence[Pair]) -> Floats:
    """Of the pairs, mean one."""
    kinds = np.array(["edits" if p.edit else p.source for p in pairs])
    supported, raw = np.array([p.supported for p in pairs]), np.zeros(len(pairs))
    others = len(set(kinds)) - 1
    for kind in set(kinds):
        for label in (True, False):
            mask = (kinds == kind) & (supported == label)
            if mask.any():
                raw[mask] = (EDITED if kind == "edits" else (1 - EDITED) / others) / 2 / mask.sum()
    return raw * len(pairs) / raw.sum()


def vocabulary(seen: Sequence[Seen]) -> list[str]:
    """The cues that are frequent enough to be weighed."""
    counts = Counter(cue for s in seen for cue in s.cues)
    return sorted(c for c, n in counts.items() if n >= _FEWEST[kind if (kind := c.lstrip("~")[0]) in "+-^" else ">"])


def _matrix(seen: Sequence[Seen], cues: Sequence[str]) -> Any:
    at = {cue: i for i, cue in enumerate(cues)}
    cells = [(row, at[cue]) for row, s in enumerate(seen) for cue in s.cues if cue in at]
    rows, columns = zip(*cells, strict=True)
    return csr_matrix((np.ones(len(cells)), (rows, columns)), shape=(len(seen), len(cues)))


def _cue_model() -> LogisticRegression:
    return LogisticRegression(C=_PENALTY, max_iter=400)


def _tree_model() -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(
        max_iter=_TREES,
        max_leaf_nodes=_LEAVES,
        learning_rate=_RATE,
        early_stopping=False,  # pyright: ignore[reportArgumentType]
        random_state=0,
    )


@dataclass(frozen=True)
class Labels:
    """What is fitted to: the answer, the weight and the group of each pair, all of shape (pairs,)."""

    y: NDArray[np.bool_]
    weights: Floats
    groups: NDArray[np.str_]

    @classmethod
    def of(cls, examples: Examples) -> Labels:
        """Whether it is supported."""
        return cls(examples.supported, weights(examples.pairs), examples.groups)


def scored_out_of_fold(
    found: Sequence[Seen], labels: Labels, columns: Sequence[int] | None = None, *, cues: bool = True
) -> Floats:
    """Log odds of each pair by models that were fitted without its group.

    Args:
        found: What is seen of each pair.
        labels: Theirs.
        columns: Of the numbers; all if None.
        cues: Whether the words that differ count.
    """
    rows, y, w = _rows(found, labels, columns, cues=cues), labels.y, labels.weights
    scores = np.zeros(len(y))
    for a, b in GroupKFold(FOLDS).split(rows, y, labels.groups):
        scores[b] = _tree_model().fit(rows[a], y[a], sample_weight=w[a]).decision_function(rows[b])
    return scores


def _rows(found: Sequence[Seen], labels: Labels, columns: Sequence[int] | None, *, cues: bool) -> Floats:
    numbers = np.array([s.numbers for s in found], np.float64)
    kept = numbers if columns is None else numbers[:, list(columns)]
    return np.c_[kept, _cues_out_of_fold(found, labels)] if cues else kept


def _cues_out_of_fold(found: Sequence[Seen], labels: Labels) -> Floats:
    """What the words that differ say of each pair, by weights that were fitted without its group."""
    x, y, w = _matrix(found, vocabulary(found)), labels.y, labels.weights
    scores = np.zeros(len(y))
    for a, b in GroupKFold(FOLDS).split(x, y, labels.groups):
        scores[b] = _cue_model().fit(x[a], y[a], sample_weight=w[a]).decision_function(x[b])
    return scores


def fit(found: Sequence[Seen], labels: Labels, names: Sequence[str], threshold: Threshold) -> PairModel:
    """The model; its probabilities and threshold come from folds that its parts were not fitted on.

    Args:
        found: What is seen of each pair.
        labels: Theirs.
        names: Of the numbers.
        threshold: Chosen of the probabilities of all pairs.
    """
    y, w, cues = labels.y, labels.weights, vocabulary(found)
    weighed = _cue_model().fit(_matrix(found, cues), y, sample_weight=w)
    scores = scored_out_of_fold(found, labels)
    platt = LogisticRegression(C=1e6).fit(scores[:, None], y, sample_weight=w)
    trees = _tree_model().fit(_rows(found, labels, None, cues=True), y, sample_weight=w)
    return PairModel(
        names=tuple(names),
        cues={c: round(float(v), 3) for c, v in zip(cues, weighed.coef_[0], strict=True) if abs(v) >= 0.01},
        bias=round(float(weighed.intercept_[0]), 4),
        trees=tuple(_tree(grown[0].nodes) for grown in _grown(trees)),
        base=round(float(trees._baseline_prediction[0, 0]), 6),  # pyright: ignore[reportPrivateUsage]
        slope=round(float(platt.coef_[0, 0]), 6),
        offset=round(float(platt.intercept_[0]), 6),
        threshold=threshold(platt.predict_proba(scores[:, None])[:, 1], labels),
    )


def _grown(model: HistGradientBoostingClassifier) -> Any:
    return model._predictors  # pyright: ignore[reportPrivateUsage]


def _tree(nodes: Any) -> Tree:
    return Tree(
        feature=tuple(-1 if n["is_leaf"] else int(n["feature_idx"]) for n in nodes),
        threshold=tuple(0.0 if n["is_leaf"] else float(np.round(n["num_threshold"], 5)) for n in nodes),
        left=tuple(int(n["left"]) for n in nodes),
        right=tuple(int(n["right"]) for n in nodes),
        value=tuple(float(np.round(n["value"], 5)) for n in nodes),
    )
