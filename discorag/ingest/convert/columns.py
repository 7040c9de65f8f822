"""The reading order of lines that a PDF writes straight across columns."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from discorag.ingest.convert.glyphs import Box, Glyph

_WIDE = 1.0  # of the line height: a wider gap inside a line may separate columns
_LEADING = 1.3  # of the distance of lines: the next line is still of the same block
_BLOCK = 2.5  # of the line height: lines that are further apart are of different blocks
_ROWS, _PROSE = 2, 3  # lines with the same gap that make rows of a table, and columns of prose
_WORDS = 3  # words of a usual line of prose, at least
_LOWER = 0.4  # share of its lines that go on with a small letter, at least
_FULL, _LETTERS = 0.85, 10  # where letters have no case: width of a usual line, of the widest; and its characters
_LABEL = re.compile(r"(?:\W{1,2}|\(?\w{1,4}[.):]|\d+(?:\.\d+)+\.?|\(\w{1,4}\)|\[\w{1,4}\])\s*")


class Stretch(NamedTuple):
    """Glyphs to be read in one go; ``starts_row`` if they are a row of cells, or what follows the last row."""

    glyphs: list[Glyph]
    starts_row: bool = False


@dataclass(frozen=True)
class _Row:
    """A line, cut at its wide gaps."""

    cells: list[list[Glyph]]
    boxes: list[Box]

    @property
    def height(self) -> float:
        return self.boxes[0].height

    @property
    def bottom(self) -> float:
        return self.boxes[0].bottom


class _Gap(NamedTuple):
    left: float
    right: float


def reading_order(lines: Iterable[list[Glyph]]) -> list[Stretch]:
    """The lines in the order in which they are read.

    Where three or more lines have the same wide gap, and wrapped prose on both sides of it, all that is left of the gap
    comes first. Otherwise such lines are rows of a table without rules, and stay whole.
    """
    return list(_order([_row(line) for line in lines]))


def _row(line: list[Glyph]) -> _Row:
    heights = [g.box.height for g in line if g.box]
    wide = _WIDE * median(heights)
    cells: list[list[Glyph]] = [[]]
    last: Box | None = None
    for glyph in line:
        box = glyph.box
        if box and last and box.left - last.right > wide and not _LABEL.fullmatch(_text(cells[-1])):
            cells.append([])
        cells[-1].append(glyph)
        last = box or last
    return _Row(cells, [line_box(cell) for cell in cells])


def _order(rows: Sequence[_Row]) -> Iterator[Stretch]:
    i, after_table = 0, False
    while i < len(rows):
        end, gap = max((_block(rows, i, gap) for gap in _gaps(rows[i])), default=(i + 1, _Gap(0, 0)))
        block = rows[i:end]
        both = [row for row in block if _is_cut(row, gap)]
        if len(both) >= _PROSE and all(map(_is_prose, sides := _sides(block, gap))):
            for side in sides:
                yield from _order(side)
            after_table = False
        elif len(both) >= _ROWS:
            yield from (Stretch(_whole(row), row in both) for row in block)
            after_table = True
        else:
            end = i + 1
            yield Stretch(_whole(rows[i]), after_table)
            after_table = False
        i = end


def _gaps(row: _Row) -> list[_Gap]:
    return [_Gap(a.right, b.left) for a, b in pairwise(row.boxes)]


def _block(rows: Sequence[_Row], start: int, gap: _Gap) -> tuple[int, _Gap]:
    """Where the lines end that leave a gap empty, and what is empty in all of them."""
    least = _WIDE / 2 * rows[start].height
    leading = 0.0
    end, last = start + 1, start + 1  # of all lines, and of those on both sides
    for i in range(start + 1, len(rows)):
        above, row = rows[i - 1], rows[i]
        drop = above.bottom - row.bottom
        if not 0 < drop <= _BLOCK * above.height:
            break
        cut = next((g for g in _gaps(row) if min(g.right, gap.right) - max(g.left, gap.left) >= least), None)
        if cut:
            gap = _Gap(max(cut.left, gap.left), min(cut.right, gap.right))
            leading = min(leading or drop, drop)
            last = i + 1
        elif len(row.cells) > 1 or not _is_beside(row, gap) or (leading and drop > _LEADING * leading):
            break
        end = i + 1
    return max(end, last), gap


def _is_beside(row: _Row, gap: _Gap) -> bool:
    return row.boxes[-1].right <= gap.right or row.boxes[0].left >= gap.left


def _is_cut(row: _Row, gap: _Gap) -> bool:
    return row.boxes[0].right <= gap.left and row.boxes[-1].left >= gap.right


def _sides(block: Sequence[_Row], gap: _Gap) -> tuple[list[_Row], list[_Row]]:
    """What is on the left and on the right of a gap."""
    middle = (gap.left + gap.right) / 2
    left, right = list[_Row](), list[_Row]()
    for row in block:
        before = sum(box.right <= middle for box in row.boxes)
        if before:
            left.append(_Row(row.cells[:before], row.boxes[:before]))
        if before < len(row.cells):
            right.append(_Row(row.cells[before:], row.boxes[before:]))
    return left, right


def _is_prose(side: Sequence[_Row]) -> bool:
    """Whether lines below one another are wrapped: they are long, and go on in the middle of a sentence.

    Where most lines have wide gaps themselves, they are columns of such lines.
    """
    cut = [row for row in side if len(row.cells) > 1]
    if 2 * len(cut) > len(side):
        return any(all(map(_is_prose, _sides(side, gap))) for gap in _gaps(cut[0]))
    texts = [_text(_whole(row)) for row in side]
    if len(texts) < _PROSE:
        return False
    if not any(letter.islower() for text in texts for letter in text):
        widths = [row.boxes[-1].right - row.boxes[0].left for row in side]
        return median(widths) >= _FULL * max(widths) and median(map(len, texts)) >= _LETTERS
    lower = sum(text[:1].islower() for text in texts[1:])
    return median(len(text.split()) for text in texts) >= _WORDS and lower >= _LOWER * (len(texts) - 1)


def _whole(row: _Row) -> list[Glyph]:
    return [glyph for cell in row.cells for glyph in cell]


def _text(glyphs: Iterable[Glyph]) -> str:
    return "".join(glyph.char for glyph in glyphs).strip()


def line_box(glyphs: Sequence[Glyph]) -> Box:
    """The box of a line, as high as its usual glyph."""
    boxes = [glyph.box for glyph in glyphs if glyph.box]
    return Box(
        min(box.left for box in boxes),
        median(box.bottom for box in boxes),
        max(box.right for box in boxes),
        median(box.top for box in boxes),
    )
