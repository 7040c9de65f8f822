"""The trained model on a text of any length: word pieces, EDUs, tree."""

# torch and tokenizers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from discorag.rst.trained.decode import decode
from discorag.rst.trained.model import Layout, Model, units_of
from discorag.rst.trained.pieces import Level, Pieces
from discorag.rst.trained.relabel import likely, refined
from discorag.rst.units import Leaves, Unit
from discorag.text.layout import has_no_word
from discorag.text.sentences import sentence_spans, stripped
from discorag.types.errors import InvariantError
from discorag.types.hierarchy import UnitKind
from discorag.types.rst_tree import RstTree, Split, from_splits
from discorag.types.span import Span

START = 0.5
"""Probability from which a word starts an EDU."""


def layout_of(
    text: str,
    sentences: Sequence[Span] | None = None,
    paragraphs: Sequence[int] = (),
    kinds: Sequence[UnitKind] = (),
) -> Layout:
    """What is known of a text before parsing; sentences and, at blank lines, paragraphs are found if not given."""
    if sentences is not None:
        return Layout(text, tuple(sentences), tuple(paragraphs), tuple(kinds))
    found = sentence_spans(text)
    between = [text[a.end : b.start] for a, b in pairwise(found)]
    return Layout(text, found, tuple(i for i, gap in enumerate(between, start=1) if gap.count("\n") > 1))


def parse(model: Model, layout: Layout, leaves: Leaves) -> RstTree:
    """The tree over the text."""
    with torch.inference_mode():
        pieces = model.pieces(layout)
        if not len(pieces.ids):  # nothing that the tokenizer knows, such as zero-width characters only
            return RstTree(edus=(_whole(layout.text),))
        tokens = model.tokens(pieces)
        units = (
            list(layout.sentences)
            if leaves == "sentence"
            else edus(model, layout.text, pieces, tokens, whole=layout.whole)
        )
        return _tree(model, layout, pieces, tokens, units, leaves)


def parse_units(model: Model, text: str, units: Sequence[Span], kind: Unit) -> RstTree:
    """The tree over these units of ``text``; a paragraph's first character starts a sentence and a paragraph."""
    first = tuple(range(len(units))) if kind == "paragraph" else ()
    layout = Layout(text, tuple(units), first) if kind != "edu" else layout_of(text)
    with torch.inference_mode():
        pieces = model.pieces(layout)
        if not len(pieces.ids):
            raise InvariantError("The texts hold no word.", hint="Leave such texts out.")
        return _tree(model, layout, pieces, model.tokens(pieces), units, kind)


def _whole(text: str) -> Span:
    found = stripped(text, 0, len(text))
    assert found is not None
    return found


def edus(
    model: Model, text: str, pieces: Pieces, tokens: Tensor, *, whole: Sequence[Span] = (), start: float = START
) -> list[Span]:
    """The EDUs: a sentence starts one, and so does every word that the segmenter takes for a start.

    None starts inside a stretch that is ``whole``, and none is only a mark that opens a sentence.
    """
    p = model.network.boundaries(tokens, torch.from_numpy(pieces.levels)).sigmoid().numpy()
    free = pieces.opens.copy()
    for span in whole:
        free[(pieces.starts > span.start) & (pieces.starts < span.end)] = False
    firm = pieces.levels > Level.INSIDE
    opens = (p > start) & free | firm
    opens[0] = False
    cuts = _worded(text, pieces.starts[np.flatnonzero(opens)].tolist(), {*pieces.starts[firm].tolist(), 0, len(text)})
    spans = (stripped(text, a, b) for a, b in pairwise(cuts))
    return [s for s in spans if s is not None]


def _worded(text: str, cuts: Sequence[int], firm: Collection[int]) -> list[int]:
    """The cuts, with both ends, but those that set signs apart.

    At the start of a sentence (``firm`` cuts) they go with what follows, as a list's number does, else with what stands
    before. A figure inside a sentence is left alone: GUM has years and citations as EDUs.
    """
    kept = [0]
    for cut in (*cuts, len(text)):
        alone = text[kept[-1] : cut]
        if has_no_word(alone) and kept[-1] not in firm and not any(map(str.isdigit, alone)):
            kept.pop()
        elif has_no_word(alone) and kept[-1] in firm and cut not in firm:
            continue
        kept.append(cut)
    return kept


def _tree(model: Model, layout: Layout, pieces: Pieces, tokens: Tensor, spans: Sequence[Span], kind: Unit) -> RstTree:
    text, opening = layout.text, layout.openers
    openers = [i for i, span in enumerate(spans) if span.start in opening]
    units = units_of(pieces, spans, kind)
    [reading] = model.network.read_units(tokens, [units])
    splits: dict[tuple[int, int], Split] = {}
    for d in decode(model.network, reading, units.levels, openers=openers):
        nuclearity, relation, p = likely(d.label_ps)
        left = text[spans[d.start].start : spans[d.mid - 1].end]
        right = text[spans[d.mid].start : spans[d.end - 1].end]
        relation = refined(relation, nuclearity, left, right)
        sure = model.confidence(d.split_p * p)
        splits[d.start, d.end] = Split(
            start=d.start, mid=d.mid, end=d.end, relation=relation, nuclearity=nuclearity, confidence=sure
        )
    return from_splits(tuple(spans), splits)
