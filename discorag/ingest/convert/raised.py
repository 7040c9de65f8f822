"""Digits that stand higher or lower than what is before them, written in a line: 10^6, 1/2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from discorag.ingest.convert.glyphs import Box, Glyph

_SMALL = 0.88  # of the height of what is before them: smaller digits may be raised
_DESCENT = 0.18  # of a glyph's height: what is below its baseline
_UP, _DOWN = 0.15, 0.08  # of the height of what is before them: from there on they are raised, or lowered
_NEAR = 0.3  # of a digit's height: how far the glyph before it may be if PDFium ends a line between them
_WIDEST = 40.0  # points: a longer rule is not a fraction's
_MARKS = 4  # glyphs among which one is searched for that is not such a mark
_STOPS = ".,;:!?\"'\u2019\u201d"
_SLASHES = "/\u2044\u2215"


class _Run(NamedTuple):
    """Glyphs ``start`` to ``end`` of a page: digits of one height."""

    start: int
    end: int
    box: Box


def in_line(glyphs: Sequence[Glyph], rules: Sequence[Box]) -> list[Glyph]:
    """The glyphs with ``^`` before raised digits, ``_`` before digits lowered below others, and ``/`` in a fraction.

    A fraction's rule is between its digits. Raised digits that are not behind a letter, a digit or a bracket, as at the
    start of a footnote, stay as they are; marks like a full stop may be between.
    """
    bars = [rule for rule in rules if rule.right - rule.left <= _WIDEST]
    made: list[Glyph] = []
    runs = list(_runs(glyphs))
    at = 0
    for run, following in zip_longest(runs, runs[1:]):
        if run.start < at:
            continue
        made += glyphs[at : run.start]
        at = run.end
        before = _before(made, run.box)
        if following and _is_fraction(run, following, bars):
            made += [Glyph(" ", None)] if before.char.isdigit() else []
            made += [*glyphs[run.start : run.end], Glyph("/", None), *glyphs[following.start : following.end]]
            at = following.end
            continue
        if mark := _mark(before, run, glyphs[at].char if at < len(glyphs) else ""):
            made.append(Glyph(mark, None))
        made += glyphs[run.start : run.end]
    return [*made, *glyphs[at:]]


def _before(made: Sequence[Glyph], box: Box) -> Glyph:
    """The glyph before a digit, also across the end of a line: PDFium may set one before a raised digit.

    Marks that end a clause are as small as a raised digit and tell nothing; the glyph before them does.
    """
    solid = next((glyph for glyph in reversed(made[-_MARKS:]) if glyph.char not in _STOPS), Glyph(" ", None))
    if solid.box and solid is not made[-1] and -1 <= box.left - solid.box.right < solid.box.height:
        return solid
    last = next((glyph for glyph in reversed(made) if glyph.char not in "\r\n"), Glyph(" ", None))
    if last.box and last is not made[-1] and not -1 <= box.left - last.box.right < _NEAR * box.height:
        return made[-1]
    return last


def _runs(glyphs: Sequence[Glyph]) -> Iterator[_Run]:
    run: _Run | None = None
    for i, (char, box) in enumerate(glyphs):
        if run and (not box or not char.isdigit() or abs(box.height - run.box.height) > 0.1 * box.height):
            yield run
            run = None
        if box and char.isdigit():
            run = _Run(run.start, i + 1, run.box._replace(right=box.right)) if run else _Run(i, i + 1, box)
    if run:
        yield run


def _mark(before: Glyph, run: _Run, following: str) -> str:
    base, box = before.box, run.box
    if not base or box.height > _SMALL * base.height or (following and following in _SLASHES):
        return ""
    rise = (box.bottom + _DESCENT * box.height) - (base.bottom + _DESCENT * base.height)
    if rise > _UP * base.height and (before.char.isalnum() or before.char in ")]"):
        return "^"
    return "_" if rise < -_DOWN * base.height and before.char.isdigit() else ""


def _is_fraction(upper: _Run, lower: _Run, bars: Sequence[Box]) -> bool:
    if lower.start - upper.end > 2:  # more than a line break
        return False
    a, b = upper.box, lower.box
    is_above = a.bottom > b.bottom and min(a.right, b.right) > max(a.left, b.left)
    return is_above and any(_separates(bar, a, b) for bar in bars)


def _separates(bar: Box, upper: Box, lower: Box) -> bool:
    y = (bar.bottom + bar.top) / 2
    is_between = (lower.bottom + lower.top) / 2 < y < (upper.bottom + upper.top) / 2
    return is_between and bar.left <= upper.right and upper.left <= bar.right
