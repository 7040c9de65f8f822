"""Pieces of SVG: every text escaped, without what XML cannot hold; colours that follow light and dark."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from textwrap import wrap

from discorag.text.escaping import one_line

LINE = 16
"""Height of a line of text, in pixels."""


def picture(width: float, height: float, parts: Iterable[str], title: str) -> str:
    """The whole drawing; ``title`` is what is read out in its place."""
    style = "font:12px sans-serif;color:currentColor;max-width:none"
    inner = "".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(title)}" style="{style}" '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">{inner}</svg>'
    )


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    """A straight line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor"/>'


def arrow(x1: float, y1: float, x2: float, y2: float, lift: float) -> str:
    """An arc with a head, bent upwards by ``lift`` pixels."""
    middle = f"{(x1 + x2) / 2:.1f} {min(y1, y2) - lift:.1f}"
    path = f"M{x1:.1f} {y1:.1f} Q{middle} {x2:.1f} {y2:.1f}"
    side = 4 if x1 > x2 else -4
    head = f"{x2:.1f},{y2:.1f} {x2 + side:.1f},{y2 - 7:.1f} {x2 + 2 * side:.1f},{y2 - 2:.1f}"
    return f'<path d="{path}" fill="none" stroke="currentColor"/><polygon points="{head}" fill="currentColor"/>'


def text(x: float, y: float, said: str, anchor: str = "middle", weight: str = "normal") -> str:
    """One line of text."""
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" fill="currentColor"'
    return f'<text {where} unicode-bidi="isolate">{escape(one_line(said, None))}</text>'


def block(x: float, y: float, said: str, columns: int, most: int) -> tuple[list[str], int]:
    """Lines of text below ``y``, at most so many, and how many they are."""
    lines = wrap(" ".join(said.split()), columns, max_lines=most, placeholder="…") or [""]
    return [text(x, y + LINE * (i + 1), part) for i, part in enumerate(lines)], len(lines)
