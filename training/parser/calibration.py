"""How sure the parser says it is (Platt 1999): fitted so that a confidence is how often such a node is right.

Right is a node between the same characters as one of the gold tree, with its nuclearity and class. The fit turns the
probability of cut and label into the confidence and changes no tree.
"""

# scikit-learn is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.linear_model import LogisticRegression

from discorag.discourse.parse.trained.network import Network, log_odds
from discorag.discourse.parse.trained.parser import find_edus
from discorag.discourse.parse.trained.pieces import layout_of
from training.parser.gum import GumDocument
from training.parser.score import gold_nodes, sure_nodes


def fit_confidence(network: Network, documents: Sequence[GumDocument]) -> tuple[float, float] | None:
    """Slope and shift, fitted on the parser's own trees over these documents; None where all or none are right."""
    found = [each for document in documents for each in probabilities(network, document)]
    x, y = np.array([[log_odds(p)] for p, _ in found]), np.array([right for _, right in found])
    if len(set(y.tolist())) < 2:
        return None
    fitted = LogisticRegression(C=1e6).fit(x, y)
    return float(fitted.coef_[0, 0]), float(fitted.intercept_[0])


def calibration_error(network: Network, documents: Sequence[GumDocument]) -> float:
    """Expected calibration error of the confidences in ten bins of equal width (Guo et al. 2017)."""
    found = [each for document in documents for each in probabilities(network, document)]
    sure, right = np.array([network.confidence(p) for p, _ in found]), np.array([float(hit) for _, hit in found])
    bins = np.minimum((10 * sure).astype(int), 9)
    return float(np.abs(np.bincount(bins, sure - right)).sum() / len(found))


def probabilities(network: Network, document: GumDocument) -> Iterator[tuple[float, bool]]:
    """For each node of the parser's own tree the probability of its cut and label, and whether it is right."""
    gold = set(gold_nodes(document.edus, document.splits))
    pieces = network.pieces(layout_of(document.text))
    tokens = network.tokens(pieces)
    for node, p in sure_nodes(network, pieces, tokens, find_edus(network, document.text, pieces, tokens)):
        yield p, node in gold
