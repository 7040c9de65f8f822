"""How sure the parser says it is: temperatures of cuts and labels, folded into the weights (Guo et al. 2017).

A node's confidence is the probability of its cut times that of its label. Both are made flatter until that product is
as likely as the node is right: between the same characters as a node of the gold tree, with its nuclearity and class.
"""

# torch is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import torch
from torch import Tensor

from discorag.rst.trained.decode import cuts_of, decode, level_sums
from discorag.rst.trained.model import Model, units_of
from discorag.rst.trained.run import edus, layout_of
from training.parser.gum import GumDocument
from training.parser.parseval import Node
from training.parser.score import GROUPS, GROUPS_OF, gold_nodes

_TEMPERATURES = (1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0)


@dataclass(frozen=True)
class Asked:
    """A node of the parser's: logits of the cuts of its span and of its labels, and whether it is right."""

    cuts: Tensor
    at: int
    labels: Tensor
    right: bool

    def probability(self, cut: float, label: float) -> Tensor:
        """That it is right, at these temperatures."""
        classes = (self.labels / label).softmax(0) @ GROUPS_OF
        return (self.cuts / cut).softmax(0)[self.at] * classes.max()


def calibrate(model: Model, documents: Sequence[GumDocument]) -> dict[str, float]:
    """Fit both temperatures on the parser's own trees over these documents, and fold them into the model."""
    with torch.inference_mode():
        asked = [a for document in documents for a in _asked(model, document)]
        right = torch.tensor([float(a.right) for a in asked])
        cut, label = min(product(_TEMPERATURES, repeat=2), key=lambda pair: _wrong(asked, right, *pair))
    network = model.network
    for layer, temperature in ((network.score, cut), (network.label_scores, label)):
        layer.weight.data /= temperature
        layer.bias.data /= temperature
    return {"cut": cut, "label": label}


def _wrong(asked: Sequence[Asked], right: Tensor, cut: float, label: float) -> float:
    p = torch.stack([a.probability(cut, label) for a in asked]).clamp(1e-6, 1 - 1e-6)
    return float(torch.nn.functional.binary_cross_entropy(p, right))


def _asked(model: Model, document: GumDocument) -> Iterator[Asked]:
    pieces = model.pieces(layout_of(document.text))
    tokens = model.tokens(pieces)
    own = edus(model, document.text, pieces, tokens)
    units = units_of(pieces, own, "edu")
    levels, sums = units.levels, level_sums(units.levels)
    [reading] = model.network.read_units(tokens, [units])
    gold = set(gold_nodes(document.edus, document.splits))
    for d in decode(model.network, reading, levels):
        places = torch.tensor([(d.start, k, d.end) for k in range(d.start + 1, d.end)]).T
        here = torch.tensor([(d.start, d.mid, d.end)]).T
        cuts = model.network.split_scores(reading, cuts_of(places, levels, sums))
        labels = model.network.label_logits(reading, cuts_of(here, levels, sums))[0]
        found = Node(own[d.start].start, own[d.end - 1].end, *GROUPS[int((labels.softmax(0) @ GROUPS_OF).argmax())])
        yield Asked(cuts, d.mid - d.start - 1, labels, found in gold)
