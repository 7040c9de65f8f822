"""Loong (Wang et al. 2024): questions over many long documents, in the official ``loong.jsonl``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from discorag.errors import InputError, MissingPathError


class LoongQuestion(BaseModel):
    """One line of ``loong.jsonl``, with the official field names.

    ``level``: 1 spotlight locating, 2 comparison, 3 clustering, 4 chain of reasoning. ``set``: 1 (10-50K tokens) to
    4 (over 200K). ``doc``: names of the documents asked about. ``question`` may be empty (papers, level 4).
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    level: int = Field(ge=1, le=4)
    set: int = Field(ge=1, le=4)
    type: Literal["financial", "paper", "legal"]
    language: Literal["en", "zh"]
    question: str
    instruction: str
    doc: tuple[str, ...]
    answer: str | dict[str, Any] | list[Any]


def load_loong(path: Path) -> Iterator[LoongQuestion]:
    """The questions of ``loong.jsonl`` in file order.

    Raises:
        MissingPathError: No such file.
        InputError: A line is cut off, lacks or renames a field, or repeats an id; the message names line and field.
    """
    if not path.is_file():
        raise MissingPathError(f"{path} does not exist.", hint="Name Loong's loong.jsonl.")
    seen: set[str] = set()
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            question = _parse(path, number, line)
            if question.id in seen:
                raise InputError(f"{path}:{number}: id {question.id} appears twice.", hint="Remove one of the lines.")
            seen.add(question.id)
            yield question


def _parse(path: Path, number: int, line: str) -> LoongQuestion:
    try:
        return LoongQuestion.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the line"
        raise InputError(
            f"{path}:{number}: {field}: {first['msg']}.", hint="Is the file whole, and Loong's official format?"
        ) from error
