"""Accents that a PDF draws over letters."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from discorag.ingest.convert.glyphs import Box, Glyph

_NEGATION = "\u0338"
_ABOVE = dict(zip("`´ˆ˜¯˘˙¨˚˝ˇ", "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c", strict=True))
_ACCENTS = {**_ABOVE, "¸": "\u0327", "˛": "\u0328", _NEGATION: _NEGATION}
_NEAR = 0.4  # of the height of a letter: how much higher its accent may stand
_LINE, _TOUCH = 12.0, 0.1  # points
_SPACE = 0.15  # of the height of a letter: the least room that a space takes


def with_accents(glyphs: Sequence[Glyph]) -> list[Glyph]:
    """The glyphs, with each accent that is drawn over a letter as one character with it: "¨" and "a" as "ä".

    Such an accent may stand anywhere in the file. The spaces that PDFium then sets around it are left out.
    """
    lines: dict[int, list[int]] = defaultdict(list)
    for at, (char, box) in enumerate(glyphs):
        if box and char not in _ACCENTS:
            lines[int(box.bottom // _LINE)].append(at)
    made = list[Glyph | None](glyphs)
    for i, (char, box) in enumerate(glyphs):
        if char not in _ACCENTS or not box or (at := _letter(glyphs, i, box, lines)) is None:
            continue
        whole = unicodedata.normalize("NFC", glyphs[at].char + _ACCENTS[char])
        if len(whole) == 1 or char == _NEGATION:
            made[at] = Glyph(whole, glyphs[at].box)
            made[i] = None
            for space in _spaces(glyphs, i):
                made[space] = None
    return [glyph for glyph in made if glyph]


def _letter(glyphs: Sequence[Glyph], i: int, accent: Box, lines: Mapping[int, Sequence[int]]) -> int | None:
    """Where the letter is that an accent is drawn over, None if there is none; the nearest in the file if it has two.

    ``lines`` are the places of the letters by how high on the page these stand.
    """
    middle = (accent.left + accent.right) / 2

    def is_below(at: int) -> bool:
        box = glyphs[at].box
        if not box or abs(accent.bottom - box.bottom) >= _NEAR * box.height:
            return False
        return box.left - _TOUCH <= middle <= box.right

    line = int(accent.bottom // _LINE)
    near = (at for key in (line - 1, line, line + 1) for at in lines.get(key, ()) if is_below(at))
    return min(near, key=lambda at: (abs(at - i), at < i), default=None)


def _spaces(glyphs: Sequence[Glyph], i: int) -> Iterator[int]:
    """The spaces to leave out next to an accent: all but one if its neighbours leave room for a space, else all."""
    start, end = i, i + 1
    while start and glyphs[start - 1].char == " ":
        start -= 1
    while end < len(glyphs) and glyphs[end].char == " ":
        end += 1
    spaces = [at for at in range(start, end) if at != i]
    before, behind = (glyphs[at].box if 0 <= at < len(glyphs) else None for at in (start - 1, end))
    if before and behind:
        has_room = abs(behind.left - before.right) > _SPACE * before.height
        yield from spaces[has_room:]
