"""A chunk reduced to the sentences that are evidence, with the part of its tree that is over them."""

from collections.abc import Sequence
from itertools import accumulate, compress

from discorag.schema.discourse import RstTree
from discorag.schema.document import Chunk
from discorag.schema.values import Span

GAP = "[...]"
"""Shown in place of missing text, with a space on each side that has text."""


def narrow(chunk: Chunk, evidence: Sequence[Span]) -> Chunk:
    """The chunk with the sentences, and the part of its tree, that overlap the evidence; unchanged if none does.

    The evidence is in document offsets. The chunk's text stays, because offsets refer to it: prompts show its sentences
    or the EDUs of its tree, with `GAP` between them.
    """
    staying = [_meets(s, evidence) for s in chunk.sentences]
    if not any(staying) or all(staying):
        return chunk
    sentences, before = tuple(compress(chunk.sentences, staying)), list(accumulate(staying, initial=0))
    tree = _restricted(chunk.tree, [_meets(e, sentences) for e in chunk.tree.edus]) if chunk.tree else None
    update = {
        "tree": tree,
        "sentences": sentences,
        "paragraph_starts": tuple(sorted({before[i] for i in chunk.paragraph_starts} & {*range(1, len(sentences))})),
        "kinds": tuple(compress(chunk.kinds, staying)),
        "leads": tuple(compress(chunk.leads, staying)),
    }
    return chunk.model_copy(update=update)


def shown_text(chunk: Chunk) -> str:
    """The text of a chunk's sentences, with `GAP` where some are missing."""
    parts: list[str] = []
    at = chunk.span.start
    for sentence in chunk.sentences:
        between = chunk.text[at - chunk.span.start : sentence.start - chunk.span.start]
        parts += [f" {GAP} " if between.strip() else between, chunk.slice(sentence)]
        at = sentence.end
    rest = chunk.text[at - chunk.span.start :]
    return "".join([*parts, f" {GAP}" if rest.strip() else rest]).strip()


def _meets(span: Span, others: Sequence[Span]) -> bool:
    return any(span.start < o.end and o.start < span.end for o in others)


def _restricted(tree: RstTree, staying: Sequence[bool]) -> RstTree | None:
    """The tree over the EDUs that stay, renumbered from 0; None if none does."""
    before = list(accumulate(staying, initial=0))
    moved = [{"start": before[s.start], "mid": before[s.mid], "end": before[s.end]} for s in tree.splits]
    pairs = zip(tree.splits, moved, strict=True)
    splits = tuple(s.model_copy(update=m) for s, m in pairs if m["start"] < m["mid"] < m["end"])
    edus = tuple(compress(tree.edus, staying))
    return RstTree(edus=edus, splits=splits) if edus else None
