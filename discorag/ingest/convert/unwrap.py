"""Lines of a page joined into paragraphs: wrapped lines are joined, the author's own line breaks stay."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_low

from discorag.ingest.convert.converted import literal, without_halves

HYPHEN = "\x02"  # PDFium's mark of a hyphen at the end of a line; it writes no line break after it
_GAP = 1.3  # of the usual distance between lines: more is a new paragraph
_OTHER_SIZE = 1.2  # ratio of line heights: more is another kind of text
_INDENT = 0.8  # of the line height
_EDGE, _RUN = 2, 3  # blocks at either end of a page that may be running lines; pages that make them so
_MAX_RUNNING = 200  # characters
_NUMBER = re.compile(r"(?<!\d)\d{1,4}(?!\d)")
_ITEM = re.compile(r"[•●▪◦‣·–*-]\s|\d{1,3}[.)]\s|\([0-9A-Za-z]{1,3}\)\s|\[\d{1,3}\]\s")
_ENDED = re.compile(r"[.!?:。！？：][\"”’»)\]）】」』]*$")
_CJK = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_COMPOUND = re.compile(r"\b\w+-\w+")  # \b: from the start of a word only, else a long one takes quadratic time
_SPLIT = re.compile(rf"(?:\b(\w+))?{HYPHEN}(\w*)")
_CONTROL = dict.fromkeys([*range(2), *range(3, 9), *range(11, 32), 0x7F, 0xAD])
_CLEAN = _CONTROL | {0xA0: " "} | {c: unicodedata.normalize("NFKC", chr(c)) for c in range(0xFB00, 0xFB07)}


@dataclass(frozen=True)
class Line:
    """A line of a page. Lengths are in points, ``bottom`` and ``top`` from the foot of the page.

    Args:
        text: Its characters; a hyphen that splits a word at its end is `HYPHEN`.
        left: Where its first glyph begins.
        right: Where its last glyph ends.
        bottom: Foot of its usual glyph.
        top: Top of its usual glyph.
        first_word: Width of its first word.
    """

    text: str
    left: float
    right: float
    bottom: float
    top: float
    first_word: float

    @property
    def height(self) -> float:
        """The distance from bottom to top."""
        return self.top - self.bottom


def paragraphs(lines: list[Line]) -> list[list[Line]]:
    """The lines, grouped into paragraphs by their distances, sizes and indents."""
    drops = [a.bottom - b.bottom for a, b in pairwise(lines) if a.bottom > b.bottom]
    usual = median_low(drops) if drops else 0.0
    groups: list[list[Line]] = []
    for i, line in enumerate(lines):
        if i == 0 or _starts_paragraph(lines[i - 1], line, usual):
            groups.append([])
        groups[-1].append(line)
    return groups


def unwrap(lines: list[Line]) -> str:
    """A paragraph's text; a line break stays only if the next word would have fitted on the line, or an item begins."""
    if not lines:
        return ""
    margin = max(line.right for line in lines)
    text = _clean(lines[0].text)
    for line, following in pairwise(lines):
        text = _join(text, _clean(following.text), line, following, margin)
    return literal(text)


def join_pages(pages: list[str]) -> tuple[str, tuple[int, ...]]:
    """The document's text, and where each page starts in it.

    Words that were split at the end of a line are joined, with their hyphen if the document writes them with one
    elsewhere. A sentence that continues on the next page is not broken by a blank line.
    """
    compounds = {word.lower() for page in pages for word in _COMPOUND.findall(page)}
    text = ""
    starts: list[int] = []
    for page in pages:
        whole = _SPLIT.sub(lambda m: _whole(m[1] or "", m[2], compounds), page)
        text += _between(text, whole)
        starts.append(len(text))
        text += whole
    return text, tuple(starts)


def without_running_lines(pages: list[str]) -> list[str]:
    """Pages without headers and footers that repeat those of earlier pages, apart from the page numbers in them.

    Such a line is on at least three pages, each at most two pages after the one before.
    """
    blocks = [page.split("\n\n") for page in pages]
    places: dict[str, list[int]] = defaultdict(list)
    for number, page in enumerate(blocks):
        for key in {key for block in {*page[:_EDGE], *page[-_EDGE:]} for key in _keys(block, number)}:
            places[key].append(number)
    repeats = {(key, number) for key, numbers in places.items() for number in _repeats(numbers)}

    def is_text(number: int, at: int) -> bool:
        is_edge = at < _EDGE or at >= len(blocks[number]) - _EDGE
        return not is_edge or all((key, number) not in repeats for key in _keys(blocks[number][at], number))

    return ["\n\n".join(b for i, b in enumerate(page) if is_text(number, i)) for number, page in enumerate(blocks)]


def _keys(block: str, page: int) -> Iterator[str]:
    """What a running line has in common on all pages: all of it, or all but one number, which counts the pages."""
    if len(block) > _MAX_RUNNING:
        return
    yield block
    for found in _NUMBER.finditer(block):
        yield f"{block[: found.start()]}{int(found[0]) - page}\n{block[found.end() :]}"


def _repeats(pages: list[int]) -> Iterator[int]:
    """The pages, given in order, that continue a run of three or more."""
    start = 0
    for end in range(1, len(pages) + 1):
        if end == len(pages) or pages[end] - pages[end - 1] > _EDGE:
            if end - start >= _RUN:
                yield from pages[start + 1 : end]
            start = end


def _whole(left: str, right: str, compounds: set[str]) -> str:
    """The word of two halves; the hyphen stays before a capital or a digit, or if the word has it elsewhere."""
    own = not right[:1].islower() or f"{left}-{right}".lower() in compounds
    return f"{left}-{right}" if own else left + right


def _starts_paragraph(line: Line, following: Line, usual: float) -> bool:
    if line.text.endswith(HYPHEN):
        return False
    drop = line.bottom - following.bottom
    if drop < -line.height:  # another column
        return _ENDED.search(line.text) is not None
    sizes = sorted((line.height, following.height))
    if drop > _GAP * usual or sizes[1] > _OTHER_SIZE * sizes[0]:
        return True
    indented = following.left - line.left > _INDENT * line.height
    return indented and _ENDED.search(line.text) is not None and not _ITEM.match(line.text)


def _join(text: str, rest: str, line: Line, following: Line, margin: float) -> str:
    if line.text.endswith(HYPHEN):
        return text + rest
    full = line.right + following.first_word >= margin
    if not full or _ITEM.match(rest):
        return f"{text}\n{rest}"
    return text + rest if _CJK.match(text[-1:]) and _CJK.match(rest) else f"{text} {rest}"


def _between(text: str, page: str) -> str:
    if not text or not page:
        return ""
    return "\n" if page[0].islower() and (text[-1].isalpha() or text[-1] == ",") else "\n\n"


def _clean(text: str) -> str:
    """Without control characters and ligatures; characters beyond the basic plane made whole."""
    return without_halves(text).translate(_CLEAN)
