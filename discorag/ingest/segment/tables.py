"""Tables in text: bars, tabs, commas, or columns that align over several lines; and the cells of a row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MIN_ROWS = 3  # lines in a row that must align before they are a table, unless bars say so
_MIN_RIVER = 2  # characters that stay white over all lines between two columns
_WIDE_GAP = 4  # ... and that at least one line must have there: justified prose has none so wide
_MANY_ROWS = 20  # lines that align by more than chance, however narrow the gaps
_MAX_LABELS = 2
_GAP = re.compile(r"(?<![.!?:])\s{2,}|(?<=[.!?:])\s{3,}")
_COLUMN = re.compile(r"\s{2,}|\t")
_BAR = re.compile(r"(?<!\\)\|")
_DELIMITERS = (re.compile(r"\t"), re.compile(r",(?! )"), re.compile(r";(?! )"))
_JUSTIFIED = re.compile(r" [ \t]|\t ")  # what `col -b` makes of the columns of a manual page
_TIMED = re.compile(r"\[?\d{2,4}[-/:.]\d{2}[-/:.]\d{2,4}[^\s]*")
KEYED = re.compile(r"[^\W_][\w.-]*(?: [\w.-]+){0,2} ?[:：]\s*\S")
_YEAR = re.compile(r"(?:19|20)\d\d")
_CURRENCY = re.compile(r"[$€£¥]")
_CLOSING = re.compile(r"[)%]+")


@dataclass(frozen=True)
class Table:
    """Lines ``rows`` of a text that are a table; those among them that name its columns are ``headers``.

    Example:
        >>> from discorag.ingest.segment.tables import tables
        >>> tables(["Name     Height", "Ada         170", "Grace       166"], [0, 0, 0])
        [Table(rows=range(0, 3), headers=frozenset({0}))]
    """

    rows: range
    headers: frozenset[int] = frozenset()


def tables(texts: Sequence[str], indents: Sequence[int], *, keyed: bool = True) -> list[Table]:
    """The tables among lines, in order.

    Args:
        texts: Lines without white space around them.
        indents: White space before each.
        keyed: Whether lines like ``Licence: MIT`` count; in a dialogue they are its turns.
    """
    found: list[Table] = []
    at = 0
    while at < len(texts):
        each = _like(texts, at, _TIMED), _like(texts, at, KEYED) if keyed else at
        end = max(_barred(texts, at), _delimited(texts, at), _aligned(texts, indents, at), *each)
        if end > at:
            rows = range(at, end)
            inside = texts[at:end]
            top = _top(inside, indents[at:end])
            found.append(Table(rows, frozenset(at + i for i in (*range(top), *_lower(inside, indents[at:end], top)))))
        at = max(end, at + 1)
    return found


def cells(row: str) -> list[str]:
    """The cells of a row, by whatever sets them apart; empty ones stay between bars and other delimiters."""
    if row.startswith("|") or row.endswith("|"):
        return [cell.strip() for cell in _BAR.split(row.strip().removeprefix("|").removesuffix("|"))]
    delimited = max(_DELIMITERS, key=lambda d: len(d.findall(row)))
    if not _GAP.search(row.replace("\t", " ")) and delimited.search(row):
        return [cell.strip().strip('"') for cell in delimited.split(row)]
    return _whole_amounts([cell for cell in _COLUMN.split(row.strip()) if cell])


def _whole_amounts(parts: Sequence[str]) -> list[str]:
    """Cells with the currency before and the bracket behind an amount, which columns often set apart, put to it."""
    joined: list[str] = []
    for part in parts:
        if joined and (_CURRENCY.fullmatch(joined[-1]) or _CLOSING.fullmatch(part)):
            joined[-1] += part
        else:
            joined.append(part)
    return joined


def _barred(texts: Sequence[str], at: int) -> int:
    end = at
    while end < len(texts) and texts[end].startswith("|") and texts[end].count("|") > 1:
        end += 1
    return end


def _delimited(texts: Sequence[str], at: int) -> int:
    """End of the lines that have as many tabs, or two or more commas or semicolons, as the first."""
    best = at
    for delimiter, least in zip(_DELIMITERS, (1, 2, 2), strict=True):
        count, end = _count(delimiter, texts[at]), at
        while count >= least and end < len(texts) and _count(delimiter, texts[end]) == count:
            end += 1
        best = max(best, end)
    return best if best - at >= MIN_ROWS else at


def _count(delimiter: re.Pattern[str], text: str) -> int:
    """How many delimiters a line has; tabs among other white space only align."""
    return 0 if "\t" in text and _JUSTIFIED.search(text) else len(delimiter.findall(text))


def _like(texts: Sequence[str], at: int, opening: re.Pattern[str]) -> int:
    """End of the lines that all open so."""
    end = at
    while end < len(texts) and opening.match(texts[end]):
        end += 1
    return end if end - at >= MIN_ROWS else at


def _aligned(texts: Sequence[str], indents: Sequence[int], at: int) -> int:
    """End of the lines over which white columns ("rivers") run; between them may be labels ("Assets:")."""
    rivers: list[tuple[int, int]] = []
    rows: list[Sequence[tuple[int, int]]] = []
    end = at
    for i in range(at, len(texts)):
        gaps = [(m.start() + indents[i], m.end() + indents[i]) for m in _GAP.finditer(texts[i])]
        if rows and not gaps and i - end < _MAX_LABELS and indents[i] + len(texts[i]) < rivers[-1][0]:
            continue
        before = [(0, indents[i]), *gaps]  # a header row may have nothing over the first column
        rivers = list(_meet(rivers, before)) if rows else before
        if not any(_meet(rivers, gaps)):
            break
        end = i + 1
        rows.append(gaps)
    return end if any(_is_column(list(filter(None, (_over_river(r, gaps) for gaps in rows)))) for r in rivers) else at


def _over_river(river: tuple[int, int], gaps: Sequence[tuple[int, int]]) -> int:
    """Width of a line's gap at a river; 0 if its text begins behind it or runs over it."""
    return next((end - start for start, end in gaps if start <= river[0] and river[1] <= end), 0)


