"""Damaged and uninformative discourse structure: Disco-RAG's figures 3c and 4, and controls of what structure is worth.

Every change is a pure function of a structure, a random generator and a rate. `eval.running.answerer.Answerer` applies
it to the state of a finished run and resumes that run after it; the nodes of the graph know nothing of it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, TypeVar

from discorag.schema.discourse import (
    EDGE_RELATIONS,
    PAPER_RELATIONS,
    Edge,
    Nuclearity,
    Relation,
    RhetoricalGraph,
    RstTree,
    Split,
    from_splits,
)
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from discorag.text.sentences import sentence_spans

T = TypeVar("T")
Stage = Literal["parse", "relate", "plan", "generate"]
_PARAGRAPH = re.compile(r"\n\s*\n")
_FILLER = "Read the chunks with care before you write the answer. "


# --- trees (figure 4a) ----------------------------------------------------------------------------


def change_relations(chunk: Chunk, random: Random, rate: float) -> RstTree:
    """Nodes get another relation, drawn evenly from the paper's. JOINT becomes one between two nuclei."""
    return _with_nodes(chunk, random, rate, lambda s: {"relation": random.choice(_others(PAPER_RELATIONS, s.relation))})


def change_nuclearity(chunk: Chunk, random: Random, rate: float) -> RstTree:
    """Nodes get another nuclearity; one that loses its two nuclei elaborates, since JOINT joins nuclei only."""

    def change(split: Split) -> dict[str, Any]:
        relation = Relation.ELABORATION if split.relation is Relation.JOINT else split.relation
        return {"nuclearity": random.choice(_others(tuple(Nuclearity), split.nuclearity)), "relation": relation}

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
    chosen = _draw(len(tree.splits), random, rate)
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


def _others(values: Sequence[T], value: T) -> list[T]:
    return [v for v in values if v != value]


# --- graphs (figure 4b) ---------------------------------------------------------------------------


def remove_edges(graph: RhetoricalGraph, random: Random, rate: float) -> RhetoricalGraph:
    """Edges are missing."""
    chosen = _draw(len(graph.edges), random, rate)
    return RhetoricalGraph(chunks=graph.chunks, edges=tuple(e for i, e in enumerate(graph.edges) if i not in chosen))


def turn_edges(graph: RhetoricalGraph, random: Random, rate: float) -> RhetoricalGraph:
    """Edges point the other way; where both directions are related, the two are exchanged."""
    drawn = {(graph.edges[i].source, graph.edges[i].target) for i in _draw(len(graph.edges), random, rate)}
    turned = drawn | {(b, a) for a, b in drawn}
    edges = ((_relink(e, e.target, e.source) if (e.source, e.target) in turned else e) for e in graph.edges)
    return RhetoricalGraph(chunks=graph.chunks, edges=tuple(edges))


def change_edge_labels(graph: RhetoricalGraph, random: Random, rate: float) -> RhetoricalGraph:
    """Edges get another relation, drawn evenly."""
    chosen = _draw(len(graph.edges), random, rate)
    edges = (
        Edge(source=e.source, target=e.target, relation=random.choice(_others(EDGE_RELATIONS, e.relation)))
        if i in chosen
        else e
        for i, e in enumerate(graph.edges)
    )
    return RhetoricalGraph(chunks=graph.chunks, edges=tuple(edges))


def permute_chunks(graph: RhetoricalGraph, random: Random, _: float) -> RhetoricalGraph:
    """The same edges between other chunks: as many, with the same labels and the same shape."""
    other = dict(zip(graph.chunks, random.sample(graph.chunks, len(graph.chunks)), strict=True))
    edges = (_relink(e, other[e.source], other[e.target]) for e in graph.edges)
    return RhetoricalGraph(chunks=graph.chunks, edges=tuple(edges))


def _relink(edge: Edge, source: str, target: str) -> Edge:
    return Edge(source=source, target=target, relation=edge.relation)


# --- plans (figure 4c) ----------------------------------------------------------------------------


def shuffle_steps(plan: str, random: Random, rate: float) -> str:
    """Steps change places among each other, two at least; a step is a sentence of the plan."""
    steps = _steps(plan)
    places = random.sample(range(len(steps)), _count(len(steps), rate, least=2))
    moved = dict(zip(places, [*places[1:], *places[:1]], strict=True))
    return " ".join(steps[moved.get(i, i)] for i in range(len(steps)))


