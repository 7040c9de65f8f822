"""Writes `interfaces/keywords.py` from the options' fields: `python -m tests.interfaces.keywords`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

from interfaces import keywords
from nodes.context import AnswerContext, IngestContext

FILE = Path(keywords.__file__)
_HEAD = '''"""Options as keyword arguments that an editor completes, generated from `discorag.options`."""

from __future__ import annotations

from typing import Literal, TypedDict

'''


def render() -> str:
    """The text of the file."""
    classes = {"AnswerKeywords": (AnswerContext, "a question"), "IngestKeywords": (IngestContext, "an ingest")}
    return _HEAD + "\n".join(line for name, (options, of) in classes.items() for line in _class(name, options, of))


def _class(name: str, options: type[AnswerContext | IngestContext], of: str) -> Iterator[str]:
    yield f'\nclass {name}(TypedDict, total=False):\n    """Of {of}."""\n'
    for field, info in options.model_fields.items():
        if field != "backends":
            yield f"    {field}: {_written(info.annotation)}"
    yield ""


def _written(annotation: Any) -> str:
    """The annotation as source."""
    if annotation is type(None):
        return "None"
    if isinstance(annotation, type):
        return annotation.__name__
    if str(get_origin(annotation)) == "typing.Literal":
        return "Literal[" + ", ".join(f'"{value}"' for value in get_args(annotation)) + "]"
    return " | ".join(map(_written, get_args(annotation)))


if __name__ == "__main__":
    FILE.write_text(render(), "utf-8")
