"""The trained model on a text of any length: word pieces, EDUs, tree."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np

from discorag.discourse.parse.trained.decode import decode
from discorag.discourse.parse.trained.layout import Layout, layout_of
from discorag.discourse.parse.trained.network import Floats, Network, sentences_of
from discorag.discourse.parse.trained.pieces import Level, Pieces
from discorag.discourse.parse.trained.relabel import likely, refined
from discorag.discourse.parse.units import Leaves, Unit
from discorag.ingest.segment.layout import has_no_word
from discorag.schema.errors import InvariantError
from discorag.schema.rst_tree import RstTree, Split, from_splits
from discorag.schema.span import Span
from discorag.text.sentences import stripped

START = 0.5
"""Probability from which a word starts an EDU."""


def parse(network: Network, layout: Layout, leaves: Leaves) -> RstTree:
    """The tree over the text."""
    pieces = network.pieces(layout)
    if not len(pieces.ids):  # nothing that the tokenizer knows, such as zero-width characters only
        return RstTree(edus=(_whole(layout.text),))
    tokens = network.tokens(pieces)
    units = (
        list(layout.sentences)
        if leaves == "sentence"
        else edus(network, layout.text, pieces, tokens, whole=layout.whole)
    )
    return _tree(network, layout, pieces, tokens, units, leaves)


def parse_units(network: Network, text: str, units: Sequence[Span], kind: Unit) -> RstTree:
    """The tree over these units of ``text``; a paragraph's first character starts a sentence and a paragraph."""
    first = tuple(range(len(units))) if kind == "paragraph" else ()
    layout = Layout(text, tuple(units), first) if kind != "edu" else layout_of(text)
    pieces = network.pieces(layout)
    if not len(pieces.ids):
        raise InvariantError("The texts hold no word.", hint="Leave such texts out.")
    return _tree(network, layout, pieces, network.tokens(pieces), units, kind)


def _whole(text: str) -> Span:
    found = stripped(text, 0, len(text))
    assert found is not None
    return found


def edus(
    network: Network, text: str, pieces: Pieces, tokens: Floats, *, whole: Sequence[Span] = (), start: float = START
) -> list[Span]:
    """The EDUs: a sentence starts one, and so does every word that the segmenter takes for a start.

    None starts inside a stretch that is ``whole``, and none is only a mark that opens a sentence.
    """
    p = network.starts(tokens, pieces.levels)
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


def _tree(
    network: Network, layout: Layout, pieces: Pieces, tokens: Floats, spans: Sequence[Span], kind: Unit
) -> RstTree:
    text, opening = layout.text, layout.openers
    openers = [i for i, span in enumerate(spans) if span.start in opening]
    units = sentences_of(pieces, spans, kind)
    splits: dict[tuple[int, int], Split] = {}
    for d in decode(network, network.read(tokens, units), units.levels, openers=openers):
        nuclearity, relation, p = likely(d.label_ps)
        left = text[spans[d.start].start : spans[d.mid - 1].end]
        right = text[spans[d.mid].start : spans[d.end - 1].end]
        relation = refined(relation, nuclearity, left, right)
        sure = network.confidence(d.split_p * p)
        splits[d.start, d.end] = Split(
            start=d.start, mid=d.mid, end=d.end, relation=relation, nuclearity=nuclearity, confidence=sure
        )
    return from_splits(tuple(spans), splits)
