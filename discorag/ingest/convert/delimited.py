"""Delimited text (CSV, TSV) to Markdown."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import chain, groupby, islice, takewhile
from pathlib import Path

from discorag.ingest.convert.converted import Converted, literal
from discorag.ingest.convert.encoding import decode_text
from discorag.ingest.convert.tables import Cell, Table, is_data, table_markdown
from discorag.schema.errors import DecodingError

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 100  # rows that are looked at to find the delimiter
_PREAMBLE = 20  # rows above a table at most, the last of them empty, if some hold more than one cell
_SEPARATOR = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)  # Excel's first line


def from_delimited(data: bytes, path: Path) -> Converted:
    """The table as a pipe table, below the lines that stand above it. Empty rows are left out.

    The first row names the columns, unless it is plainly like the others. Above the table may be comments (``#``),
    titles of one cell, and lines with fewer cells than the table that an empty row closes. Below an empty row may be
    another table. The delimiter of ``.tsv`` is the tab; else what Excel's ``sep=`` says, or the one of comma,
    semicolon, tab and bar by which most of the first rows have equally many cells.

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
    blocks = [*map(literal, lines), *chain.from_iterable(map(_blocks, _tables(rows[above:])))]
    return Converted("\n\n".join(filter(None, blocks)), title=path.stem, metadata=file.metadata)


def _tables(rows: Sequence[list[str]]) -> list[list[list[str]]]:
    """The tables among rows, each with its titles, without empty rows.

    A new one names its columns below an empty row, with figures below the names. Titles of one cell stand above them,
    or the columns are not as many as before. A table with the same names goes on.
    """
    found: list[list[list[str]]] = []
    names, before = list[str](), 0
    for part in (list(group) for is_filled, group in groupby(rows, any) if is_filled):
        below = part[_titles(part) :]
        width = max((sum(map(bool, row)) for row in below), default=0)
        is_other = names not in below[:1] and (len(below) < len(part) or width != before)
        if not found or (is_other and _names_figures(below)):
            found.append(part)
            names, before = next(iter(below), list[str]()), width
        else:
            found[-1] += part
    return found


def _names_figures(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row holds names, and the second figures."""
    return len(rows) > 1 and not is_data(rows) and is_data(rows[1:])


def _titles(rows: Iterable[Sequence[str]]) -> int:
    """How many rows of one cell stand above the others."""
    return sum(1 for _ in takewhile(lambda row: sum(map(bool, row)) < 2, rows))


def _blocks(rows: Sequence[Sequence[str]]) -> list[str]:
    """The titles of a table, and the table, as Markdown."""
    titles = _titles(rows)
    table = rows[titles:] or rows
    names = int(not is_data(table))
    above = [literal(" ".join(filter(None, row))) for row in rows[: len(rows) - len(table)]]
    return [*above, table_markdown(Table([[Cell(text) for text in row] for row in table], names))]


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
        if not filled[i] and filled[i + 1] > most and not (most > 2 and _names_figures(rows[titles:i])):
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
