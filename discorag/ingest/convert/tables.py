"""The model of a table that every converter fills, and how it is written as Markdown."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, takewhile
from typing import NamedTuple

from discorag.ingest.convert.converted import cell, literal

_FIGURE = re.compile(r"[^\w\s]*+\d[\d\s.,:/%°'’+\u2212-]*+[^\w\s]*+")
_DATE = re.compile(r"(?:19|20)\d\d(?:[-/.]\d\d?){0,2}")
_AMOUNT = re.compile(r"\d[\d.,]*")
_LABEL_ENDS = (":", "：")  # "Name:" has its value next to it, and names no column
_SERIES, _CLASSES = 2, 3  # figures of one form, and texts that recur, at least, that tell what stands above them
_SAMPLE = 50  # rows below the first that are compared with it
_MANY, _LONG, _MAX_KEYS = 8, 320, 3  # columns, and characters of a row, from which on a table is cut; its first columns
_SPREAD, _SMALL = 50, 10_000  # places that spans may fill, for each cell and in any table


class Cell(NamedTuple):
    """A cell of a table.

    Args:
        text: Its content, as Markdown of one paragraph.
        rows: How many rows it spans, its own included.
        columns: How many columns it spans.
        is_header: Whether the format calls it a header: of its column, its row, or the rows below it.
        is_bold: Whether all of its text is.
        tables: Tables that stand in it.
    """

    text: str
    rows: int = 1
    columns: int = 1
    is_header: bool = False
    is_bold: bool = False
    tables: tuple["Table", ...] = ()


@dataclass(frozen=True)
class Table:
    """A table as its format describes it.

    Args:
        rows: The cells that begin in each row, from the left; a place that a span covers has none.
        header_rows: How many rows at the top name the columns; None if the cells have to tell.
        group: What all its rows belong to: the title of one of several tables side by side.
        is_sheet: It comes from a sheet, whose first row names the columns by custom if it can.
    """

    rows: Sequence[Sequence[Cell]]
    header_rows: int | None = None
    group: str = ""
    is_sheet: bool = False


UNCLEAR = "table header"
"""The kind of what is not read of a table whose first row may name its columns, or be a row."""
_EMPTY = Cell("")
_Row = list[Cell]
_Block = str | list[list[str]]
"""A paragraph, or the header row and the rows of a table."""


def table_markdown(table: Table, unread: Counter[str]) -> str:
    """A table as Markdown; empty if all of its cells are. Adds to ``unread`` if nothing says what its first row is.

    A cell that spans rows or columns is repeated at each place, and several header rows become one ("Income / 2024").
    A row that is one cell stands above the table as a paragraph if nothing is above it, and below if nothing is below.
    Between rows it is repeated in front of those below it if it is a header or bold, or if all rows belong to such
    groups, else it is a row. Where the columns are named again, a new table begins. A table without column names has an
    empty header row. Tables in cells stand below, with the row and the column of the cell in front of each of their
    rows. A wide table with long rows becomes several, each with the columns at the left that name its rows.
    """
    return "\n\n".join(chain.from_iterable(map(_cut, _blocks(table, table.group, unread))))


def reads_as(table: Table, rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table is these rows, of which the first is its header, and no more."""
    return list(filter(None, _blocks(table, "", Counter()))) == [[[*row] for row in rows]]


def has_digit(text: str) -> bool:
    """Whether a text holds a figure."""
    return any(map(str.isdigit, text))


