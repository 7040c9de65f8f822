"""What all loaders share: reading official files with errors that name file, place and field; building documents."""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from discorag.schema.errors import MissingPathError
from discorag.schema.values import Span
from eval.errors import DataError, first_error
from eval.sample import Sample, SourceDocument

T = TypeVar("T")


def read_text(path: Path) -> str:
    """The file's UTF-8 text. Raises `MissingPathError`, or `DataError` if it is not UTF-8."""
    if not path.is_file():
        raise MissingPathError(f"{path} does not exist.", hint="Is the data folder complete? See its README.")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 at byte {error.start}.", hint="Fetch the official file again.") from error


def read_json(schema: type[T], path: Path) -> T:
    """The file's JSON value in the official schema.

    Raises:
        MissingPathError: No such file.
        DataError: It is cut off, or not in the schema; names the place.
    """
    try:
        return validate(schema, json.loads(read_text(path)), str(path))
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path}:{error.lineno}: {error.msg}.", hint="Is the file whole? Fetch the official file again."
        ) from error


def read_lines(schema: type[T], path: Path) -> Iterator[tuple[str, T]]:
    """Each non-empty line's JSON value in the official schema, with its place ``file:line``. Raises as `read_json`."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise DataError(
                f"{place}: {error.msg}.", hint="Is the file whole? Fetch the official file again."
            ) from error
        yield place, validate(schema, value, place)


def validate(schema: type[T], value: Any, place: str) -> T:
    """``value`` in the official schema. Raises `DataError` that names place and field."""
    try:
        return _adapter(schema).validate_python(value)
    except ValidationError as error:
        raise DataError(
            f"{place}: {first_error(error)}", hint="Is the file in the dataset's official format?"
        ) from error


@cache
def _adapter(schema: type[T]) -> TypeAdapter[T]:
    return TypeAdapter(schema)


def unique(samples: Iterable[Sample], path: Path) -> tuple[Sample, ...]:
    """The samples, if no id repeats. Raises `DataError` that names the id."""
    found: dict[str, Sample] = {}
    for sample in samples:
        if sample.id in found:
            raise DataError(f"{path}: id {sample.id} appears twice.", hint="Remove one of the entries.")
        found[sample.id] = sample
    return tuple(found.values())


def normal(text: str) -> str:
    """``text`` with line feeds only and no white space at its ends: as the pipeline will store it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


class TextBuilder:
    """Builds a document's canonical text piece by piece and remembers where each part stands."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self.parts: list[Span] = []

    def add(self, text: str, *, before: str = "\n\n") -> Span | None:
        """Append a piece after the separator ``before`` (none at the start); its span, None if it is blank."""
        text = normal(text)
        if not text:
            return None
        lead = before if self._pieces else ""
        self._pieces.append(lead + text)
        start = self._length + len(lead)
        self._length = start + len(text)
        return Span(start=start, end=self._length)

    def part(self, text: str, *, before: str = "\n\n") -> Span | None:
        """`add` one of the dataset's own units, which becomes one of ``parts``."""
        span = self.add(text, before=before)
        self.parts += [span] if span else []
        return span

    def document(self, doc_id: str, title: str) -> SourceDocument:
        """The document. Raises ``ValidationError`` if nothing was added."""
        return SourceDocument(id=doc_id, title=title, text="".join(self._pieces), parts=tuple(self.parts))
