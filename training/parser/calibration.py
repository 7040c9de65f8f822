"""How sure the parser says it is (Platt 1999): fitted so that a confidence is how often such a node is right.

Right is a node between the same characters as one of the gold tree, with its nuclearity and class. The fit turns the
probability of cut and label into the confidence and changes no tree.
"""

# torch and scikit-learn are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression

from discorag.rst.trained.model import Model, odds
from discorag.rst.trained.run import edus, layout_of
from training.parser.gum import GumDocument
from training.parser.score import gold_nodes, sure_nodes


def calibrate(model: Model, documents: Sequence[GumDocument]) -> None:
    """Fit slope and shift on the parser's own trees over these documents."""
    asked = [each for document in documents for each in probabilities(model, document)]
    x, y = np.array([[odds(p)] for p, _ in asked]), np.array([right for _, right in asked])
    if len(set(y.tolist())) > 1:
        fitted = LogisticRegression(C=1e6).fit(x, y)
        model.sure = float(fitted.coef_[0, 0]), float(fitted.intercept_[0])


def probabilities(model: Model, document: GumDocument) -> Iterator[tuple[float, bool]]:
    """For each node of the parser's own tree the probability of its cut and label, and whether it is right."""
    gold = set(gold_nodes(document.edus, document.splits))
    with torch.inference_mode():
        pieces = model.pieces(layout_of(document.text))
        tokens = model.tokens(pieces)
        for node, p in sure_nodes(model, pieces, tokens, edus(model, document.text, pieces, tokens)):
            yield p, node in gold
