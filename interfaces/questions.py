"""Files of questions: JSON, one a line."""

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from discorag.schema.errors import InputError
from discorag.schema.metadata import GivenFilters


class Question(BaseModel):
    """A line of the questions' file.

    Args:
        question: The question.
        id: Id of the reply; default: the number of the line, from 1.
        filters: As for `DiscoRAG.ask`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str = Field(min_length=1)
    id: str = ""
    filters: GivenFilters = Field(default_factory=dict[str, Any])


Q = TypeVar("Q", bound=Question)


def read_questions(file: Path, kind: type[Q]) -> list[Q]:
    """The questions of a JSONL file, each with an id; a line is one of this kind.

    Raises:
        InputError: The file or a line cannot be read, or two have the same id.
    """
    try:
        lines = file.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}.", hint="Name a JSONL file of questions in UTF-8.") from error
    found = [_question(file, number, line, kind) for number, line in enumerate(lines, 1) if line.strip()]
    if len({q.id for q in found}) < len(found):
        twice = next(q.id for i, q in enumerate(found) if q.id in {p.id for p in found[:i]})
        raise InputError(f"Two questions of {file} have the id {twice!r}.", hint="Give each an id of its own.")
    return found


def _question(file: Path, number: int, line: str, kind: type[Q]) -> Q:
    try:
        question = kind.model_validate_json(line)
    except InputError as error:
        raise InputError(f"Line {number} of {file}: {error.message}", hint=error.hint) from error
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        raise InputError(
            f"Line {number} of {file}: {f'{where}: ' if where else ''}{problem['msg']}.",
            hint=f'A line is {{"question": "...", ...}}, with fields of {", ".join(kind.model_fields)}.',
        ) from error
    return question if question.id else question.model_copy(update={"id": str(number)})
