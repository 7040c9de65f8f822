"""A PDF page from its glyphs: lines in the file's order, tables where a grid of rules encloses them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import groupby
from statistics import median
from typing import NamedTuple

from discorag.ingest.convert.tables import table_markdown, table_of
from discorag.ingest.convert.unwrap import HYPHEN, Line, paragraphs, unwrap


class Box(NamedTuple):
    """A rectangle in points, from the page's lower left corner."""

    left: float
    bottom: float
    right: float
    top: float

    def turned(self, degrees: int) -> Box:
        """The box on a page that is shown turned clockwise by 0, 90, 180 or 270 degrees."""
        left, bottom, right, top = self
        for _ in range(degrees // 90):
            left, bottom, right, top = bottom, -right, top, -left
        return Box(left, bottom, right, top)

    def holds(self, other: Box) -> bool:
        """Whether the middle of ``other`` lies inside."""
        x, y = (other.left + other.right) / 2, (other.bottom + other.top) / 2
        return self.left <= x <= self.right and self.bottom <= y <= self.top


class Glyph(NamedTuple):
    """One character; white space has no box."""

    char: str
    box: Box | None


Grid = list[list[Box | None]]
"""The cells of a table, row by row; None where a cell is part of its neighbour."""


Key = tuple[int, int, int]
"""A cell: its grid, row and column."""


def page_text(glyphs: Iterable[Glyph], grids: list[Grid]) -> str:
    """The page as Markdown: each table once, at its first glyph; everything else in paragraphs.

    Glyphs are in the file's order. Grids of one row or column, or with less than half of their cells filled, are not
    tables.
    """
    placed = list(_place(glyphs, grids))
    inside: dict[Key, list[Glyph]] = defaultdict(list)
    for glyph, cell in placed:
        if cell:
            inside[cell].append(glyph)
    tables = {i: rows for i, grid in enumerate(grids) if _is_table(rows := _rows(inside, i, grid))}
    parts: list[str] = []
    shown: set[int] = set()
    for table, group in groupby(placed, key=lambda place: place[1][0] if place[1] and place[1][0] in tables else None):
        if table is None:
            lines = list(_lines(glyph for glyph, _ in group))
            parts += [unwrap(p) for p in paragraphs(lines)]
        elif table not in shown:
            parts.append(table_markdown(table_of(tables[table])))
            shown.add(table)
    return "\n\n".join(parts)


def _place(glyphs: Iterable[Glyph], grids: list[Grid]) -> Iterator[tuple[Glyph, Key | None]]:
    """Each glyph with its cell; white space belongs to the glyph before it."""
    rows = [
        {(g, r, c): cell for c, cell in enumerate(row) if cell}
        for g, grid in enumerate(grids)
        for r, row in enumerate(grid)
    ]
    framed = [(_around(row.values()), row) for row in rows if row]
    last: tuple[Key, Box] | None = None
    for glyph in glyphs:
        box = glyph.box
        if box and not (last and last[1].holds(box)):
            near = (found for frame, row in framed if frame.holds(box) for found in row.items())
            last = next((found for found in near if found[1].holds(box)), None)
        yield glyph, last[0] if last else None


def _around(cells: Collection[Box]) -> Box:
    return Box(
        min(cell.left for cell in cells),
        min(cell.bottom for cell in cells),
        max(cell.right for cell in cells),
        max(cell.top for cell in cells),
    )


def _rows(inside: dict[Key, list[Glyph]], number: int, grid: Grid) -> list[list[str]]:
    width = max(map(len, grid), default=0)
    return [[unwrap(list(_lines(inside.get((number, r, c), [])))) for c in range(width)] for r in range(len(grid))]


def _is_table(rows: list[list[str]]) -> bool:
    cells = [cell for row in rows for cell in row]
    return len(rows) > 1 and len(rows[0]) > 1 and 2 * sum(map(bool, cells)) >= len(cells)


def _lines(glyphs: Iterable[Glyph]) -> Iterator[Line]:
    line: list[Glyph] = []
    for glyph in glyphs:
        if glyph.char in "\r\n":
            yield from _line(line)
            line = []
            continue
        line.append(glyph)
        if glyph.char == HYPHEN:
            yield from _line(line)
            line = []
    yield from _line(line)


def _line(glyphs: list[Glyph]) -> Iterator[Line]:
    boxes = [g.box for g in glyphs if g.box]
    if not boxes:
        return
    text = "".join(g.char for g in glyphs).lstrip()
    word = [g.box for g in glyphs if g.box][: len(text.split(maxsplit=1)[0])]
    yield Line(
        text=text.rstrip(),
        left=boxes[0].left,
        right=max(b.right for b in boxes),
        bottom=median(b.bottom for b in boxes),
        top=median(b.top for b in boxes),
        first_word=word[-1].right - word[0].left,
    )
