"""Rows that are made once and kept in a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


def made_once(file: Path, make: Callable[[], Iterable[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The file's rows; where there is none, those that ``make`` gives, kept when all are there."""
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        with part.open("w", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in make())
        part.rename(file)
    return [json.loads(line) for line in file.open(encoding="utf-8")]
