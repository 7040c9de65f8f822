"""Which of two documents is a newer version of the other: same title but for figures, and a later date."""

from __future__ import annotations

import re

from discorag.types.chunk import Chunk

DATE = "date"
"""Of the metadata (front matter, or as given with an upload): compared as written, so best as 2026-11-23."""
_FIGURES = re.compile(r"[\d\W_]+")


def newer(a: Chunk, b: Chunk) -> int:
    """1 where ``a`` is of a newer version of ``b``'s document, -1 the other way round, else 0.

    Example:
        >>> from discorag.disagreement.versions import newer
        >>> old, new = (c.model_copy(update={"title": f"Fees {y}", "metadata": {"date": y}}) for c, y in zip(
        ...     case.chunks, ("2024", "2025"), strict=False))
        >>> newer(new, old), newer(old, new)
        (1, -1)
    """
    title, dates = _FIGURES.sub(" ", a.title).strip().casefold(), (a.metadata.get(DATE), b.metadata.get(DATE))
    if not title or title != _FIGURES.sub(" ", b.title).strip().casefold() or not all(dates):
        return 0
    first, second = map(str, dates)
    return (first > second) - (first < second)
