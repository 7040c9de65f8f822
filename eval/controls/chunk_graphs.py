"""Changed graphs over chunks (Disco-RAG, figure 4b)."""

from random import Random

from discorag.schema.discourse import EDGE_RELATIONS, Edge, RhetoricalGraph
from eval.controls.drawing import draw, others


def remove_edges(graph: RhetoricalGraph, random: Random, rate: float) -> RhetoricalGraph:
    """Edges are missing."""
    chosen = draw(len(graph.edges), random, rate)
    return RhetoricalGraph(chunks=graph.chunks, edges=tuple(e for i, e in enumerate(graph.edges) if i not in chosen))


def turn_edges(graph: RhetoricalGraph, random: Random, rate: float) -> RhetoricalGraph:
    """Edges point the other way; where both directions are related, the two are exchanged."""
    drawn = {(graph.edges[i].source, graph.edges[i].target) for i in draw(len(graph.edges), random, rate)}
    turned = drawn | {(b, a) for a, b in drawn}
    edges = ((_relink(e, e.target, e.source) if (e.source, e.target) in turned else e) for e in graph.edges)
    return RhetoricalGraph(chunks=graph.chunks, edges=tuple(edges))


def change_edge_labels(graph: RhetoricalGraph, random: Random, rate: float) -> RhetoricalGraph:
    """Edges get another relation, drawn evenly."""
    chosen = draw(len(graph.edges), random, rate)
    edges = (
        Edge(source=e.source, target=e.target, relation=random.choice(others(EDGE_RELATIONS, e.relation)))
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
