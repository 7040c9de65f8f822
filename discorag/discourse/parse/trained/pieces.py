"""A text as word pieces in windows, and its layout: its sentences and paragraphs, and the kind of each sentence."""

# tokenizers is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from discorag.ingest.segment.layout import WHOLE, is_mark, without_speaker
from discorag.schema.document import UnitKind
from discorag.schema.values import Span
from discorag.text.sentences import sentence_spans

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """A text that is not empty, and what is known about it before it is parsed.

    ``paragraphs`` are indices of the sentences at which a paragraph starts (0 may be left out). ``kinds`` are what the
    sentences are by their layout; empty if that is not known.
    """

    text: str
    sentences: tuple[Span, ...]
    paragraphs: tuple[int, ...]
    kinds: tuple[UnitKind, ...] = ()

    @property
    def whole(self) -> list[Span]:
        """Spans inside which no EDU starts: headings, rows and the like, and names of speakers."""
        known = zip(self.sentences, self.kinds, strict=True) if self.kinds else ()
        return [s if kind in WHOLE else _label_of(s, self.text) for s, kind in known if kind in WHOLE | {UnitKind.TURN}]

    @property
    def openers(self) -> frozenset[int]:
        """Starts of sentences that only introduce what follows: headings, marks, and names that stand alone."""
        known = zip(self.sentences, self.kinds, strict=True) if self.kinds else ()
        return frozenset(s.start for s, kind in known if kind is UnitKind.HEADING or is_mark(s.of(self.text)))


def layout_of(
    text: str, sentences: Sequence[Span] | None = None, paragraphs: Sequence[int] = (), kinds: Sequence[UnitKind] = ()
) -> Layout:
    """The layout of a text; sentences and, at blank lines, paragraphs are found if they are not given."""
    if sentences is not None:
        return Layout(text, tuple(sentences), tuple(paragraphs), tuple(kinds))
    found = sentence_spans(text)
    between = [text[a.end : b.start] for a, b in pairwise(found)]
    return Layout(text, found, tuple(i for i, gap in enumerate(between, start=1) if gap.count("\n") > 1))


def _label_of(turn: Span, text: str) -> Span:
    """The name at the start of a turn, and the first character of the speech."""
    speech = without_speaker(turn.of(text)).lstrip()
    return Span(start=turn.start, end=min(turn.end, turn.end - len(speech) + 1))


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
        ends: One past its last character.
        opens: Whether an EDU may start there, that is, the piece does not continue a word.
        levels: A `Level` for each.
        windows: Ranges of pieces that are encoded together, in order, without gaps.
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


class Tokenization:
    """An encoder's tokenizer as the parser uses it, in windows of this many word pieces, special tokens included.

    Threads may share it.
    """

    def __init__(self, file: Path, window: int) -> None:
        self._tokenizer = Tokenizer.from_file(str(file))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._first, self._last = self._tokenizer.encode("").ids
        self._size = window - 2
        self._lock = Lock()  # fast tokenizers must not be shared by threads

    def pieces(self, layout: Layout, *, first: int = 0) -> Pieces:
        """The text's word pieces, in windows that are cut at the start of a sentence if possible.

        The first window has at most ``first`` pieces, if that is given.
        """
        with self._lock:
            found: Any = self._tokenizer.encode(layout.text, add_special_tokens=False)
        offsets = np.array(found.offsets, dtype=np.int64).reshape(-1, 2)
        sentences = [s.start for s in layout.sentences]
        levels = np.zeros(len(offsets), dtype=np.int64)
        levels[_at(offsets, sentences)] = Level.SENTENCE
        levels[_at(offsets, [sentences[i] for i in (0, *layout.paragraphs)])] = Level.PARAGRAPH
        opens = np.array([not token.startswith("##") for token in found.tokens], dtype=np.bool_)
        windows = _windows(np.flatnonzero(levels), len(offsets), self._size, first or self._size)
        return Pieces(np.array(found.ids, dtype=np.int64), offsets[:, 0], offsets[:, 1], opens, levels, windows)

    def framed(self, ids: Ints) -> Ints:
        """A window's ids between the special tokens."""
        return np.concatenate([[self._first], ids, [self._last]])


def _at(offsets: Ints, characters: Sequence[int]) -> Ints:
    """The pieces at which these characters begin; those after the last piece are left out."""
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
