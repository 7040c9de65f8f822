"""A PDF page from its glyphs: paragraphs in the order in which they are read, tables where rules enclose cells."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from statistics import median

from discorag.ingest.convert.columns import Stretch, line_box, reading_order
from discorag.ingest.convert.forms import END_OF_FIELD
from discorag.ingest.convert.glyphs import Box, Glyph
from discorag.ingest.convert.tables import Cell
from discorag.ingest.convert.unwrap import HYPHEN, Line, paragraphs, unwrap, without_marks

Grid = list[Box]
"""The cells of a table, as its rules enclose them."""
Key = tuple[int, int]
"""A cell: its grid, and its place there."""

BULLETS = "•●▪◦‣▶►▸➢➤❖∙\uf0b7\uf0a7\uf0d8"  # the last three are those of Word's symbol fonts
_RAISED = 0.9  # of the height of the others: smaller digits may be raised
_WORDS = 0.4  # of the height: words of a line are no further apart, cells may be
_LEVEL = 0.02  # of the height: letters of one size are on one line if no further apart
_SPACE = 0.07  # of the height: the least room that a space takes between boxes as wide as their letters advance
_LINE_ENDS = f"\r\n{HYPHEN}"
_BULLET = re.compile(rf"[{BULLETS}]\s*")


@dataclass(frozen=True)
class Paragraph:
    """Text with a `MARK` at the start of each line, and the boxes of these lines."""

    text: str
    boxes: list[Box]
    height: float


@dataclass(frozen=True)
class PageTable:
    """A ruled table, or the rest of one that begins on the page before.

    Args:
        rows: Its cells, as in `discorag.ingest.convert.tables.Table`.
        boxes: The box of each row.
        edges: Where its columns begin and end.
        plain: The same as text, if it is too small to be a table unless it goes on with another.
    """

    rows: list[list[Cell]]
    boxes: list[Box]
    edges: tuple[float, ...]
    plain: list[Paragraph] | None


Part = Paragraph | PageTable


def page_parts(glyphs: Iterable[Glyph], grids: Sequence[Grid]) -> list[Part]:
    """The parts of a page: each table once, at its first glyph; everything else in paragraphs.

    Glyphs are in the file's order. Grids of one column, or with less than half of their cells filled, are not tables.
    """
    grids = [[*grid, *_open_cells(grid)] for grid in grids]
    placed = list(_place(glyphs, grids))
    inside: dict[Key, list[Glyph]] = defaultdict(list)
    for glyph, cell in placed:
        if cell:
            inside[cell].append(glyph)
    tables = {i: table for i, grid in enumerate(grids) if (table := _table(inside, i, grid))}
    parts: list[Part] = []
    shown: set[int] = set()
    for key, group in groupby(placed, key=lambda place: place[1][0] if place[1] and place[1][0] in tables else None):
        if key is None:
            parts += _paragraphs(glyph for glyph, _ in group)
        elif key not in shown:
            parts.append(tables[key])
            shown.add(key)
    return parts


def _open_cells(grid: Grid) -> Iterator[Box]:
    """The cells that no rule closes, as where a page ends inside them: in each column, from one cell to the next."""
    xs, ys = _edges(grid)
    for left, right in pairwise(xs):
        middle = (left + right) / 2
        own = [(box.bottom, box.top) for box in grid if box.left < middle < box.right]
        is_free = [not any(low < (a + b) / 2 < high for low, high in own) for a, b in pairwise(ys)]
        for free, rows in groupby(zip(is_free, pairwise(ys), strict=True), key=itemgetter(0)):
            if free:
                places = [place for _, place in rows]
                yield Box(left, places[-1][1], right, places[0][0])


def _edges(grid: Grid) -> tuple[list[float], list[float]]:
    """Where the columns of a grid begin and end, from the left, and its rows, from the top."""
    xs = sorted({round(x, 1) for box in grid for x in (box.left, box.right)})
    return xs, sorted({round(y, 1) for box in grid for y in (box.bottom, box.top)}, reverse=True)


def _paragraphs(glyphs: Iterable[Glyph]) -> list[Paragraph]:
    return [
        Paragraph(unwrap(lines), [line.box for line in lines], median(line.box.height for line in lines))
        for lines in paragraphs(list(_lines(glyphs)))
    ]


def _place(glyphs: Iterable[Glyph], grids: Sequence[Grid]) -> Iterator[tuple[Glyph, Key | None]]:
    """Each glyph with its cell; white space belongs to the glyph before it."""
    framed = [(_around(grid), [((g, c), cell) for c, cell in enumerate(grid)]) for g, grid in enumerate(grids) if grid]
    last: tuple[Key, Box] | None = None
    for glyph in glyphs:
        box = glyph.box
        if box and not (last and last[1].holds(box)):
            near = (found for frame, cells in framed if frame.holds(box) for found in cells)
            last = next((found for found in near if found[1].holds(box)), None)
        yield glyph, last[0] if last else None


def _around(boxes: Collection[Box]) -> Box:
    return Box(
        min(box.left for box in boxes),
        min(box.bottom for box in boxes),
        max(box.right for box in boxes),
        max(box.top for box in boxes),
    )


def _table(inside: dict[Key, list[Glyph]], number: int, grid: Grid) -> PageTable | None:
    """The table in a grid; None if the grid holds no table."""
    xs, ys = _edges(grid)
    texts = [without_marks(unwrap(list(_lines(inside.get((number, c), []))))) for c in range(len(grid))]
    if len(xs) < 3 or 2 * sum(map(bool, texts)) < len(texts):
        return None
    across, down = {x: i for i, x in enumerate(xs)}, {y: i for i, y in enumerate(ys)}
    places: dict[tuple[int, int], Cell] = {}
    free = {(row, column) for row in range(len(ys) - 1) for column in range(len(xs) - 1)}
    for box, text in zip(grid, texts, strict=True):
        left, right = across[round(box.left, 1)], across[round(box.right, 1)]
        top, bottom = down[round(box.top, 1)], down[round(box.bottom, 1)]
        places[top, left] = Cell(text, bottom - top, right - left)
        free -= {(row, column) for row in range(top, bottom) for column in range(left, right)}
    places |= dict.fromkeys(free, Cell(""))
    rows = [[places[key] for key in sorted(key for key in places if key[0] == row)] for row in range(len(ys) - 1)]
    boxes = [Box(xs[0], low, xs[-1], high) for high, low in pairwise(ys)]
    own = (glyph for c in range(len(grid)) for glyph in [*inside.get((number, c), []), Glyph("\n", None)])
    return PageTable(rows, boxes, tuple(xs), _paragraphs(own) if len(rows) == 1 else None)


def _lines(glyphs: Iterable[Glyph]) -> Iterator[Line]:
    for stretch in reading_order(_written_lines(glyphs)):
        for item in _items(stretch):
            yield _line(item, starts_row=stretch.starts_row)


def _written_lines(glyphs: Iterable[Glyph]) -> Iterator[list[Glyph]]:
    """The lines that hold anything, in the file's order; PDFium ends some behind a raised digit or any letter."""
    whole: list[Glyph] = []
    for line in _broken_lines(glyphs):
        if whole and not _goes_on(whole, line):
            yield whole
            whole = []
        whole += [*_gap(whole, line), *line] if whole else line
    if whole:
        yield whole


