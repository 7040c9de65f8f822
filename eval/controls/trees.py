"""Changed RST trees (Disco-RAG, figure 4a), and trees that ignore the text."""

import re
from collections.abc import Callable
from random import Random
from typing import Any

from discorag.schema.discourse import (
    PAPER_RELATIONS,
    Nuclearity,
    Relation,
    RstTree,
    Split,
    from_splits,
)
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from eval.controls.drawing import draw, others

_PARAGRAPH = re.compile(r"\n\s*\n")


def change_relations(chunk: Chunk, random: Random, rate: float) -> RstTree:
    """Nodes get another relation, drawn evenly from the paper's. JOINT becomes one between two nuclei."""
    return _with_nodes(chunk, random, rate, lambda s: {"relation": random.choice(others(PAPER_RELATIONS, s.relation))})


def change_nuclearity(chunk: Chunk, random: Random, rate: float) -> RstTree:
    """Nodes get another nuclearity; one that loses its two nuclei elaborates, since JOINT joins nuclei only."""

    def change(split: Split) -> dict[str, Any]:
        relation = Relation.ELABORATION if split.relation is Relation.JOINT else split.relation
        return {"nuclearity": random.choice(others(tuple(Nuclearity), split.nuclearity)), "relation": relation}

    return _with_nodes(chunk, random, rate, change)


def disconnect_subtrees(chunk: Chunk, random: Random, rate: float) -> RstTree:
    """Nodes no longer say how their two sub-trees relate: they only stand next to each other."""
    return _with_nodes(chunk, random, rate, lambda _: {"relation": Relation.JOINT, "nuclearity": Nuclearity.NN})


def cut_at_random(chunk: Chunk, random: Random, _: float) -> RstTree:
    """A random binary tree over the same EDUs, with the tree's own labels in random order."""
    return _reshape(chunk, random, lambda start, end: random.randrange(start + 1, end))


def branch_to_the_right(chunk: Chunk, random: Random, _: float) -> RstTree:
    """Every EDU joined to all that follow, with the tree's own labels in random order."""
    return _reshape(chunk, random, lambda start, _: start + 1)


def keep_paragraphs(chunk: Chunk, _: Random, __: float) -> RstTree:
    """What the author's layout says: the paragraphs as units next to each other, without any relation."""
    edus = _tree(chunk).edus
    ends = [m.start() + chunk.span.start for m in _PARAGRAPH.finditer(chunk.text)]
    groups: dict[int, list[Span]] = {}
    for edu in edus:
        groups.setdefault(sum(end <= edu.start for end in ends), []).append(edu)
    units = tuple(Span(start=g[0].start, end=g[-1].end) for g in groups.values())
    nodes = (
        Split(start=i, mid=i + 1, end=len(units), relation=Relation.JOINT, nuclearity=Nuclearity.NN)
        for i in range(len(units) - 1)
    )
    return from_splits(units, {(s.start, s.end): s for s in nodes})


def _with_nodes(chunk: Chunk, random: Random, rate: float, change: Callable[[Split], dict[str, Any]]) -> RstTree:
    tree = _tree(chunk)
    chosen = draw(len(tree.splits), random, rate)
    splits = (
        Split.model_validate({**dict(s), "confidence": None, **change(s)}) if i in chosen else s
        for i, s in enumerate(tree.splits)
    )
    return RstTree(edus=tree.edus, splits=tuple(splits))


def _reshape(chunk: Chunk, random: Random, cut: Callable[[int, int], int]) -> RstTree:
    tree = _tree(chunk)
    labels = random.sample(tree.splits, len(tree.splits))
    splits: dict[tuple[int, int], Split] = {}
    spans = [(0, len(tree.edus))]
    while spans:
        start, end = spans.pop()
        if end - start > 1:
            mid, label = cut(start, end), labels.pop()
            splits[start, end] = label.model_copy(update={"start": start, "mid": mid, "end": end, "confidence": None})
            spans += [(start, mid), (mid, end)]
    return from_splits(tree.edus, splits)


def _tree(chunk: Chunk) -> RstTree:
    return chunk.tree or RstTree(edus=(chunk.span,))
