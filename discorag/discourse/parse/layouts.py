"""How a language model is shown a chunk with its tree: marked inside the text, as indentation, or not at all."""

from __future__ import annotations

import re
from typing import Literal

from discorag.discourse.parse.inline import MARK, mark, pieces
from discorag.schema.chunk import Chunk

Layout = Literal["inline", "indented", "plain"]
"""inline: a mark at every gap (`discorag.discourse.parse.inline`). indented: a sentence a line, further in the more
satellite links lie above it. plain: the text alone."""


def laid_out(chunk: Chunk, layout: Layout, *, gap: str) -> str:
    """The chunk's text, escaped, in one of the layouts; the chunk has a tree.

    Args:
        chunk: With its tree.
        layout: See `Layout`.
        gap: Stands where a compressed chunk lacks EDUs.
    """
    if layout == "indented":
        return _indented(chunk, gap)
    assert chunk.tree is not None
    marked = mark(chunk.text, chunk.tree, offset=chunk.span.start, gap=gap)
    return marked if layout == "inline" else MARK.sub("", marked)


def _indented(chunk: Chunk, gap: str) -> str:
    """A sentence a line, two spaces in for each satellite link above the most nuclear of its EDUs."""
    assert chunk.tree is not None
    parts = pieces(chunk.text, chunk.tree, offset=chunk.span.start, gap=gap)
    lines: list[tuple[int, str]] = []
    ends = iter([s.end for s in chunk.sentences])
    end = 0
    for edu, depth, part in zip(chunk.tree.edus, chunk.tree.satellite_depth, parts, strict=True):
        if edu.start < end:
            before = lines.pop()
            lines.append((min(before[0], depth), before[1] + part))
        else:
            lines.append((depth, part))
            end = next((e for e in ends if e > edu.start), edu.end)
    return "\n".join("  " * depth + re.sub(r"\s+", " ", text).strip() for depth, text in lines)