def _is_column(widths: Sequence[int]) -> bool:
    """Whether the gaps of lines at one place set columns apart, and not words of justified prose."""
    return bool(widths) and len(widths) >= (MIN_ROWS if max(widths) >= _WIDE_GAP else _MANY_ROWS)


def _meet(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """What two sequences of intervals, each in order, have in common, where that is wide enough."""
    i = j = 0
    while i < len(a) and j < len(b):
        low, high = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if high - low >= _MIN_RIVER:
            yield low, high
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1


def _top(texts: Sequence[str], indents: Sequence[int]) -> int:
    """How many lines at the top name the columns."""
    if texts[0].startswith("|"):
        return _over_rule(texts) or _wordy(texts)
    if _TIMED.match(texts[0]) or KEYED.match(texts[0]):
        return 0
    blank = next((i for i, indent in enumerate(indents) if indent <= min(indents) + _WIDE_GAP), 0)
    return blank or _wordy(texts)


def _lower(texts: Sequence[str], indents: Sequence[int], top: int) -> Iterator[int]:
    """Rows further down that name the columns again: words only, and nothing over the first column."""
    for i in range(top + 1, len(texts) - 1):
        is_blank = indents[i] > min(indents) + _WIDE_GAP or not cells(texts[i])[0]
        if is_blank and not any(map(str.isdigit, texts[i])) and any(map(str.isalpha, texts[i])):
            yield i


def _over_rule(texts: Sequence[str]) -> int:
    """How many rows stand above a first row of dashes."""
    return next((i for i, text in enumerate(texts[:4]) if not any(map(str.isalnum, text))), 0)


def _wordy(texts: Sequence[str]) -> int:
    """1 if the first row has words or years where rows below it have figures, else 0."""
    first = cells(texts[0])[1:]
    figures = sum(any(map(str.isdigit, "".join(cells(t)[1:]))) for t in texts[1:])
    named = all(_YEAR.fullmatch(c) or not any(map(str.isdigit, c)) for c in first)
    return int(bool(first) and named and 2 * figures >= len(texts) - 1)
