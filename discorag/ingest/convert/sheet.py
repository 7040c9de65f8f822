"""Sheets of cells, as CSV and XLSX have them: which tables stand side by side, and what is above and below each."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise, takewhile

from discorag.ingest.convert.converted import literal
from discorag.ingest.convert.tables import Cell, Table, has_digit, table_markdown

Row = Sequence[Cell]
_MOST = 20  # tables side by side
_APART = 2  # rows by which a table begins above or below its neighbour, at least, if nothing else tells them apart


def filled_rows(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """The rows between empty ones."""
    return (list(group) for is_filled, group in groupby(rows, _is_filled) if is_filled)


def sheet_blocks(
    rows: Sequence[Row],
    unread: Counter[str],
    cut: Callable[[Sequence[Row]], Iterable[Sequence[Row]]] = filled_rows,
) -> Iterator[str]:
    """The tables of a sheet as Markdown, with paragraphs for rows of one cell above and below each.

    ``rows`` may end early, and are not filled up: one long row would make a large sheet of a small file. A cell that is
    at several places, as the same object, spans them. ``cut`` finds the tables that stand one below the other. Of those
    side by side a title stands in front of each row.
    """
    for title, part in _side_by_side(rows):
        for table in cut(part):
            for name, one in _side_by_side(table):
                yield from _blocks([row for row in one if _is_filled(row)], name or title, unread)


def _blocks(rows: Sequence[Row], group: str, unread: Counter[str]) -> Iterator[str]:
    above = list(takewhile(_is_alone, rows))
    below = list(takewhile(_is_note, reversed(rows[len(above) :])))[::-1]
    yield from map(_line, above)
    table = rows[len(above) : len(rows) - len(below)]
    if group and not table:
        yield literal(group)
    if table:
        columns = _filled_columns(table)
        cells = [[row[i] for i in columns[: bisect_left(columns, len(row))]] for row in table]
        yield table_markdown(Table(_spanning(cells), group=group, is_sheet=True), unread)
    yield from map(_line, below)


def _side_by_side(rows: Sequence[Row]) -> Iterator[tuple[str, Sequence[Row]]]:
    """The parts of a sheet that stand side by side, each with its title; all rows if there is one."""
    top = sum(1 for _ in takewhile(lambda row: _is_alone(row) or not _is_filled(row), rows))
    starts = _starts(rows[top:])
    if len(starts) < 2:
        yield "", rows
        return
    yield from (("", [row]) for row in rows[:top] if _is_filled(row))
    for start, end in pairwise([*starts, max(map(len, rows))]):
        part = [row[start:end] for row in rows[top:]]
        part = part[_first_filled(part) :]
        title = _line(part[0]) if _is_alone(part[0]) else ""
        yield title, part[bool(title) :]


def _starts(rows: Sequence[Row]) -> list[int]:
    """The columns at which tables begin: behind empty ones."""
    filled = _filled_columns([row for row in rows if not _is_alone(row)])
    runs = [column for i, column in enumerate(filled) if i == 0 or filled[i - 1] < column - 1]
    found = runs[:1]
    for start, end in pairwise([*runs, filled[-1] + 1] if 1 < len(runs) <= _MOST else []):
        if start > found[-1] and _are_apart([r[found[-1] : start] for r in rows], [r[start:end] for r in rows]):
            found.append(start)
    return found


def _are_apart(left: Sequence[Row], right: Sequence[Row]) -> bool:
    """Whether two groups of columns are two tables: they begin or end in other rows, or name their rows alike.

    Columns of equal height with an empty one between them are one table.
    """
    if min(len(_filled_columns(part)) for part in (left, right)) < 2:
        return False
    if abs(_first_filled(left) - _first_filled(right)) >= _APART:
        return True
    own, other = _first_texts(left), _first_texts(right)
    labels = list(filter(None, other[1:]))
    has_labels = bool(labels) and len({*labels}) == len(labels) and not any(map(has_digit, labels))
    return (has_labels and _filled(left) != _filled(right)) or (own[0] == other[0] != "")


def _first_texts(rows: Iterable[Row]) -> list[str]:
    """The texts in the first column of a table, from its first row of several cells on."""
    shown = [row for row in rows if _is_filled(row)]
    return [row[0].text for row in shown[sum(1 for _ in takewhile(_is_alone, shown)) :]] or [""]


def _filled(rows: Sequence[Row]) -> list[int]:
    return [i for i, row in enumerate(rows) if _is_filled(row)]


def _first_filled(rows: Sequence[Row]) -> int:
    return next((i for i, row in enumerate(rows) if _is_filled(row)), 0)


def _filled_columns(rows: Iterable[Row]) -> list[int]:
    return sorted({i for row in rows for i, cell in enumerate(row) if cell.text})


def _is_filled(cells: Iterable[Cell]) -> bool:
    return any(cell.text for cell in cells)


def _is_alone(row: Row) -> bool:
    return len({id(cell) for cell in row if cell.text}) == 1


def _is_note(row: Row) -> bool:
    """Whether a row below a table is a note on it; a single word or figure is a row whose other cells are empty."""
    return _is_alone(row) and " " in _line(row)


def _line(row: Row) -> str:
    return literal(" ".join(next(cell.text for cell in row if cell.text).split()))


def _spanning(rows: Sequence[Row]) -> Sequence[Row]:
    """The cells that begin in each row, with the rows and columns that each takes."""
    places = Counter(id(cell) for row in rows for cell in row)
    if len(places) == sum(map(len, rows)):
        return rows
    seen, found = set[int](), list[list[Cell]]()
    for top, row in enumerate(rows):
        begun: list[Cell] = []
        for left, cell in enumerate(row):
            if id(cell) in seen:
                continue
            seen.add(id(cell))
            if places[id(cell)] > 1:
                down = sum(1 for _ in takewhile(lambda other, i=left, one=cell: other[i] is one, rows[top:]))
                right = sum(1 for _ in takewhile(lambda other, one=cell: other is one, row[left:]))
                begun.append(cell._replace(rows=down, columns=right))
            else:
                begun.append(cell)
        found.append(begun)
    return found
