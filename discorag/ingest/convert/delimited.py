"""Delimited text (CSV, TSV) to Markdown."""

import csv
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from itertools import islice
from pathlib import Path

from discorag.ingest.convert.converted import Converted
from discorag.ingest.convert.encoding import decode_text
from discorag.ingest.convert.tables import table_markdown, table_of
from discorag.schema.errors import DecodingError

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 100  # rows that are looked at to find the delimiter


def from_delimited(data: bytes, path: Path) -> Converted:
    """The table as a pipe table. Empty rows are left out; the header is filled to the longest row, others stay short.

    The delimiter of ``.tsv`` is the tab; else the one of comma, semicolon, tab and bar by which most of the first rows
    have equally many cells.

    Raises:
        DecodingError: It is not text, quotation marks are not closed or stand before other text, or a cell is longer
            than 131,072 characters.
    """
    file = decode_text(data, path)
    is_tsv = path.suffix.lower() == ".tsv"
    delimiter = "\t" if is_tsv else max(_DELIMITERS, key=lambda delimiter: _regular(file.text, delimiter))
    rows = [row for row in _rows(file.text, delimiter, path) if any(map(str.strip, row))]
    if rows:
        rows[0] += [""] * (max(map(len, rows)) - len(rows[0]))
    return Converted(
        table_markdown(table_of(rows, header_rows=1)) if rows else "", title=path.stem, metadata=file.metadata
    )


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
            f"{path} is not a valid CSV table: {error}, in the row that begins at line {begins}.",
            hint="Check its quotation marks, or save it as CSV again.",
        ) from error
