"""Lines of a page joined into paragraphs: wrapped lines are joined, the author's own line breaks stay."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, repeat
from statistics import median_low

from discorag.ingest.convert.converted import literal, without_halves
from discorag.ingest.convert.glyphs import Box

MARK = "\x01"
"""Stands where a line of the page begins in the text of its paragraph; `joining` takes it out again."""
HYPHEN = "\x02"  # PDFium's mark of a hyphen at the end of a line; it writes no line break after it
_GAP = 1.3  # of the usual distance between lines: more is a new paragraph
_FAR = 2.5  # of the line height: more is a new paragraph where all lines are far from each other
_OTHER_SIZE = 1.2  # ratio of line heights: more is another kind of text
_INDENT = 0.8  # of the line height
_ITEM = re.compile(r"[·–*-](?:\s|$)|\d{1,3}[.)]\s|\([0-9A-Za-z]{1,3}\)\s|\[\d{1,3}\]\s")
_ENDED = re.compile(r"[.!?:。！？：][\"”’»)\]）】」』]*$")
_CJK = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_CONTROL = dict.fromkeys([*range(2), *range(3, 9), *range(11, 32), 0x7F, 0xAD])
_CLEAN = _CONTROL | {0xA0: " "} | {c: unicodedata.normalize("NFKC", chr(c)) for c in range(0xFB00, 0xFB07)}


@dataclass(frozen=True)
class Line:
    """A line of a page.

    Args:
        text: Its characters; a hyphen that splits a word at its end is `HYPHEN`.
        box: Where it is on the page, as high as its usual glyph.
        first_word: Width of its first word, in points.
        starts_row: Whether it is a row of a table, or what follows one.
        ends_row: Whether a field of a form ends it.
    """

    text: str
    box: Box
    first_word: float
    starts_row: bool = False
    ends_row: bool = False


def paragraphs(lines: list[Line]) -> list[list[Line]]:
    """The lines, grouped into paragraphs by their distances, sizes and indents."""
    drops = [a.box.bottom - b.box.bottom for a, b in pairwise(lines) if a.box.bottom > b.box.bottom]
    usual = median_low(drops) if drops else 0.0
    groups: list[list[Line]] = []
    for i, line in enumerate(lines):
        if i == 0 or _starts_paragraph(lines[i - 1], line, usual):
            groups.append([])
        groups[-1].append(line)
    return groups


def unwrap(lines: list[Line]) -> str:
    """A paragraph's text, with a `MARK` at the start of each of its lines on the page.

    A line break stays only if the next word would have fitted on the line, or an item or a table's row begins.
    """
    if not lines:
        return ""
    margins = _margins(lines)
    made = [MARK + _clean(lines[0].text)]
    for (line, following), margin in zip(pairwise(lines), margins, strict=False):
        rest = MARK + _clean(following.text)
        between = _between(made[-1], line, following, margin)
        if between == "\n":
            made.append(rest)
        else:
            made[-1] += between + rest
    return "\n".join(map(_literal, made))


def _margins(lines: list[Line]) -> Iterator[float]:
    """For each line, where the lines of its column end."""
    column = [lines[0]]
    for line, following in pairwise(lines):
        if line.box.bottom - following.box.bottom < -line.box.height:
            yield from repeat(max(one.box.right for one in column), len(column))
            column = []
        column.append(following)
    yield from repeat(max(one.box.right for one in column), len(column))


def without_marks(text: str) -> str:
    """A text without the `MARK` of each line."""
    return text.replace(MARK, "")


def _literal(line: str) -> str:
    plain = without_marks(line)
    return line if literal(plain) == plain else f"{MARK}\\{line[1:]}"


def _starts_paragraph(line: Line, following: Line, usual: float) -> bool:
    if line.text.endswith(HYPHEN):
        return False
    drop = line.box.bottom - following.box.bottom
    sizes = sorted((line.box.height, following.box.height))
    if sizes[1] > _OTHER_SIZE * sizes[0]:
        return True
    if drop < -line.box.height:  # another column, or a footer that is written first
        return following.box.left < line.box.left + line.box.height or _ENDED.search(line.text) is not None
    if drop > min(_GAP * usual, _FAR * line.box.height):
        return True
    indented = following.box.left - line.box.left > _INDENT * line.box.height
    return indented and _ENDED.search(line.text) is not None and not _ITEM.match(line.text)


def _between(text: str, line: Line, following: Line, margin: float) -> str:
    """What separates a line from the next one."""
    if line.text.endswith(HYPHEN):
        return ""
    full = line.box.right + following.first_word >= margin or line.text == "-"
    if not full or line.ends_row or following.starts_row or _ITEM.match(following.text):
        return "\n"
    return "" if _CJK.match(text[-1:]) and _CJK.match(following.text) else " "


def _clean(text: str) -> str:
    """Without control characters and ligatures; characters beyond the basic plane made whole."""
    return without_halves(text).translate(_CLEAN)