def _broken_lines(glyphs: Iterable[Glyph]) -> Iterator[list[Glyph]]:
    line: list[Glyph] = []
    for glyph in [*glyphs, Glyph("\n", None)]:
        if glyph.char not in "\r\n":
            line.append(glyph)
        if glyph.char in _LINE_ENDS:
            if any(g.box for g in line):
                yield line
            line = []


def _goes_on(line: Sequence[Glyph], following: Sequence[Glyph]) -> bool:
    """Whether the second line begins where the first one ends, on the same line, or raised or lowered."""
    last = next(glyph.box for glyph in reversed(line) if glyph.box)
    first = next(glyph.box for glyph in following if glyph.box)
    small, large = sorted((last.height, first.height))
    if small > (1 - _LEVEL) * large and abs(last.bottom - first.bottom) < _LEVEL * large:
        return -1 <= first.left - last.right < _WORDS * large
    overlap = min(last.top, first.top) - max(last.bottom, first.bottom)
    return small < _RAISED * large and overlap > small / 2 and -1 <= first.left - last.right < large


def _gap(line: Sequence[Glyph], following: Sequence[Glyph]) -> list[Glyph]:
    """A space, if the lines have none between them but room for one."""
    last, first = line[-1].box, following[0].box
    return [Glyph(" ", None)] if last and first and first.left - last.right > _SPACE * first.height else []


def _items(stretch: Stretch) -> Iterator[list[Glyph]]:
    """A line, or its items if it begins with the bullet that is also inside it."""
    line = stretch.glyphs
    first = next(i for i, glyph in enumerate(line) if glyph.box)
    start = 0
    if line[first].char in BULLETS:
        for i in range(first + 1, len(line)):
            if line[i].char == line[first].char and line[i - 1].char.isspace():
                yield line[start:i]
                start = i
    yield line[start:]


def _line(glyphs: list[Glyph], *, starts_row: bool) -> Line:
    boxes = [glyph.box for glyph in glyphs if glyph.box]
    text = "".join(glyph.char for glyph in glyphs).strip()
    word = boxes[: len(text.split(maxsplit=1)[0])]
    return Line(
        text=_BULLET.sub("- ", text, count=1).rstrip() if text[0] in BULLETS else text,
        box=line_box(glyphs),
        first_word=word[-1].right - word[0].left,
        starts_row=starts_row,
        ends_row=any(glyph.char == END_OF_FIELD for glyph in glyphs),
    )
