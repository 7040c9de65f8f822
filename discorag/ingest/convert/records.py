"""Rows and records to Markdown: delimited text (CSV, TSV) as a table, JSON as sections, lists and tables."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import TypeAlias, TypeGuard

from discorag.ingest.convert.converted import Converted, literal, pipe_table, without_halves
from discorag.ingest.convert.encoding import decode_text
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
    return Converted(pipe_table(rows) if rows else "", title=path.stem, encoding=file.encoding)


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


Value: TypeAlias = "str | bool | list[Value] | dict[str, Value] | None"
"""JSON's values; numbers as they are written."""
LINES = (".jsonl", ".ndjson")
"""Suffixes of files with a value on each line."""
_DEEPEST = 6  # level of Markdown's headings
_SHORT = 200  # characters of a value that stands in one line with its key
_NAME = 80  # characters of a value that may be a heading
_UNSAID: tuple[Value, ...] = (None, "", [], {})
_CONTROL = dict.fromkeys([*range(9), *range(11, 32), 0x7F])


def from_json(data: bytes, path: Path) -> Converted:
    """A JSON value, or one a line, as Markdown.

    An object is a list of ``key: value``, then a section for each value that does not fit a line; an array of objects
    with such short values is a table, of others a section each, named by the first key that tells them apart. Nulls and
    what is empty is left out. The title is the object's ``title`` or ``name``, else the file's.

    Raises:
        DecodingError: It is not text, not valid JSON, or nested too deeply.
    """
    file = decode_text(data, path)
    try:
        if path.suffix.lower() in LINES:
            lines = enumerate(file.text.split("\n"), start=1)
            value: Value = [_parse(line, path, number) for number, line in lines if line.strip()]
        else:
            value = _parse(file.text, path, 1)
        text = "\n\n".join(_blocks(value, 1))
    except RecursionError as error:
        raise DecodingError(f"{path} is nested too deeply.", hint="Save it in a simpler form.") from error
    return Converted(_clean(text), title=_clean(_title(value)) or path.stem, encoding=file.encoding)


def _parse(text: str, path: Path, line: int) -> Value:
    """The value of a text that begins at this line of the file."""
    if not text.strip():
        return None
    try:
        return json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        raise DecodingError(
            f"{path} is not valid JSON: {error.msg} at line {line + error.lineno - 1}, column {error.colno}.",
            hint="If it holds a value on each line, name it .jsonl." if error.msg == "Extra data" else "Correct it.",
        ) from error


def _title(value: Value) -> str:
    named = [value.get(key) for key in ("title", "name")] if isinstance(value, dict) else []
    return next((" ".join(name.split()) for name in named if isinstance(name, str) and _is_short(name)), "")


def _blocks(value: Value, level: int) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _object(value, level)
    elif isinstance(value, list):
        yield from _array([item for item in value if item not in _UNSAID], level)
    else:
        yield literal(_text_of(value).strip())


def _object(fields: Mapping[str, Value], level: int) -> Iterator[str]:
    values = {key: value for key, value in fields.items() if value not in _UNSAID}
    if short := [f"- {_line(key)}: {_line(_text_of(value))}" for key, value in values.items() if _is_short(value)]:
        yield "\n".join(short)
    for key, value in values.items():
        if not _is_short(value):
            yield from _section(key, value, level)


def _array(items: list[Value], level: int) -> Iterator[str]:
    if all(map(_is_short, items)):
        yield "\n".join(f"- {_line(_text_of(item))}" for item in items)
    elif all(not isinstance(item, dict | list) for item in items):
        for item in items:
            yield from _blocks(item, level)
    elif _are_flat(items):
        keys = list(dict.fromkeys(key for item in items for key in item))
        yield pipe_table([keys, *([_text_of(item.get(key)) for key in keys] for item in items)])
    else:
        for name, item in zip(_names(items), items, strict=True):
            yield from _section(name, item, level)


def _section(name: str, value: Value, level: int) -> Iterator[str]:
    yield f"{'#' * min(level, _DEEPEST)} {_line(name)}"
    yield from _blocks(value, level + 1)


def _are_flat(items: list[Value]) -> TypeGuard[list[dict[str, Value]]]:
    return all(isinstance(i, dict) and all(_is_short(v) or v in _UNSAID for v in i.values()) for i in items)


def _names(items: list[Value]) -> list[str]:
    """What tells objects apart: the values of their first key that is in all, short, different and no number."""
    objects = [item for item in items if isinstance(item, dict)]
    for key in objects[0] if len(objects) == len(items) else ():
        names = [name for item in objects if _is_name(name := item.get(key))]
        if len(set(names)) == len(items):
            return names
    return [str(i) for i in range(1, len(items) + 1)]


def _is_name(value: Value) -> TypeGuard[str]:
    return isinstance(value, str) and _is_short(value) and len(value) <= _NAME and not value.isdecimal()


def _is_short(value: Value) -> bool:
    """Whether it is said in one line."""
    if isinstance(value, str):
        return 0 < len(value) <= _SHORT and "\n" not in value.strip()
    return isinstance(value, bool)


def _text_of(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else ""


def _line(text: str) -> str:
    return " ".join(text.split())


def _clean(text: str) -> str:
    """Without control characters and halves of characters, which JSON can write and a text cannot hold."""
    return without_halves(text).replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROL)
