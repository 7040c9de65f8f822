"""A text as word pieces in windows, with what its layout says starts at each: a sentence, a paragraph."""

# torch and tokenizers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from discorag.schema.span import Span

Ints = NDArray[np.int64]


class Level(IntEnum):
    """What starts at a place, by layout."""

    INSIDE = 0
    SENTENCE = 1
    PARAGRAPH = 2


@dataclass(frozen=True)
class Pieces:
    """A text's word pieces.

    Args:
        ids: Vocabulary indices, shape (pieces,).
        starts: First character of each, in the text.
        ends: Behind its last character.
        opens: Whether an EDU may start there: it continues no word.
        levels: A `Level` for each.
        windows: Ranges of pieces that are encoded together, in order, without gaps.

    Example:
        >>> from discorag.models.packaged import packaged_file
        >>> from discorag.discourse.parse.trained.layout import layout_of
        >>> from discorag.discourse.parse.trained.network import Tokenization
        >>> from discorag.schema.span import Span
        >>> tokenization = Tokenization(packaged_file("all-MiniLM-L6-v2", "tokenizer.json"), window=256)
        >>> pieces = tokenization.pieces(layout_of("Tides rise. They fall."))
        >>> pieces.range_of(Span(start=12, end=22)), pieces.windows
        ((3, 6), ((0, 6),))
    """

    ids: Ints
    starts: Ints
    ends: Ints
    opens: NDArray[np.bool_]
    levels: Ints
    windows: tuple[tuple[int, int], ...]

    def range_of(self, span: Span) -> tuple[int, int]:
        """The pieces that start inside ``span``; at least one, so that every unit is seen."""
        first, last = np.searchsorted(self.starts, [span.start, span.end])
        first = min(int(first), len(self.ids) - 1)
        return first, max(int(last), first + 1)


def cut_into_pieces(
    text: str, sentences: Sequence[Span], paragraphs: Sequence[int], tokenizer: Tokenizer, *, size: int, first: int = 0
) -> Pieces:
    """The pieces of ``text`` in windows of at most ``size``, cut at sentence starts where there is one.

    Args:
        text: Not empty.
        sentences: Its sentences, in offsets of ``text``.
        paragraphs: Indices into ``sentences`` at which a paragraph starts.
        tokenizer: The encoder's.
        size: Pieces in a window.
        first: Pieces in the first window; 0 for ``size``.
    """
    found: Any = tokenizer.encode(text, add_special_tokens=False)
    offsets = np.array(found.offsets, dtype=np.int64).reshape(-1, 2)
    levels = np.zeros(len(offsets), dtype=np.int64)
    levels[_at(offsets, [s.start for s in sentences])] = Level.SENTENCE
    levels[_at(offsets, [sentences[i].start for i in (0, *paragraphs)])] = Level.PARAGRAPH
    opens = np.array([not token.startswith("##") for token in found.tokens], dtype=np.bool_)
    windows = _windows(np.flatnonzero(levels), len(offsets), size, first or size)
    ids = np.array(found.ids, dtype=np.int64)
    return Pieces(ids, offsets[:, 0], offsets[:, 1], opens, levels, windows)


def _at(offsets: Ints, characters: Sequence[int]) -> Ints:
    """The pieces at which these characters begin; those behind the last piece are left out."""
    at = np.searchsorted(offsets[:, 0], characters)
    return at[at < len(offsets)]


def _windows(starts: Ints, n: int, size: int, first: int) -> tuple[tuple[int, int], ...]:
    windows: list[tuple[int, int]] = []
    at, limit = 0, first
    while n - at > limit:
        cuts = starts[(starts > at) & (starts <= at + limit)]
        end = int(cuts[-1]) if len(cuts) else at + limit
        windows.append((at, end))
        at, limit = end, size
    return (*windows, (at, n))
