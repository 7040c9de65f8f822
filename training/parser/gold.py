"""Gold trees over fewer units: a window's EDUs, or one unit for a sentence or paragraph."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from discorag.discourse.labelled import LabelledSplit
from discorag.schema.discourse import Nuclearity
from discorag.schema.values import Span
from training.parser.gum import GumDocument


def restrict(splits: Sequence[LabelledSplit], keep: Sequence[int]) -> list[LabelledSplit]:
    """The tree restricted to the leaves ``keep`` (sorted), renumbered: nodes of which one side is left vanish."""
    found: list[LabelledSplit] = []
    for s in splits:
        start, mid, end = (bisect_left(keep, x) for x in (s.start, s.mid, s.end))
        if start < mid < end:
            found.append(LabelledSplit(start, mid, end, s.nuclearity, s.label))
    return found


def heights(splits: Sequence[LabelledSplit], n: int) -> list[int]:
    """For each of ``n`` leaves the depth up to which it is promoted, the root's being 0 (Marcu)."""
    at = {(0, n): (0, 0)}  # a constituent's depth, and the depth up to which it is promoted
    for s in splits:  # pre-order
        depth, top = at[s.start, s.end]
        below = depth + 1
        at[s.start, s.mid] = (below, below if s.nuclearity is Nuclearity.SN else top)
        at[s.mid, s.end] = (below, below if s.nuclearity is Nuclearity.NS else top)
    return [at[i, i + 1][1] for i in range(n)]


def merge_units(document: GumDocument, units: Sequence[Span]) -> tuple[list[Span], list[LabelledSplit]]:
    """The tree over larger units; units in which no EDU starts are left out.

    Many sentences and paragraphs are not complete subtrees, so whole subtrees cannot be merged: the EDU that is
    promoted highest represents its unit.
    """
    starts = [e.start for e in document.edus]
    inside = [(u, range(bisect_left(starts, u.start), bisect_left(starts, u.end))) for u in units]
    kept = [(u, edus) for u, edus in inside if edus]
    top = heights(document.splits, len(document.edus))
    splits = restrict(document.splits, [min(edus, key=lambda e: top[e]) for _, edus in kept])
    return [u for u, _ in kept], splits


def paragraph_spans(sentences: Sequence[Span], paragraphs: Sequence[int]) -> Iterator[Span]:
    """The span of each paragraph."""
    for first, last in zip(paragraphs, [*paragraphs[1:], len(sentences)], strict=True):
        yield Span(start=sentences[first].start, end=sentences[last - 1].end)
