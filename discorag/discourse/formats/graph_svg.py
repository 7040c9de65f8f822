"""A rhetorical graph: the chunks in a row, in the order of retrieval, and its relations as labelled arcs."""

from __future__ import annotations

from discorag.discourse.formats import svg
from discorag.schema.discourse import Edge, RhetoricalGraph

COLUMN, STEP = 120, 34
"""Distance of two chunks, and what an arc rises for each chunk that it passes, in pixels."""


def graph_svg(graph: RhetoricalGraph) -> str:
    """The drawing; chunks are their numbers in prompts and plans."""
    edges = sorted(graph.edges, key=lambda e: _reach(graph, e))
    most = max((_reach(graph, e) for e in edges), default=0)
    y = STEP * (most + 1) + 20
    parts = [_arc(graph, e, y) for e in edges]
    for i, _ in enumerate(graph.chunks):
        x = (i + 0.5) * COLUMN
        parts += [f'<circle cx="{x:.1f}" cy="{y + 16:.1f}" r="14" fill="none" stroke="currentColor"/>']
        parts += [svg.text(x, y + 20, str(i + 1), weight="bold")]
    return svg.picture(COLUMN * max(1, len(graph.chunks)), y + 40, parts, f"Graph of {len(graph.chunks)} passages")


def _reach(graph: RhetoricalGraph, edge: Edge) -> int:
    return abs(graph.number(edge.source) - graph.number(edge.target))


def _arc(graph: RhetoricalGraph, edge: Edge, y: float) -> str:
    source, target = (((graph.number(end) - 0.5) * COLUMN) for end in (edge.source, edge.target))
    lift = STEP * _reach(graph, edge)
    aside = 8 if source < target else -8
    said = edge.relation.value.replace("_", " ").lower()
    sure = "" if edge.confidence is None else f" {edge.confidence:.0%}"
    label = svg.text((source + target) / 2, y - lift / 2 - 4, f"{said}{sure}")
    return svg.arrow(source + aside, y, target - aside, y, lift) + label
