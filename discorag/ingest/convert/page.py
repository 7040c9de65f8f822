"""A PDF page from its glyphs: lines in the file's order, tables where a grid of rules encloses them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from statistics import median
from typing import NamedTuple

from discorag.ingest.convert.converted import pipe_table
from discorag.ingest.convert.unwrap import HYPHEN, Line, paragraphs, unwrap


class Box(NamedTuple):
    """A rectangle in points, from the page's lower left corner."""

    left: float
    bottom: float
    right: float
    top: float

    def turned(self, degrees: int) -> Box:
        """The same as a reader of a page that is shown turned clockwise by 0, 90, 180 or 270 degrees sees it."""
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
    """The page as Markdown: each table once, where its first glyph stands; everything else in paragraphs.

    Glyphs are in the file's order. Of the grids, those of one row or column, or with less than half of their cells
    filled, are not tables.
    """
    placed = list(_placed(list(glyphs), grids))
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
            parts.append(pipe_table(tables[table]))
            shown.add(table)
    return "\n\n".join(parts)


def _placed(glyphs: list[Glyph], grids: list[Grid]) -> Iterator[tuple[Glyph, Key | None]]:
    """Each glyph with its cell; white space belongs to the glyph before it."""
    cells = {
        (g, r, c): cell
        for g, grid in enumerate(grids)
        for r, row in enumerate(grid)
        for c, cell in enumerate(row)
        if cell
    }
    holder = _Holder(cells)
    last: Key | None = None
    for glyph in glyphs:
        box = glyph.box
        if box and not (last and cells[last].holds(box)):
            last = holder.of(box)
        yield glyph, last


class _Axis:
    """An axis cut at some edges: every edge and every gap between two of them is a place of its own."""

    def __init__(self, edges: Iterable[float]) -> None:
        self._edges = sorted(set(edges))

    def place(self, value: float) -> int:
        return bisect_left(self._edges, value) + bisect_right(self._edges, value)

    def places(self, low: float, high: float) -> range:
        return range(self.place(low), self.place(high) + 1)


class _Holder:
    """Which cell holds a box, without a look at the other rows and columns; of several the first."""

    def __init__(self, cells: dict[Key, Box]) -> None:
        self._cells = cells
        self._axis = _Axis(edge for cell in cells.values() for edge in (cell.bottom, cell.top))
        self._rows: dict[int, list[Key]] = defaultdict(list)
        for key, cell in cells.items():
            for place in self._axis.places(cell.bottom, cell.top):
                self._rows[place].append(key)
        self._cut: dict[int, tuple[_Axis, dict[int, Key]]] = {}

    def of(self, box: Box) -> Key | None:
        row = self._axis.place((box.bottom + box.top) / 2)
        if row not in self._cut:
            self._cut[row] = self._columns(self._rows.get(row, []))
        axis, keys = self._cut[row]
        return keys.get(axis.place((box.left + box.right) / 2))

    def _columns(self, row: list[Key]) -> tuple[_Axis, dict[int, Key]]:
        cells = {key: self._cells[key] for key in row}
        axis = _Axis(edge for cell in cells.values() for edge in (cell.left, cell.right))
        keys: dict[int, Key] = {}
        for key, cell in cells.items():
            for place in axis.places(cell.left, cell.right):
                keys.setdefault(place, key)
        return axis, keys


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
