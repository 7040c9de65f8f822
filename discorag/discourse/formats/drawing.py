"""Trees and graphs as SVG: every text escaped, colours that follow light and dark.

A tree is drawn as linguists draw it: a nucleus straight below its relation, a satellite tied to it by an arc. A graph
is its chunks in a row, in the order of retrieval, with its relations as labelled arcs above them.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from textwrap import wrap

from discorag.schema.discourse import Edge, Nuclearity, RhetoricalGraph, RstTree, Split
from discorag.schema.document import Chunk
from discorag.text.escaping import one_line

LINE = 16
"""Height of a line of text, in pixels."""
UNIT, LEVEL = 130, 46
"""Width of an EDU and height of a level of the tree, in pixels."""
LETTERS, LINES = 20, 8
"""Letters in a line, and lines, that are shown of an EDU."""
CHUNK, STEP = 120, 34
"""Distance of two chunks, and what an arc rises for each chunk that it passes, in pixels."""


def tree_svg(tree: RstTree, texts: Sequence[str] = ()) -> str:
    """The drawing of a tree; without the ``texts`` of its EDUs it shows only their numbers."""
    texts = texts or [""] * len(tree.edus)
    tops = _tops(tree)
    bottom = max(level for level, _ in tops.values()) * LEVEL + LEVEL
    parts, height = list(_splits(tree, tops)), 1
    for i, text in enumerate(texts):
        x = (i + 0.5) * UNIT
        parts += [_line(x, tops[i, i + 1][0] * LEVEL, x, bottom), _text(x, bottom + 14, str(i + 1), weight="bold")]
        lines = wrap(" ".join(text.split()), LETTERS, max_lines=LINES, placeholder="…") or [""]
        parts += [_text(x, bottom + 12 + LINE * (n + 1), line) for n, line in enumerate(lines)]
        height = max(height, len(lines))
    return _picture(UNIT * len(texts), bottom + 24 + LINE * height, parts, f"RST tree of {len(texts)} units")


def chunk_svg(chunk: Chunk) -> str:
    """The tree of a chunk with its words; empty if it has none."""
    return tree_svg(chunk.tree, [chunk.slice(edu) for edu in chunk.tree.edus]) if chunk.tree else ""


def _tops(tree: RstTree) -> dict[tuple[int, int], tuple[int, float]]:
    """Of each constituent its level and the x of its head, in EDUs."""
    tops = {(0, len(tree.edus)): (1, tree.head(0, len(tree.edus)) + 0.5)}
    for s in tree.splits:
        level = tops[s.start, s.end][0] + 1
        for part in ((s.start, s.mid), (s.mid, s.end)):
            tops[part] = (level, tree.head(*part) + 0.5)
    return tops


def _splits(tree: RstTree, tops: dict[tuple[int, int], tuple[int, float]]) -> Iterator[str]:
    for s in tree.splits:
        level, head = tops[s.start, s.end]
        y, below = level * LEVEL, (level + 1) * LEVEL
        left, right = tops[s.start, s.mid][1] * UNIT, tops[s.mid, s.end][1] * UNIT
        yield _line((s.start + 0.1) * UNIT, y, (s.end - 0.1) * UNIT, y)
        if s.nuclearity is Nuclearity.NN:
            yield _line(head * UNIT, y, left, below) + _line(head * UNIT, y, right, below)
        else:
            source, target = (left, right) if s.nuclearity is Nuclearity.SN else (right, left)
            yield _line(target, y, target, below) + _arrow(source, below, target, y + 4, -LEVEL / 4)
        yield _text((left + right) / 2, y + LEVEL / 2 + 2, _label(s, "-"))


def graph_svg(graph: RhetoricalGraph) -> str:
    """The drawing of a graph; chunks are their numbers in prompts and plans."""
    edges = sorted(graph.edges, key=lambda e: _reach(graph, e))
    y = STEP * (max((_reach(graph, e) for e in edges), default=0) + 1) + 20
    parts = [_arc(graph, e, y) for e in edges]
    for i, _ in enumerate(graph.chunks):
        x = (i + 0.5) * CHUNK
        parts.append(f'<circle cx="{x:.1f}" cy="{y + 16:.1f}" r="14" fill="none" stroke="currentColor"/>')
        parts.append(_text(x, y + 20, str(i + 1), weight="bold"))
    return _picture(CHUNK * max(1, len(graph.chunks)), y + 40, parts, f"Graph of {len(graph.chunks)} passages")


def _reach(graph: RhetoricalGraph, edge: Edge) -> int:
    return abs(graph.number(edge.source) - graph.number(edge.target))


def _arc(graph: RhetoricalGraph, edge: Edge, y: float) -> str:
    source, target = (((graph.number(end) - 0.5) * CHUNK) for end in (edge.source, edge.target))
    lift = STEP * _reach(graph, edge)
    aside = 8 if source < target else -8
    label = _text((source + target) / 2, y - lift / 2 - 4, _label(edge, " "))
    return _arrow(source + aside, y, target - aside, y, lift) + label


def _label(link: Split | Edge, space: str) -> str:
    confidence = link.confidence if isinstance(link, Split) else None
    sure = "" if confidence is None else f" {confidence:.0%}"
    return f"{link.relation.value.lower().replace('_', space)}{sure}"


def _picture(width: float, height: float, parts: Iterable[str], title: str) -> str:
    """The whole drawing; screen readers read ``title`` instead."""
    style = "font:12px sans-serif;color:currentColor;max-width:none"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(title)}" style="{style}" '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">{"".join(parts)}</svg>'
    )


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor"/>'


def _arrow(x1: float, y1: float, x2: float, y2: float, lift: float) -> str:
    """An arc with a head, bent upwards by ``lift`` pixels."""
    middle = f"{(x1 + x2) / 2:.1f} {min(y1, y2) - lift:.1f}"
    path = f"M{x1:.1f} {y1:.1f} Q{middle} {x2:.1f} {y2:.1f}"
    side = 4 if x1 > x2 else -4
    head = f"{x2:.1f},{y2:.1f} {x2 + side:.1f},{y2 - 7:.1f} {x2 + 2 * side:.1f},{y2 - 2:.1f}"
    return f'<path d="{path}" fill="none" stroke="currentColor"/><polygon points="{head}" fill="currentColor"/>'


def _text(x: float, y: float, line: str, weight: str = "normal") -> str:
    """A line of text, without what XML cannot hold."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-weight="{weight}" fill="currentColor"'
    return f'<text {place} unicode-bidi="isolate">{escape(one_line(line, None))}</text>'
