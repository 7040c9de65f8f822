"""CSV and TSV to Markdown: one table, whose header is the first row."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from itertools import islice
from pathlib import Path

from discorag.ingest.convert.converted import Converted, pipe_table
from discorag.ingest.convert.encoding import decoded
from discorag.schema.errors import DecodingError

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 100  # rows that are looked at to find the delimiter


def from_delimited(data: bytes, path: Path) -> Converted:
    """The table as a pipe table. Empty rows are left out; rows that are shorter than others are filled with nothing.

    The delimiter of ``.tsv`` is the tab; else the one of comma, semicolon, tab and bar by which most of the first rows
    have equally many cells.

    Args:
        data: The file.
        path: Its name: the suffix says what it is.

    Raises:
        DecodingError: It is not text, quotation marks are not closed or stand before other text, or a cell is longer
            than 131,072 characters.
    """
    found = decoded(data, path)
    delimiter = "\t" if path.suffix.lower() == ".tsv" else _delimiter(found.text)
    rows = [row for row in _rows(found.text, delimiter, path) if any(map(str.strip, row))]
    width = max(map(len, rows), default=0)
    filled = [row + [""] * (width - len(row)) for row in rows]
    return Converted(pipe_table(filled) if filled else "", title=path.stem, encoding=found.assumed)


def _delimiter(text: str) -> str:
    return max(_DELIMITERS, key=lambda delimiter: _regular(text, delimiter))


def _regular(text: str, delimiter: str) -> int:
    """How many of the first rows have the same number of cells, more than one."""
    widths: Counter[int] = Counter()
    try:
        widths.update(map(len, islice(csv.reader(StringIO(text), delimiter=delimiter), _SAMPLE)))
    except csv.Error:  # `_rows` says what is wrong
        return 0
    return max((rows for width, rows in widths.items() if width > 1), default=0)


def _rows(text: str, delimiter: str, path: Path) -> Iterator[list[str]]:
    reader = csv.reader(StringIO(text), delimiter=delimiter, strict=True)
    begins = 1
    try:
        for row in reader:
            yield row
            begins = reader.line_num + 1
    except csv.Error as error:
        raise DecodingError(
            f"{path} is no table: {error}, in the row that begins at line {begins}.",
            hint="Check its quotation marks, or save it anew as CSV.",
        ) from error
