"""An RST tree as linguists draw it: a nucleus straight below its relation, a satellite tied to it by an arc."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discorag.discourse.formats import svg
from discorag.schema.discourse import Nuclearity, RstTree, Split
from discorag.schema.document import Chunk

COLUMN, LEVEL, LETTERS, LINES = 130, 46, 20, 8
"""Width of an EDU and height of a level in pixels; letters of a line, and lines, of an EDU."""


def tree_svg(tree: RstTree, texts: Sequence[str] = ()) -> str:
    """The drawing; EDUs are numbers where ``texts`` does not say them."""
    said = list(texts) or [""] * len(tree.edus)
    tops = _tops(tree)
    bottom = max((top for top, _ in tops.values()), default=0) * LEVEL + LEVEL
    parts, lines = list(_splits(tree, tops)), 1
    for i, one in enumerate(said):
        x = (i + 0.5) * COLUMN
        parts += [
            svg.line(x, tops[i, i + 1][0] * LEVEL, x, bottom),
            svg.text(x, bottom + 14, str(i + 1), weight="bold"),
        ]
        told, height = svg.block(x, bottom + 12, one, LETTERS, LINES)
        parts, lines = parts + told, max(lines, height)
    return svg.picture(COLUMN * len(said), bottom + 24 + svg.LINE * lines, parts, f"RST tree of {len(said)} units")


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
        left, right = tops[s.start, s.mid][1] * COLUMN, tops[s.mid, s.end][1] * COLUMN
        yield svg.line((s.start + 0.1) * COLUMN, y, (s.end - 0.1) * COLUMN, y)
        if s.nuclearity is Nuclearity.NN:
            yield svg.line(head * COLUMN, y, left, below) + svg.line(head * COLUMN, y, right, below)
        else:
            source, target = (left, right) if s.nuclearity is Nuclearity.SN else (right, left)
            yield svg.line(target, y, target, below) + svg.arrow(source, below, target, y + 4, -LEVEL / 4)
        yield svg.text((left + right) / 2, y + LEVEL / 2 + 2, _label(s))


def _label(split: Split) -> str:
    sure = "" if split.confidence is None else f" {split.confidence:.0%}"
    return f"{split.relation.value.lower().replace('_', '-')}{sure}"
