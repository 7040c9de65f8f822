"""Texts that are handed over instead of files: written with their metadata, so that an ingest reads them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from discorag.schema.errors import InputError
from discorag.schema.metadata import checked_value
from discorag.schema.values import digest


@dataclass(frozen=True)
class GivenText:
    """A document as a program has it.

    Args:
        text: Markdown, or plain text.
        name: Identifies it: a text of the same name replaces the earlier one. Empty: its content does.
        metadata: What can be filtered on: texts, numbers, dates, true and false, and lists of these; ``title`` is its
            title.
    """

    text: str
    name: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])


def write_texts(texts: Iterable[GivenText], folder: Path) -> list[Path]:
    """Write each into ``folder``, which is created.

    Raises:
        InputError: A text is empty, or metadata hold what cannot be stored.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[Path, None] = {}
    for number, given in enumerate(texts):
        if not given.text.strip():
            raise InputError(f"Text {number} is empty.", hint="Leave it out.")
        metadata = {key: checked_value(key, value) for key, value in given.metadata.items() if value is not None}
        header = json.dumps(metadata, ensure_ascii=False)  # YAML too
        file = folder / f"{digest(given.name or given.text)[:16]}.md"
        file.write_text(f"---\n{header}\n---\n{given.text}", "utf-8")
        files[file] = None
    return list(files)
