"""Delimited text (CSV, TSV) to Markdown."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice, takewhile
from pathlib import Path

from discorag.ingest.convert.converted import Converted, literal
from discorag.ingest.convert.encoding import decode_text
from discorag.ingest.convert.sheet import Row, filled_rows, sheet_blocks
from discorag.ingest.convert.tables import Cell, has_digit, names_columns
from discorag.schema.errors import DecodingError

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 100  # rows that are looked at to find the delimiter
_PREAMBLE = 20  # rows above a table at most, the last of them empty, if some hold more than one cell
_FIRST = 20  # rows of a table that tell whether others below an empty row belong to it
_SEPARATOR = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)  # Excel's first line


def from_delimited(data: bytes, path: Path) -> Converted:
    """The tables as pipe tables, below the lines that stand above them. Empty rows are left out.

    The first row names the columns if it is certainly of another kind than the others (`names_columns`). Above the
    table may be comments (``#``), titles of one cell, and lines with fewer cells than the table that an empty row
    closes. Below an empty row, or behind an empty column, another table may begin. The delimiter of ``.tsv`` is a tab;
    else what Excel's ``sep=`` says, or the one of comma, semicolon, tab and bar by which most of the first rows have
    equally many cells.

    Raises:
        DecodingError: It is not text, quotation marks are not closed or stand before other text, or a cell is longer
            than 131,072 characters.
    """
    file = decode_text(data, path)
    stated = _SEPARATOR.match(file.text)
    text = file.text[stated.end() if stated else 0 :]
    named = "\t" if path.suffix.lower() == ".tsv" else stated and stated[1]
    delimiter = named or max(_DELIMITERS, key=lambda delimiter: _regular(text, delimiter))
    comments = _comments(text, delimiter)
    first = sum(map(len, comments)) + len(comments)
    skipped = len(comments) + bool(stated)
    rows = [[cell.strip() for cell in row] for row in _rows(text[first:], delimiter, path, skipped)]
    above = _above(rows)
    lines = [*(line.lstrip("# \t") for line in comments), *(" ".join(filter(None, row)) for row in rows[:above])]
    unread = Counter[str]()
    blocks = [*map(literal, lines), *sheet_blocks([list(map(Cell, row)) for row in rows[above:]], unread, _tables)]
    return Converted("\n\n".join(filter(None, blocks)), title=path.stem, metadata=file.metadata, unread=unread)


def _tables(rows: Sequence[Row]) -> list[list[Row]]:
    """The tables among rows, each with its titles, without empty rows.

    A table goes on below an empty row with the same names, or with figures in all columns of figures.
    """
    found: list[list[Row]] = []
    for part in filled_rows(rows):
        below = _texts(part[_titles(_texts(part)) :])
        if found and below and _goes_on(_texts(found[-1][:_FIRST]), below):
            found[-1] += part
        else:
            found.append(part)
    return found


def _goes_on(texts: list[list[str]], rows: list[list[str]]) -> bool:
    """Whether rows below an empty one belong to the table above it."""
    table, row = texts[_titles(texts) :], rows[0]
    if len(table) < 2:
        return names_columns([*table, *rows]) if table else False
    if not names_columns(table):
        return False
    below = [[line[i] for line in table[1:] if i < len(line) and line[i]] for i in range(len(row))]
    figures = [bool(values) and all(map(has_digit, values)) for values in below]
    fits = all(has_digit(text) == is_figure for text, is_figure in zip(row, figures, strict=True) if text)
    within = all(values or not text for text, values in zip(row, below, strict=True))
    return row == table[0] or (within and fits and any(map(has_digit, row)))


def _texts(rows: Iterable[Row]) -> list[list[str]]:
    return [[cell.text for cell in row] for row in rows]


def _titles(rows: Iterable[Sequence[str]]) -> int:
    """How many rows of one cell stand above the others."""
    return sum(1 for _ in takewhile(lambda row: sum(map(bool, row)) < 2, rows))


def _comments(text: str, delimiter: str) -> list[str]:
    """The lines at the top that begin with ``#`` and have not as many cells as the line below them."""
    lines = text.split("\n")
    found = list(takewhile(lambda line: line.startswith("#"), lines))
    if found and len(found) < len(lines) and 0 < found[-1].count(delimiter) == lines[len(found)].count(delimiter):
        found.pop()
    return found


def _above(rows: Sequence[Sequence[str]]) -> int:
    """How many rows stand above the table."""
    filled = [sum(map(bool, row)) for row in rows]
    widths = Counter(len(row) for row in rows[:_SAMPLE] if any(row))
    if not widths or widths.most_common(1)[0][0] < 2:
        return 0
    titles = above = _titles(rows)
    for i in range(above, min(_PREAMBLE, len(rows) - 1)):
        most = max(filled[:i], default=0)
        if not filled[i] and filled[i + 1] > most and not (most > 2 and names_columns(rows[titles:i])):
            above = i + 1
    return above if above < len(rows) else 0


def _regular(text: str, delimiter: str) -> int:
    """How many of the first rows have the same number of cells, more than one."""
    widths: Counter[int] = Counter()
    try:
        widths.update(map(len, islice(csv.reader(StringIO(text), delimiter=delimiter), _SAMPLE)))
    except csv.Error:  # `_rows` says what is wrong
        return 0
    return max((rows for width, rows in widths.items() if width > 1), default=0)


def _rows(text: str, delimiter: str, path: Path, skipped: int) -> Iterator[list[str]]:
    reader = csv.reader(StringIO(text), delimiter=delimiter, strict=True)
    begins = skipped + 1
    try:
        for row in reader:
            yield row
            begins = skipped + reader.line_num + 1
    except csv.Error as error:
        raise DecodingError(
            f"{path} is not a valid CSV table: {error}, in the row that begins at line {begins}.",
            hint="Check its quotation marks, or save it as CSV again.",
        ) from error
