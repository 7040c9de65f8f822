"""Fits the model of support: weights of the words that differ, then trees over these and the numbers."""

# scikit-learn is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve
from sklearn.model_selection import GroupKFold

from discorag.verification.features import NAMES, Seen
from discorag.verification.support import SupportModel, Tree
from training.verify.sources import Pair

FOLDS = 4
EDITED = 0.55
"""Share of the weight that edits have; each set of others has a part of the rest, its classes the same weight."""
_FEWEST = {"+": 25, "-": 25, "^": 25, ">": 12}  # examples that a cue stands in
_PENALTY = 0.1  # inverse, of the cues' weights
_TREES, _LEAVES, _RATE = 120, 10, 0.1

Floats = NDArray[np.float64]


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
    return sorted(c for c, n in counts.items() if n >= _FEWEST[c[0] if c[0] in "+-^" else ">"])


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


def scored_out_of_fold(examples: Examples, columns: Sequence[int] | None = None, *, cues: bool = True) -> Floats:
    """Log odds of each pair by models that were fitted without its group.

    Args:
        examples: Those to fit on.
        columns: Of the numbers; all if None.
        cues: Whether the words that differ count.
    """
    rows, y, w = _rows(examples, columns, cues=cues), examples.supported, weights(examples.pairs)
    found = np.zeros(len(y))
    for a, b in GroupKFold(FOLDS).split(rows, y, examples.groups):
        found[b] = _tree_model().fit(rows[a], y[a], sample_weight=w[a]).decision_function(rows[b])
    return found


def _rows(examples: Examples, columns: Sequence[int] | None, *, cues: bool) -> Floats:
    numbers = np.array([s.numbers for s in examples.seen], np.float64)
    kept = numbers if columns is None else numbers[:, list(columns)]
    return np.c_[kept, _cues_out_of_fold(examples)] if cues else kept


def _cues_out_of_fold(examples: Examples) -> Floats:
    """What the words that differ say of each pair, by weights that were fitted without its group."""
    x = _matrix(examples.seen, vocabulary(examples.seen))
    y, w, found = examples.supported, weights(examples.pairs), np.zeros(len(examples.pairs))
    for a, b in GroupKFold(FOLDS).split(x, y, examples.groups):
        found[b] = _cue_model().fit(x[a], y[a], sample_weight=w[a]).decision_function(x[b])
    return found


def fit(examples: Examples) -> SupportModel:
    """The model; its probabilities and threshold come from folds that its parts were not fitted on."""
    y, w = examples.supported, weights(examples.pairs)
    cues = vocabulary(examples.seen)
    weighed = _cue_model().fit(_matrix(examples.seen, cues), y, sample_weight=w)
    scores = scored_out_of_fold(examples)
    platt = LogisticRegression(C=1e6).fit(scores[:, None], y, sample_weight=w)
    trees = _tree_model().fit(_rows(examples, None, cues=True), y, sample_weight=w)
    return SupportModel(
        names=NAMES,
        cues={c: round(float(v), 3) for c, v in zip(cues, weighed.coef_[0], strict=True) if abs(v) >= 0.01},
        bias=round(float(weighed.intercept_[0]), 4),
        trees=tuple(_tree(found[0].nodes) for found in _grown(trees)),
        base=round(float(trees._baseline_prediction[0, 0]), 6),  # pyright: ignore[reportPrivateUsage]
        slope=round(float(platt.coef_[0, 0]), 6),
        offset=round(float(platt.intercept_[0]), 6),
        threshold=_threshold(platt.predict_proba(scores[:, None])[:, 1], y, w),
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


def _threshold(probabilities: Floats, y: NDArray[np.bool_], w: Floats) -> float:
    """Where as large a share of the supported lies below as of the unsupported above."""
    accepted, found, at = roc_curve(y, probabilities, sample_weight=w)
    return round(float(at[int(np.argmin(np.abs(1 - found - accepted)))]), 2)
