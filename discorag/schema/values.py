"""Basic values: spans of a text, ids and digests, unit vectors, and words."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, model_validator

from discorag.schema.errors import InvariantError


class Span(BaseModel, frozen=True):
    """Characters ``[start, end)`` of a document's canonical text; never empty.

    Raises:
        InvariantError: ``end <= start`` (pydantic raises it as ``ValidationError``).
    """

    start: int = Field(ge=0)
    end: int = Field(gt=0)

    @model_validator(mode="after")
    def _not_empty(self) -> Span:
        if self.end <= self.start:
            raise InvariantError(f"Span [{self.start}, {self.end}) is empty.")
        return self

    def of(self, text: str) -> str:
        """The characters of ``text`` that this span covers."""
        return text[self.start : self.end]

    def shifted(self, offset: int) -> Span:
        """The span shifted by this many characters."""
        return Span(start=self.start + offset, end=self.end + offset)

    def contains(self, other: Span) -> bool:
        """Whether ``other`` lies inside this span."""
        return self.start <= other.start and other.end <= self.end


class PageLine(NamedTuple):
    """A line of a page: where it begins in the document's text, its page from 1, and its box as in `Region`."""

    start: int
    page: int
    x0: int
    y0: int
    x1: int
    y1: int


class Region(BaseModel, frozen=True):
    """A rectangle on a page, in points from the lower left corner of the PDF's coordinates.

    ``page`` counts from 1. ``x0`` and ``y0`` are the left and lower edge, ``x1`` and ``y1`` the right and upper one.
    """

    page: int
    x0: int
    y0: int
    x1: int
    y1: int


def lines_within(lines: tuple[PageLine, ...], span: Span) -> tuple[PageLine, ...]:
    """The lines that a span is on; ``lines`` are in text order."""
    first = max(0, bisect_right(lines, span.start, key=lambda line: line.start) - 1)
    return lines[first : bisect_left(lines, span.end, key=lambda line: line.start)]


_NAMESPACE = uuid.UUID("7d1c1b0e-5a52-5d0b-9c8e-2f6f0c9f7a10")


def stable_id(*parts: str | int) -> str:
    """UUIDv5 of the parts, as a string. Parts are joined unambiguously, so ("a", "bc") != ("ab", "c")."""
    return str(uuid.uuid5(_NAMESPACE, json.dumps(parts, ensure_ascii=False)))


def amount(number: int, plural: str) -> str:
    """A number of things: ``1 document``, ``2 documents``."""
    return f"{number} {plural.removesuffix('s') if number == 1 else plural}"


_END_OF_NOUN = re.compile(r"(?= without |$)")


def list_amounts(counts: Mapping[str, int]) -> str:
    """The number of things of each kind, in words; a kind is a singular noun.

    >>> list_amounts({"image": 2, "formula without value": 1, "form field": 3})
    '2 images, 1 formula without value and 3 form fields'
    """
    *first, last = (f"{n} {kind}" if n == 1 else f"{n} {_END_OF_NOUN.sub('s', kind, 1)}" for kind, n in counts.items())
    return " and ".join(filter(None, (", ".join(first), last)))


def digest(text: str | bytes) -> str:
    """SHA-256 of ``text`` (UTF-8), 64 hexadecimal digits."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hashlib.sha256(data).hexdigest()


def fingerprint(content: str, versions: Mapping[str, str]) -> str:
    """A digest of a document's source and of the version of every stage that shapes what is stored of it."""
    return digest(json.dumps([content, sorted(versions.items())]))[:32]


Vectors = NDArray[np.float32]
"""Unit vectors as rows, shape (n, d), or one of them, shape (d,)."""

_EXACT = 5e-7
"""How far a squared length may be from 1; well below 1e-6, above which Qdrant scales a vector itself."""


def unit(vectors: Vectors) -> Vectors:
    """Vectors, shape (n, d) or (d,), scaled to length one within float32; unit vectors are returned unchanged.

    No vector may have length zero.
    """
    squares = np.einsum("...d,...d->...", vectors, vectors, dtype=np.float64)[..., np.newaxis]
    wrong = abs(squares - 1) > _EXACT
    return np.divide(vectors, np.sqrt(squares), out=vectors.astype(np.float32), where=wrong, casting="same_kind")


_IDEOGRAPH = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_IDEOGRAPH}]|[^\s{_IDEOGRAPH}]+")
_CHARACTERS_PER_WORD = 8


def count_words(text: str) -> int:
    """Words of ``text``: what white space separates; a Chinese or Japanese character is one."""
    return sum(1 for _ in _WORD.finditer(text))


def words_of(text: str) -> list[str]:
    """The words that `count_words` counts."""
    return _WORD.findall(text)


def first_words(texts: Iterable[str], words: int) -> str:
    """The texts joined by spaces, cut after ``words`` words, or after 8 characters for each of these.

    The second limit is for text without white space (sequences, encoded data), which word counts do not bound.

    Raises:
        InvariantError: ``words`` is less than 1.
    """
    if words < 1:
        raise InvariantError(f"A text cannot be cut to {words} words.", hint="Allow 1 word or more.")
    parts: list[str] = []
    left, room = words, words * _CHARACTERS_PER_WORD
    for text in texts:
        ends = [m.end() for m, _ in zip(_WORD.finditer(text), range(left), strict=False)]
        parts.append(text[: min(ends[-1] if len(ends) == left else len(text), room)])
        left, room = left - len(ends), room - len(parts[-1]) - 1
        if left <= 0 or room <= 0:
            break
    return " ".join(parts).rstrip()


def within(sizes: Iterable[int], budget: int) -> int:
    """How many of the first sizes add up to no more than ``budget``; at least one."""
    total = count = 0
    for size in sizes:
        total += size
        if count and total > budget:
            break
        count += 1
    return count