def is_data(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is plainly one like those below it, so that it cannot name the columns.

    It holds a figure alone, a date over dates, or words with a figure over the same words: "12 km" over "15 km". A year
    over other figures names a column. ``rows`` are the texts of a table.
    """
    for column, text in enumerate(rows[0]):
        if not has_digit(text):
            continue
        if not _DATE.fullmatch(text) and _FIGURE.fullmatch(text):
            return True
        below = [row[column] for row in rows[1 : 1 + _SAMPLE] if column < len(row) and row[column]]
        if 2 * sum(_shape(value) == _shape(text) for value in below) > len(below):
            return True
    return False


def _shape(text: str) -> str:
    """A text in which all dates, and all figures, are alike."""
    return "date" if _DATE.fullmatch(text) else _AMOUNT.sub("0", text)


def _blocks(table: Table, group: str, unread: Counter[str]) -> Iterator[_Block]:
    """The paragraphs and pipe tables of a table whose rows all belong to a group."""
    grid = grid_of(table.rows)
    width = max(map(len, grid), default=0)
    title = list(takewhile(lambda row: _is_one(row, width), grid[:-1]))
    rows = grid[len(title) :]
    heads = _header_rows(rows, width) if table.header_rows is None else max(0, table.header_rows - len(title))
    if heads is None:
        heads = int(table.is_sheet and _could_name(_texts(rows)))
        if not heads:
            unread[UNCLEAR] += 1
    if heads == 1 and (upper := _spread(rows)):
        rows, heads = [upper, *rows[1:]], 2
    body = rows[heads:]
    notes = list(takewhile(lambda row: _is_one(row, width) and not _names_group(row), reversed(body[1:])))[::-1]
    yield from (literal(" ".join(row[0].text.split())) for row in title)
    yield from _sections(rows[:heads], body[: len(body) - len(notes)], width, group, unread)
    yield from (literal(" ".join(row[0].text.split())) for row in notes)


def grid_of(rows: Sequence[Sequence[Cell]]) -> list[_Row]:
    """The cell at each place of each row; a cell that spans several is at all of them."""
    cells = [one for row in rows for one in row]
    if all(one.rows == one.columns == 1 for one in cells):
        return [list(row) for row in rows]
    if sum(min(one.rows, len(rows)) * one.columns for one in cells) > _SPREAD * len(cells) + _SMALL:
        return [[one._replace(rows=1, columns=1) for one in row] for row in rows]
    places: list[dict[int, Cell]] = [{} for _ in rows]
    for top, row in enumerate(rows):
        at = 0
        for one in row:
            while at in places[top]:
                at += 1
            for covered in places[top : top + one.rows]:
                for column in range(at, at + one.columns):
                    covered.setdefault(column, one)
            at += one.columns
    return [[row.get(column, _EMPTY) for column in range(1 + max(row, default=-1))] for row in places]


def _is_one(row: _Row, width: int) -> bool:
    """Whether one cell spans the whole table."""
    return len(row) == width > 1 and row[0].columns >= width


def _header_rows(rows: list[_Row], width: int) -> int | None:
    """How many rows name the columns; None if nothing tells.

    They are rows of header cells, else the first if it is bold, or of another kind than those below it, or names that
    a second row divides.
    """
    named = sum(1 for _ in takewhile(lambda row: _is_header(row) and not _is_one(row, width), rows))
    if 0 < named < len(rows):
        return named
    texts = _texts(rows)
    is_form = any(text.endswith(_LABEL_ENDS) for text in texts[0]) if texts else False
    if len(rows) < 2 or width < 2 or is_form or is_data(texts):
        return 0
    if _is_bold(rows[0]) and not all(map(_is_bold, rows)):
        return _with_rows_below(rows, width)
    labelled = not named and all(row[0].is_header or row[0].is_bold for row in rows if row)
    grouped = all(one.columns == 1 for one in rows[0]) and any(one.rows > 1 for one in rows[0])
    if labelled or grouped:
        return 0
    return _with_rows_below(rows, width) if names_columns(texts) or _spread(rows) else None


def names_columns(texts: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is certainly of another kind than the rows below it.

    It has words over figures, or nothing over the names of the rows, or in two columns words that none of the rows has,
    over words that all recur. Of two columns the second tells only if several figures of one form stand in it: "Name,
    Ash" over "Seats, 12" names nothing.
    """
    columns = [[row[i] for row in texts[: 1 + _SAMPLE] if i < len(row)] for i in range(len(texts[0]))]
    if not columns:
        return False
    first, *below = columns[0]
    if not first and all(below) and all(map(any, columns)):
        return True
    if len(columns) == 2:
        values = list(filter(None, columns[1][1:]))
        is_series = len(values) >= _SERIES and len(set(map(_shape, values))) == 1
        return _is_over_figures(columns[0]) or (is_series and _is_over_figures(columns[1]))
    return any(map(_is_over_figures, columns)) or sum(map(_is_over_classes, columns)) > 1


def _could_name(texts: Sequence[Sequence[str]]) -> bool:
    """Whether nothing speaks against a first row of three words or more that name the columns: none stands below it."""
    first, *rows = texts
    below = [{row[i] for row in rows if i < len(row)} for i in range(len(first))]
    is_free = not any(has_digit(name) or name in values for name, values in zip(first, below, strict=True))
    return is_free and len(first) > 2 and all(first) and not _has_equal(first)


def _is_over_figures(column: Sequence[str]) -> bool:
    """Whether most cells below the first hold figures, and the first holds words, or a year over other figures."""
    name, *below = column
    values = list(filter(None, below))
    if not has_digit(name):
        return bool(name) and 2 * sum(map(has_digit, values)) > len(values)
    return 2 * sum(_FIGURE.fullmatch(v) is not None and _shape(v) != _shape(name) for v in values) > len(values)


def _is_over_classes(column: Sequence[str]) -> bool:
    """Whether each text below the first stands in several cells, and the first is none of these texts."""
    name, *below = column
    counts = Counter(below)
    return len(below) >= _CLASSES and bool(name) and name not in counts and min(counts.values()) > 1


def _with_rows_below(rows: list[_Row], width: int) -> int:
    """How many rows name the columns if the first does: also those below that divide its cells."""
    heads = 1
    while heads < len(rows) - 1 and any(one.text and 1 < one.columns < width for one in rows[heads - 1]):
        row = rows[heads]
        if _is_one(row, width):
            break
        continues = row[0] is rows[heads - 1][0] or not row[0].text.strip() or _is_bold(row)
        if not continues or is_data(_texts(rows[heads : heads + 1 + _SAMPLE])):
            break
        heads += 1
    return heads


def _spread(rows: list[_Row]) -> _Row | None:
    """The header row with its names also over the empty places behind them, if the row below it names these places.

    Of the two, each place but the first has a name, and the first column only one, or else the lower row repeats some.
    The upper row leaves places empty or has a name several times. Figures begin in the first full row below.
    """
    texts = _texts(rows)
    if len(rows) < 3 or not 1 < len(texts[0]) == len(texts[1]):
        return None
    full = [row for row in texts[2:] if sum(map(bool, row)) > 1]
    if is_data(texts[1:]) or not full or not is_data(full):
        return None
    upper, lower = texts[:2]
    if not all(map(any, zip(upper[1:], lower[1:], strict=True))):
        return None
    if upper[0] and lower[0] and not _has_equal(lower):
        return None
    made: _Row = []
    for one, below in zip(rows[0], lower, strict=True):
        made.append(made[-1] if made and below and not one.text.strip() else one)
    return made if made != rows[0] or _has_equal([*filter(None, upper)]) else None


def _has_equal(texts: Collection[str]) -> bool:
    return len(set(texts)) < len(texts)


def _is_bold(row: _Row) -> bool:
    return all(one.is_bold for one in row if one.text.strip())


def _names_group(row: _Row) -> bool:
    return row[0].is_header or row[0].is_bold


def _is_header(row: _Row) -> bool:
    return any(one.is_header for one in row) and all(one.is_header for one in row if one.text.strip())


def _names(heads: list[_Row]) -> list[str]:
    """The names of the columns, each from all its header cells."""
    width = max(map(len, heads), default=0)
    return [_joined(row[i].text for row in heads if i < len(row)) for i in range(width)]


def _sections(heads: list[_Row], body: list[_Row], width: int, outer: str, unread: Counter[str]) -> Iterator[_Block]:
    """The tables that rows which name the columns again make of one."""
    names, rows = _names(heads), list[tuple[str, _Row]]()  # each with its group
    again = _named_again(body, heads, width)
    labels = _labels(body, width) | {i for i, row in enumerate(body[:-1]) if _is_label(row, width) and again[i + 1]}
    group, i = outer, 0
    while i < len(body):
        row = body[i]
        if i in labels:
            group = _joined([outer, row[0].text])
        elif again[i]:
            yield from _section(names, rows, width, unread)
            names, rows = _names(body[i : i + again[i]]), []
            group = group if i - 1 in labels else outer
            i += again[i] - 1
        elif any(one.text.strip() or one.tables for one in row):
            rows.append((group, row[:1] if _is_one(row, width) else row))
        i += 1
    yield from _section(names, rows, width, unread)


def _named_again(body: list[_Row], heads: list[_Row], width: int) -> list[int]:
    """For each row, how many rows from it on name the columns again: as before, or as headers without figures.

    Other rows stand below them.
    """
    texts, named, count = _texts(body), _texts(heads), len(heads)
    found = [0] * len(body)
    run, are_names = 0, False  # the header rows from a row on, which name nothing at the end of the table
    for i in reversed(range(len(body))):
        if _is_header(body[i]) and not _is_one(body[i], width):
            run, are_names = run + 1, are_names and sum(map(bool, texts[i])) > 1 and not is_data([texts[i]])
        else:
            run, are_names = 0, True
        is_same = 0 < count < len(body) - i and width > 1 and texts[i : i + count] == named
        found[i] = count if is_same and named != texts[i + count : i + 2 * count] else run * are_names
    return found


def _labels(body: list[_Row], width: int) -> set[int]:
    """The rows of one cell that name the groups of the rows below them.

    They span the table and are headers or bold. Or there are several, with rows below each, the first at the top; and
    all span the table, or the groups have rows in common.
    """
    alone = [i for i, row in enumerate(body) if _is_label(row, width)]
    marked = {i for i in alone if _is_one(body[i], width) and _names_group(body[i])}
    groups = [_texts(body[start + 1 : end]) for start, end in pairwise([*alone, len(body)])]
    if len(alone) < 2 or alone[0] or not all(groups):
        return marked
    are_whole = all(_is_one(body[i], width) for i in alone)
    return set(alone) if are_whole or _recur([row[0] for row in group] for group in groups) else marked


def _is_label(row: _Row, width: int) -> bool:
    """Whether only its first cell holds anything, or is the only one."""
    rest = any(one.text.strip() or one.tables for one in row[1:])
    return _is_one(row, width) or (width > 1 and bool(row) and bool(row[0].text.strip()) and not rest)


def _recur(groups: Iterable[Sequence[str]]) -> bool:
    """Whether some groups have a label in common, and none has one twice."""
    found = list(groups)
    return not any(map(_has_equal, found)) and _has_equal([label for group in found for label in group])


def _texts(rows: Iterable[_Row]) -> list[list[str]]:
    return [[one.text.strip() for one in row] for row in rows]


def _section(names: list[str], rows: list[tuple[str, _Row]], width: int, unread: Counter[str]) -> Iterator[_Block]:
    is_grouped = any(group for group, _ in rows)
    texts = _filled_down([[one.text for one in row] for _, row in rows])
    lines = [[group, *line] if is_grouped else line for (group, _), line in zip(rows, texts, strict=True)]
    if lines or any(names):
        heads = [""] * is_grouped + names
        yield [heads + [""] * (width + is_grouped - len(heads)), *lines]
    for group, row in rows:
        for i, one in enumerate(row):
            if one.tables and one not in row[:i]:
                name = _joined([group, row[0].text if i else "", names[i] if i < len(names) else ""])
                yield from (block for inner in one.tables for block in _blocks(inner, name, unread))


def _filled_down(rows: list[list[str]]) -> list[list[str]]:
    """The rows, with empty first cells filled from above if the words next to them recur from group to group.

    Exports write what groups the rows only once.
    """
    starts = [i for i, row in enumerate(rows) if row and row[0].strip()]
    if len(starts) < 2 or starts[0] or len(starts) == len(rows) or any(len(row) < 2 for row in rows):
        return rows
    groups = [[row[1].strip() for row in rows[start:end]] for start, end in pairwise([*starts, len(rows)])]
    if not all(any(map(str.isalpha, label)) for group in groups for label in group) or not _recur(groups):
        return rows
    return [[rows[start][0], *row[1:]] for start, end in pairwise([*starts, len(rows)]) for row in rows[start:end]]


def _cut(rows: _Block) -> Iterator[str]:
    """A table as one if its rows are short, or as several that repeat the first columns, up to one with words."""
    if isinstance(rows, str):
        yield from filter(None, [rows])
        return
    width = len(rows[0])
    widths = [max(len(row[i]) + 3 for row in rows if i < len(row)) for i in range(width)] if width > _MANY else []
    if sum(widths) <= _LONG:
        yield _pipe_table(rows)
        return
    words = [sum(any(map(str.isalpha, row[i])) for row in rows[1:] if i < len(row)) for i in range(_MAX_KEYS)]
    keys = next((i for i, count in enumerate(words, start=1) if 2 * count >= len(rows) - 1), 1)
    start = at = keys
    while start < width:
        length = sum(widths[:keys])
        while at < width and (at == start or length + widths[at] <= _LONG):
            length += widths[at]
            at += 1
        shown = [row for row in rows[1:] if start == keys or any(row[start:at])]
        yield _pipe_table([row[:keys] + row[start:at] for row in (rows[0], *shown)])
        start = at


def _joined(names: Iterable[str]) -> str:
    return " / ".join(dict.fromkeys(filter(None, (" ".join(name.split()) for name in names))))


def _pipe_table(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table. The first row is the header, and no row is longer."""
    lines = [f"| {' | '.join(map(cell, row))} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * len(rows[0])}", *lines[1:]])
