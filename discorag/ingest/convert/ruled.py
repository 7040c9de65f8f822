"""Tables on a PDF page, from the rules that are drawn on it: pdfplumber's cells, found in time linear in crossings.

pdfplumber looks for the cell below each crossing among all other crossings; 200 rules by 200 took 22 s of it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby, takewhile
from typing import NamedTuple

from discorag.ingest.convert.page import Box, Grid

_TOLERANCE = 3.0  # pdfplumber's default: rules that miss each other by so many points meet
_CROSSINGS = 16  # rules compared for each character: half a table's cells are filled, so more rule a drawing
_FEW = 10_000  # as many may be compared on any page

Point = tuple[float, float]
"""From the left, from the top."""


Cell = tuple[float, float, float, float]
"""Left, top, right, bottom, measured from the page's upper left corner."""


class Rule(NamedTuple):
    """A line along one axis: where it stands on the other axis, where it begins and ends."""

    at: float
    start: float
    end: float


class _Met(NamedTuple):
    """The numbers of the rules that meet in a point."""

    down: set[int]
    across: set[int]


Crossings = dict[Point, _Met]


def grids(across: list[Rule], down: list[Rule], *, height: float, glyphs: int) -> list[Grid]:
    """The tables that the rules enclose, from the top; none where they are too many to rule one.

    Rules are measured from the page's top, cells up from its foot; ``glyphs`` is how many characters stand on the page.
    """
    crossings = _crossings(sorted(across), sorted(down), max(_FEW, _CROSSINGS * glyphs))
    tables = sorted(_tables(_cells(crossings)), key=lambda cells: min((cell[1], cell[0]) for cell in cells))
    return [grid for cells in tables if (grid := _grid(cells, height))]


def _crossings(across: list[Rule], down: list[Rule], most: int) -> Crossings:
    """Where rules meet; nothing if more than ``most`` pairs would have to be compared."""
    met: Crossings = defaultdict(lambda: _Met(set(), set()))
    tops = [rule.at for rule in across]
    compared = 0
    for i, v in enumerate(down):
        first, last = bisect_left(tops, v.start - _TOLERANCE), bisect_right(tops, v.end + _TOLERANCE)
        compared += last - first
        if compared > most:
            return {}
        for j in range(first, last):
            h = across[j]
            if h.start - _TOLERANCE <= v.at <= h.end + _TOLERANCE:
                met[v.at, h.at].down.add(i)
                met[v.at, h.at].across.add(j)
    return met


def _cells(crossings: Crossings) -> list[Cell]:
    """The smallest rectangle of rules to the right of and below each crossing, where there is one."""
    columns: dict[float, list[float]] = defaultdict(list)
    rows: dict[float, list[float]] = defaultdict(list)
    points = sorted(crossings)
    for left, top in points:
        columns[left].append(top)
        rows[top].append(left)
    found = (_cell(point, crossings, columns[point[0]], rows[point[1]]) for point in points)
    return [cell for cell in found if cell]


def _cell(point: Point, crossings: Crossings, column: list[float], row: list[float]) -> Cell | None:
    left, top = point
    here = crossings[point]

    def rights() -> Iterator[float]:
        return takewhile(lambda x: crossings[x, top].across & here.across, _after(row, left))

    if next(rights(), None) is None:
        return None
    for bottom in takewhile(lambda y: crossings[left, y].down & here.down, _after(column, top)):
        foot = crossings[left, bottom].across
        for right in rights():
            corner = crossings.get((right, bottom))
            if corner and corner.across & foot and corner.down & crossings[right, top].down:
                return left, top, right, bottom
    return None


def _after(values: list[float], value: float) -> Iterator[float]:
    return (values[i] for i in range(bisect_right(values, value), len(values)))


def _tables(cells: list[Cell]) -> Iterator[list[Cell]]:
    """The cells, grouped by the corners that they share."""
    sharing: dict[Point, list[Cell]] = defaultdict(list)
    for cell in cells:
        for corner in _corners(cell):
            sharing[corner].append(cell)
    while sharing:
        table: dict[Cell, None] = {}
        corners = [next(iter(sharing))]
        while corners:
            for cell in sharing.pop(corners.pop(), []):
                if cell not in table:
                    table[cell] = None
                    corners += _corners(cell)
        yield list(table)


def _corners(cell: Cell) -> list[Point]:
    left, top, right, bottom = cell
    return [(left, top), (left, bottom), (right, top), (right, bottom)]


def _grid(cells: list[Cell], height: float) -> Grid:
    """Its cells, in PDF coordinates; empty if it cannot be a table: one row or column, or more holes than cells."""
    lefts = sorted({cell[0] for cell in cells})
    rows = [{cell[0]: cell for cell in row} for _, row in groupby(sorted(cells, key=_top), key=_top)]
    if len(rows) < 2 or len(lefts) < 2 or len(rows) * len(lefts) > 2 * len(cells):
        return []
    return [[_box(row.get(left), height) for left in lefts] for row in rows]


def _top(cell: Cell) -> float:
    return cell[1]


def _box(cell: Cell | None, height: float) -> Box | None:
    return Box(cell[0], height - cell[3], cell[2], height - cell[1]) if cell else None