def remove_steps(plan: str, random: Random, rate: float) -> str:
    """Steps are missing; one stays."""
    steps = _steps(plan)
    gone = random.sample(range(len(steps)), min(len(steps) - 1, _count(len(steps), rate)))
    return " ".join(step for i, step in enumerate(steps) if i not in gone)


def _steps(plan: str) -> list[str]:
    return [span.of(plan).strip() for span in sentence_spans(plan)]


# --- what is shown instead ------------------------------------------------------------------------


def fill(count: Callable[[str], int], tokens: int) -> str:
    """Text that says nothing about the question, ``tokens`` long by ``count``, to the next word."""
    words = (_FILLER * (tokens // 4 + 1)).split()
    low, high = 1, len(words)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if count(" ".join(words[:middle])) >= tokens else (middle + 1, high)
    return " ".join(words[:low])


def replace_hits(hits: Sequence[T], others: Sequence[T], random: Random, rate: float) -> list[T]:
    """Hits give their places to others, drawn at random (figure 3c)."""
    places = random.sample(range(len(hits)), min(len(others), _count(len(hits), rate)))
    replaced = dict(zip(places, random.sample(others, len(places)), strict=True))
    return [replaced.get(i, hit) for i, hit in enumerate(hits)]


@dataclass(frozen=True)
class Perturbation:
    """A change to the state of a run.

    Args:
        about: One line for tables.
        before: The stage before which the state is changed.
        tree, graph, plan: What changes one structure; None: this one is left as it is.
        switches: Options of the stages that follow.
    """

    about: str
    before: Stage = "plan"
    tree: Callable[[Chunk, Random, float], RstTree] | None = None
    graph: Callable[[RhetoricalGraph, Random, float], RhetoricalGraph] | None = None
    plan: Callable[[str, Random, float], str] | None = None
    switches: Mapping[str, Any] = field(default_factory=dict[str, Any])


NOISE, OTHER_PLAN, FILLER = "noise", "other-plan", "filler"
PERTURBATIONS: Mapping[str, Perturbation] = {
    NOISE: Perturbation("chunks replaced by random chunks that were not retrieved", "parse"),
    "tree-labels": Perturbation("tree nodes with other relations", tree=change_relations),
    "tree-nuclearity": Perturbation("tree nodes with other nuclei", tree=change_nuclearity),
    "tree-subtrees": Perturbation("sub-trees that are not related", tree=disconnect_subtrees),
    "random-trees": Perturbation("random trees over the same EDUs", tree=cut_at_random),
    "right-branching": Perturbation("right-branching trees over the same EDUs", tree=branch_to_the_right),
    "paragraphs": Perturbation("paragraph borders instead of trees", tree=keep_paragraphs),
    "edges-removed": Perturbation("edges of the graph removed", graph=remove_edges),
    "edges-turned": Perturbation("edges of the graph turned", graph=turn_edges),
    "edges-relabelled": Perturbation("edges of the graph with other relations", graph=change_edge_labels),
    "edges-permuted": Perturbation("the graph's edges between other chunks", graph=permute_chunks),
    "plan-shuffled": Perturbation("steps of the plan in another order", "generate", plan=shuffle_steps),
    "plan-steps-removed": Perturbation("steps of the plan removed", "generate", plan=remove_steps),
    OTHER_PLAN: Perturbation("the plan of another question", "generate"),
    FILLER: Perturbation(
        "as many tokens that say nothing instead of trees, graph and plan",
        "generate",
        switches={"use_tree": False},
    ),
}
"""``SYSTEM~NAME@RATE`` in suites, experiments and ``--system``; see `eval.suite.find_system`."""


def _count(n: int, rate: float, least: int = 1) -> int:
    """How many of ``n``: the rate's share, but ``least`` where there are so many and the rate is not 0."""
    return min(n, max(round(rate * n), least if rate else 0))


def _draw(n: int, random: Random, rate: float) -> set[int]:
    """Positions of ``n`` that are to be changed."""
    return set(random.sample(range(n), _count(n, rate)))
