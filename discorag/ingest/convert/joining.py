"""The pages of a PDF as one text: without running lines, tables and sentences joined where they go on."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import ceil, floor
from statistics import median
from typing import NamedTuple

from discorag.ingest.convert.converted import cell
from discorag.ingest.convert.glyphs import Box
from discorag.ingest.convert.page import PageTable, Paragraph, Part
from discorag.ingest.convert.tables import Cell, Table, grid_of, has_digit, is_data, table_markdown
from discorag.ingest.convert.unwrap import HYPHEN, MARK, without_marks
from discorag.schema.values import PageLine

_EDGE = 2  # parts at either end of a page that may be running lines; pages from one to the next, at most
_RUN, _OF_TWO = 3, 2  # pages with the same line that make it a running line; and in a file of two pages
_MAX_RUNNING = 200  # characters of a running line
_LARGE = 1.05  # of the height of the text: what is larger is a title, where only two pages or a number tell
_NUMBER = re.compile(r"(?<!\d)\d{1,4}(?!\d)")
_PAGE = r"\b(?:page|pp?|pg|of|seite|s|von|p[aá]gina|p[aá]g|de|di|sur|strona|z|стр|страница|из)\b|[第共页頁]"
_PAGE_NUMBER = re.compile(rf"(?:[\W\d]|{_PAGE})*", re.IGNORECASE)
_SAYS_MORE = "\0"  # begins the key of a line that holds more than the number of its page
_COMPOUND = re.compile(r"\b\w+-\w+")  # \b: from the start of a word only, else a long one takes quadratic time
_WORD = re.compile(r"[^\W\d_]+")
_SPLIT = re.compile(rf"(?:\b(\w+))?{HYPHEN}({MARK}?)(\w*)")
_SAME_EDGE = 2.0  # points


@dataclass(frozen=True)
class Joined:
    """A document's text, where each page starts in it, its lines, and how many of each kind of thing it does not hold.

    These are numbered running lines and headers of tables.
    """

    text: str
    starts: tuple[int, ...]
    lines: tuple[PageLine, ...]
    unread: Counter[str]


class _Placed(NamedTuple):
    """Text with a `MARK` for each of its lines, and the pages and boxes of these."""

    text: str
    places: list[tuple[int, Box]]


def join_pages(pages: Sequence[Sequence[Part]]) -> Joined:
    """The document's text.

    Words that were split at the end of a line are joined, with their hyphen if the document speaks for it. A sentence
    that continues on the next page is not broken by a blank line. A table that continues there is one table.
    """
    kept, numbered = _without_running_lines(pages)
    unread = Counter({"numbered running line": numbered})
    placed = _with_joined_tables(kept, unread)
    texts = ["\n\n".join(part.text for part in page) for page in placed]
    places = [place for page in placed for part in page for place in part.places]
    unsplit = [_SPLIT.sub(" ", text).lower() for text in texts]
    compounds = {word for text in unsplit for word in _COMPOUND.findall(text)}
    words = {word for text in unsplit for word in _WORD.findall(text)}
    marked = ""
    for text in texts:
        whole = _SPLIT.sub(lambda m: _whole(m[1] or "", m[2], m[3], compounds, words), text)
        marked += _between(without_marks(marked[-2:]), whole) + whole
    text, lines = _located(marked, places)
    return Joined(text, _starts(text, lines, len(pages)), tuple(lines), unread)


def _without_running_lines(pages: Sequence[Sequence[Part]]) -> tuple[list[list[Part]], int]:
    """Pages without headers and footers that repeat those of earlier pages, apart from the page numbers in them.

    Such a line is on at least three pages, each at most two pages after the one before; one with a number that changes
    is not larger than the text. In a file of two pages it is in the same place of both, above or below all else, not
    larger than the text, and only the number of a page may change. Also returns how many lines hold more than a page
    number, as "Lot 7" does, and are left out on later pages.
    """
    of_two = len(pages) == _OF_TWO
    usual = median([part.height for page in pages for part in page if isinstance(part, Paragraph)] or [0.0])
    places: dict[str, list[int]] = defaultdict(list)
    keys = [[set(_keys(part, n, usual, of_two=of_two)) for part in page] for n, page in enumerate(pages)]
    for number, page in enumerate(keys):
        for key in {key for part in (*page[:_EDGE], *page[-_EDGE:]) for key in part}:
            places[key].append(number)
    least = _OF_TWO if of_two else _RUN
    repeats = {(key, number) for key, numbers in places.items() for number in _repeats(numbers, least)}

    def repeated(number: int, at: int) -> set[str]:
        is_edge = at < _EDGE or at >= len(pages[number]) - _EDGE
        return {key for key in keys[number][at] if (key, number) in repeats} if is_edge else set()

    found = [[repeated(n, i) for i in range(len(page))] for n, page in enumerate(pages)]
    if of_two:
        found = [_outermost(page, one) for page, one in zip(pages, found, strict=True)]
    numbered = {min(one) for page in found for one in page if one and all(key.startswith(_SAYS_MORE) for key in one)}
    kept = [[part for part, one in zip(*both, strict=True) if not one] for both in zip(pages, found, strict=True)]
    return kept, len(numbered)


def _outermost(page: Sequence[Part], repeated: Sequence[set[str]]) -> list[set[str]]:
    """The repeated keys of each part, if the part is above or below all parts that do not repeat."""
    rest = [box for part, keys in zip(page, repeated, strict=True) if not keys for box in part.boxes]
    top, bottom = max((box.top for box in rest), default=0.0), min((box.bottom for box in rest), default=0.0)
    return [
        keys if part.boxes[-1].bottom >= top or part.boxes[0].top <= bottom else set()
        for part, keys in zip(page, repeated, strict=True)
    ]


def _keys(part: Part, page: int, usual: float, *, of_two: bool) -> Iterator[str]:
    """What a running line has in common on all pages: all of it, or all but one number, which counts the pages.

    In a file of two pages it also has its place in common. ``usual`` is the height of the text.
    """
    text = without_marks(part.text if isinstance(part, Paragraph) else table_markdown(Table(part.rows), Counter()))
    is_large = isinstance(part, Paragraph) and part.height > _LARGE * usual
    if len(text) > _MAX_RUNNING or (of_two and is_large):
        return
    place = f"{round(part.boxes[0].bottom)}\n" if of_two else ""
    yield place + text
    is_count = _PAGE_NUMBER.fullmatch(text) is not None
    if is_count or not (of_two or is_large):
        for found in _NUMBER.finditer(text):
            kind = "" if is_count else _SAYS_MORE
            yield f"{kind}{place}{text[: found.start()]}{int(found[0]) - page}\n{text[found.end() :]}"


def _repeats(pages: list[int], least: int) -> Iterator[int]:
    """The pages that continue a run of at least ``least`` pages; ``pages`` are in order."""
    start = 0
    for end in range(1, len(pages) + 1):
        if end == len(pages) or pages[end] - pages[end - 1] > _EDGE:
            if end - start >= least:
                yield from pages[start + 1 : end]
            start = end


def _with_joined_tables(pages: Sequence[Sequence[Part]], unread: Counter[str]) -> list[list[_Placed]]:
    """The parts as text. A table at the end of a page goes on with one of the same columns that begins the next."""
    joined: list[tuple[int, Part, list[tuple[int, Box]]]] = []  # each part, where it begins, and its boxes
    for number, page in enumerate(pages):
        for at, part in enumerate(page):
            before = joined[-1][1] if joined and at == 0 else None
            if isinstance(before, PageTable) and isinstance(part, PageTable) and _goes_on(before, part):
                start, _, places = joined.pop()
                rows, boxes = _without_names(before, part)
                whole = replace(before, rows=before.rows + rows, plain=None)
                joined.append((start, whole, places + [(number, box) for box in boxes]))
            else:
                joined.append((number, part, [(number, box) for box in part.boxes]))
    made: list[list[_Placed]] = [[] for _ in pages]
    for start, part, places in joined:
        if isinstance(part, Paragraph):
            made[start].append(_Placed(part.text, places))
        elif part.plain is None:
            made[start].append(_placed_table(part.rows, places, unread))
        else:
            made[start] += [_Placed(one.text, [(start, box) for box in one.boxes]) for one in part.plain]
    return made


def _goes_on(table: PageTable, following: PageTable) -> bool:
    """Whether the columns of two tables agree, and the second does not name others."""
    edges = zip_longest(table.edges, following.edges, fillvalue=-_SAME_EDGE)
    if any(abs(a - b) > _SAME_EDGE for a, b in edges):
        return False
    return _texts(table.rows[:1]) == _texts(following.rows[:1]) or not _names_columns(table, following)


def _names_columns(table: PageTable, following: PageTable) -> bool:
    """Whether the first row of the second table has words where the first table has figures."""
    below, first = _texts(table.rows[1:]), _texts(following.rows[:1])[0]
    for column, text in enumerate(first):
        values = [row[column] for row in below if column < len(row) and row[column]]
        if text and not has_digit(text) and values and all(map(has_digit, values)):
            return True
    return False


def _without_names(table: PageTable, following: PageTable) -> tuple[list[list[Cell]], list[Box]]:
    """The rows of the second table behind those that repeat the first rows of the first."""
    old, new = _texts(table.rows), _texts(following.rows)
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same] and not is_data([old[same]]):
        same += 1
    return _with_rests(table.rows, following.rows[same:]), following.boxes[same:]


def _with_rests(above: list[list[Cell]], rows: list[list[Cell]]) -> list[list[Cell]]:
    """The rows; an empty cell over several at the top is the rest of the cell over several that ends the page above."""
    last, at = grid_of(above)[-1], 0
    first: list[Cell] = []
    for one in rows[0] if rows else ():
        goes_on = not one.text and one.rows > 1 and at < len(last) and last[at].rows > 1
        first.append(one._replace(text=last[at].text) if goes_on else one)
        at += one.columns
    return [first, *rows[1:]] if rows else []


def _texts(rows: Iterable[Sequence[Cell]]) -> list[list[str]]:
    return [[one.text for one in row] for row in rows]


def _placed_table(rows: list[list[Cell]], places: list[tuple[int, Box]], unread: Counter[str]) -> _Placed:
    """A table as Markdown, with a `MARK` where a line is that of a row."""
    lines, found = list[str](), list[tuple[int, Box]]()
    at = 0
    texts = [[cell(one.text) for one in row if one.text] for row in rows]
    for line in table_markdown(Table(rows), unread).split("\n"):
        least = min(2, sum(bool(text.strip()) for text in line.split("|")))  # a row of one cell may only name a group
        row = next((i for i in range(at, len(rows)) if len(texts[i]) >= least and all(map(line.count, texts[i]))), None)
        if lines and (row is None or line.startswith("| ---")):
            lines.append(line)
            continue
        at = row or 0
        lines.append(MARK + line)
        found.append(places[at])
    return _Placed("\n".join(lines), found)


def _whole(left: str, mark: str, right: str, compounds: set[str], words: set[str]) -> str:
    """The word of two halves. The hyphen stays before a capital or a digit, or if the document speaks for it.

    The document does if it has the word with a hyphen elsewhere, or both halves as words, but not the word without a
    hyphen.
    """
    first, second = left.lower(), right.lower()
    are_words = first in words and second in words and first + second not in words
    own = not right[:1].islower() or f"{first}-{second}" in compounds or are_words
    return f"{left}-{mark}{right}" if own else left + mark + right


def _between(text: str, page: str) -> str:
    first = without_marks(page[:2])
    if not text or not first:
        return ""
    return "\n" if first[0].islower() and (text[-1].isalpha() or text[-1] == ",") else "\n\n"


def _located(marked: str, places: Sequence[tuple[int, Box]]) -> tuple[str, list[PageLine]]:
    """The text without its marks, and its lines."""
    before, *pieces = marked.split(MARK)
    at, lines = len(before), list[PageLine]()
    for piece, (page, box) in zip(pieces, places, strict=True):
        lines.append(PageLine(at, page + 1, floor(box.left), floor(box.bottom), ceil(box.right), ceil(box.top)))
        at += len(piece)
    return before + "".join(pieces), lines


def _starts(text: str, lines: Sequence[PageLine], pages: int) -> tuple[int, ...]:
    """Where each page starts; one without lines starts where the text before the next one ends."""
    first = {line.page: line.start for line in reversed(lines)}
    starts, following = list[int](), len(text)
    for page in reversed(range(pages)):
        following = first.get(page + 1, len(text[:following].rstrip()))
        starts.append(following)
    return tuple(reversed(starts))
