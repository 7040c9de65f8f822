"""Which of two documents is a newer version of the other: one title but for year and version, and a later date."""

from __future__ import annotations

import re
from datetime import date

from discorag.schema.document import Chunk

DATE = "date"
"""Of the metadata (front matter, or as given with an upload), as 2026-11-23; other forms tell nothing."""
_EDITION = re.compile(r"\b(?:19|20)\d\d\b|\bv?\d+(?:\.\d+)+\b")


def newer(a: Chunk, b: Chunk) -> int:
    """1 where ``a`` is of a newer version of ``b``'s document, -1 the other way round, else 0.

    Example:
        >>> from discorag.conflicts.versions import newer
        >>> old, new = (c.model_copy(update={"title": f"Fees {y}", "metadata": {"date": f"{y}-01-01"}}) for c, y in zip(
        ...     inputs.chunks, ("2024", "2025"), strict=False))
        >>> newer(new, old), newer(old, new)
        (1, -1)
    """
    first, second = (_date(c) for c in (a, b))
    if not (first and second and _name(a) == _name(b)):
        return 0
    return (first > second) - (first < second)


def _name(chunk: Chunk) -> str:
    """The title without the year or the number of the version."""
    return " ".join(_EDITION.sub(" ", chunk.title).casefold().split())


def _date(chunk: Chunk) -> date | None:
    try:
        return date.fromisoformat(chunk.metadata.get(DATE, ""))
    except ValueError:
        return None
