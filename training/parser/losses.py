"""What is wrong with the segmentation, the cuts and the labels of documents, as training sees it.

Each time a document comes it is the tree over its EDUs, and one more view of it by chance: a window of EDUs (a
retrieved chunk is one), its sentences, or its paragraphs.
"""

# torch and tokenizers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import torch
from torch import Tensor

from discorag.discourse.labelled import LabelledSplit
from discorag.discourse.parse.gum_labels import JOINT_LABELS
from discorag.discourse.parse.trained.decode import cuts_of, level_sums
from discorag.discourse.parse.trained.network import Cuts, Reading, Units
from discorag.discourse.parse.trained.pieces import Pieces
from discorag.schema.discourse import Nuclearity
from training.parser.classes import GROUP_OF, class_of
from training.parser.gold import merge_units, paragraph_spans, restrict
from training.parser.gum import GumDocument
from training.parser.model import Model, sentences_of

_GROUP_OF = torch.tensor(GROUP_OF)
_INDEX = {pair: i for i, pair in enumerate(JOINT_LABELS)}
_SEGMENT_WEIGHT, _FINE_WEIGHT, _FURTHER_WEIGHT = 3.0, 0.3, 0.5
_WINDOWS, _SENTENCES = 0.5, 0.85
_WINDOW_EDUS = range(4, 60)


@dataclass(frozen=True)
class View:
    """Units of a text, the gold tree over them, and how much it counts."""

    units: Units[Tensor]
    splits: Sequence[LabelledSplit]
    weight: float = 1.0


def views(document: GumDocument, pieces: Pieces, chance: random.Random) -> list[View]:
    """The tree over the document's EDUs, and one more view of it."""
    found = [View(sentences_of(pieces, document.edus, "edu"), document.splits), _further(document, pieces, chance)]
    return [v for v in found if v.splits]


def _further(document: GumDocument, pieces: Pieces, chance: random.Random) -> View:
    drawn, n = chance.random(), len(document.edus)
    if drawn < _WINDOWS:
        size = min(n, chance.choice(_WINDOW_EDUS))
        start = chance.randrange(n - size + 1)
        edus, kind = document.edus[start : start + size], "edu"
        tree = restrict(document.splits, range(start, start + size))
    else:
        kind = "sentence" if drawn < _SENTENCES else "paragraph"
        paragraphs = list(paragraph_spans(document.sentences, document.paragraphs))
        edus, tree = merge_units(document, document.sentences if kind == "sentence" else paragraphs)
    return View(sentences_of(pieces, edus, kind), tree, _FURTHER_WEIGHT)


def loss(
    model: Model, batch: Sequence[tuple[GumDocument, Pieces]], states: Sequence[Tensor], chance: random.Random
) -> Tensor:
    """The mean over the documents of what is wrong with segmentation, cuts and labels; ``states`` are the encoder's."""
    tokens = [model.network.read(s) for s in states]
    segment = [_segment_loss(model, d, p, t) for (d, p), t in zip(batch, tokens, strict=True)]
    starts = accumulate((len(t) for t in tokens), initial=0)
    seen = [
        replace(v, units=_move(v.units, start))
        for (d, p), start in zip(batch, starts, strict=False)
        for v in views(d, p, chance)
    ]
    readings = model.network.read_units(torch.cat(tokens), [v.units for v in seen])
    trees = [v.weight / len(v.splits) * _tree_loss(model, v, r) for v, r in zip(seen, readings, strict=True)]
    return (_SEGMENT_WEIGHT * sum(segment, torch.zeros(())) + torch.stack(trees).sum()) / len(batch)


def _move(units: Units[Tensor], offset: int) -> Units[Tensor]:
    return replace(units, first=units.first + offset, last=units.last + offset)


def _segment_loss(model: Model, document: GumDocument, pieces: Pieces, tokens: Tensor) -> Tensor:
    gold = torch.zeros(len(pieces.ids))
    gold[[pieces.range_of(e)[0] for e in document.edus]] = 1
    logits = model.network.boundaries(tokens, torch.from_numpy(pieces.levels))
    opens = torch.from_numpy(pieces.opens)
    return torch.nn.functional.binary_cross_entropy_with_logits(logits[opens], gold[opens])


def _tree_loss(model: Model, view: View, reading: Reading[Tensor]) -> Tensor:
    """Summed over the view's splits."""
    cuts = [(s.start, k, s.end) for s in view.splits for k in range(s.start + 1, s.end)]
    scores = model.network.split_scores(reading, _with_layout(torch.tensor(cuts).T, view.units))
    by_split = scores.split([s.end - s.start - 1 for s in view.splits])
    wrong = [c.logsumexp(0) - c[s.mid - s.start - 1] for s, c in zip(view.splits, by_split, strict=True)]
    gold = torch.tensor([(s.start, s.mid, s.end) for s in view.splits]).T
    logits = model.network.label_logits(reading, _with_layout(gold, view.units))
    return torch.stack(wrong).sum() + _label_loss(logits, view.splits)


def _with_layout(places: Tensor, units: Units[Tensor]) -> Cuts[Tensor]:
    levels = units.levels.numpy()
    cuts = cuts_of(places.numpy(), levels, level_sums(levels))
    return Cuts(places, torch.from_numpy(cuts.here), torch.from_numpy(cuts.most))


def _label_loss(logits: Tensor, splits: Sequence[LabelledSplit]) -> Tensor:
    """Loss of the coarse class with its nuclearity, and a little of GUM's own label where it is one that is learned."""
    known = [_INDEX.get((s.nuclearity, s.label)) for s in splits]
    gold = torch.tensor([_fallback(s) if i is None else i for s, i in zip(splits, known, strict=True)])
    fine = logits.log_softmax(-1)
    same = _GROUP_OF.unsqueeze(0) == _GROUP_OF[gold].unsqueeze(1)
    coarse = fine.masked_fill(~same, -torch.inf).logsumexp(-1)
    own = torch.tensor([i is not None for i in known]) * fine.gather(1, gold.unsqueeze(1)).squeeze(1)
    return -coarse.sum() - _FINE_WEIGHT * own.sum()


def _fallback(split: LabelledSplit) -> int:
    """For a label with a nuclearity that it should not have: the class's first one that has it."""
    pairs = [p for p in JOINT_LABELS if p[0] is split.nuclearity and class_of(p[1]) == class_of(split.label)]
    return _INDEX[(pairs or [(Nuclearity.NN, "joint-other")])[0]]
