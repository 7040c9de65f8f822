"""The units of a case's chunks, their sentences, with their vectors and their weight in the tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discorag.models.protocol import Encoder
from discorag.types.case import Case
from discorag.types.chunk import Chunk
from discorag.types.rst_tree import RstTree
from discorag.types.span import Span
from discorag.types.vectors import Vectors

SATELLITE_WEIGHT = 0.9  # factor on a unit's relevance for each satellite link above it
_HEADING = re.compile(r"^#{1,6}\s")
_ENDING = re.compile(r"[.!。！…][\"'”’)\]」』]*$")
_BULLET = re.compile(r"^[-*+•]\s+")
_LIST_ITEM = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")
_ANNOUNCES = re.compile(r"\bfollowing\b|\bas follows\b|以下|如下", re.IGNORECASE)
_EMPHASIS = re.compile(r"(?<![\w*])\*\*(?=\S)([^*]+)(?<=\S)\*\*(?![\w*])")


@dataclass(frozen=True)
class Unit:
    """One unit: its chunk's number and its own (both one-based), and its text.

    Example:
        >>> from discorag.claims.units import unit_table
        >>> table = asyncio.run(unit_table((chunk,), encoder))
        >>> [(unit.number, unit.statement) for unit in table.units]
        [(1, False), (2, True), (3, True), (4, False), (5, True), (6, True)]
    """

    chunk: int
    number: int
    span: Span
    text: str
    satellite_depth: int

    @property
    def statement(self) -> bool:
        """Whether the unit can be a sentence of an answer: no heading, question, table row, label or bare number."""
        ends = bool(_ENDING.search(self.text)) and any(map(str.isalpha, self.text))
        return ends and not _HEADING.match(self.text)

    @cached_property
    def plain(self) -> str:
        """The text on one line, without bullets and emphasis."""
        return plain(self.text)

    @cached_property
    def folded(self) -> str:
        """The plain text as it is compared, see `folded`."""
        return folded(self.plain)


@dataclass(frozen=True)
class UnitTable:
    """All units of a case in chunk order, with their unit vectors, shape (n, d).

    Example:
        >>> from discorag.claims.units import unit_table
        >>> table = asyncio.run(unit_table(case.chunks, encoder))
        >>> [(unit.chunk, unit.text[:18]) for unit in table.units], table.vectors.shape
        ([(1, 'Vitamin D lowered '), (2, 'Vitamin D did not ')], (2, 384))
    """

    units: tuple[Unit, ...]
    vectors: Vectors

    def of_chunk(self, number: int) -> list[int]:
        """Indices of the units of chunk ``number``."""
        return [i for i, u in enumerate(self.units) if u.chunk == number]

    def index(self, chunk: int, number: int) -> int | None:
        """Index of unit ``number`` of chunk ``chunk``, None if there is none."""
        return next((i for i, u in enumerate(self.units) if (u.chunk, u.number) == (chunk, number)), None)

    def group(self, i: int) -> range:
        """Indices of unit ``i`` and, if it announces a list ("the following ..."), of the list's items behind it."""
        end = i + 1
        if _ANNOUNCES.search(self.units[i].text):
            while end < len(self.units) and self._continues(i, end):
                end += 1
        return range(i, end)

    def _continues(self, i: int, j: int) -> bool:
        return self.units[j].chunk == self.units[i].chunk and bool(_LIST_ITEM.match(self.units[j].text))

    def relevance(self, query: Vectors) -> Vectors:
        """Cosine to the query, less for satellites (Marcu's promotion); shape (n,)."""
        weight = np.array([SATELLITE_WEIGHT**u.satellite_depth for u in self.units], dtype=np.float32)
        return (self.vectors @ query) * weight


def plain(text: str) -> str:
    """``text`` on one line, without a bullet before it and without ** around words; numbers of a list stay."""
    return _EMPHASIS.sub(r"\1", _BULLET.sub("", " ".join(text.split())))


def folded(text: str) -> str:
    """``text`` without case and final punctuation."""
    return text.casefold().rstrip(" .!。！")


def within_window(texts: list[str], encoder: Encoder) -> list[str]:
    """Each text, cut after the last token that fits the encoder: for vectors that only rank."""
    room = encoder.tokens.max_tokens - encoder.tokens.special_tokens
    offsets = encoder.tokens.token_offsets(texts)
    return [t if len(o) <= room else t[: o[room - 1][1]] for t, o in zip(texts, offsets, strict=True)]


async def units_of(case: Case, encoder: Encoder) -> UnitTable:
    """The units of the case's chunks; made by the first stage that asks, for all of them."""
    of, table = case.known.get(encoder.version, (None, None))
    if table is None or of is not case.chunks:
        table = await unit_table(case.chunks, encoder)
        case.known[encoder.version] = (case.chunks, table)
    return table


async def unit_table(chunks: tuple[Chunk, ...], encoder: Encoder) -> UnitTable:
    """Encode the units of ``chunks``, numbered in their order."""
    units = units_in(chunks)
    return UnitTable(units, await encoder.encode_documents([u.text for u in units]))


def units_in(chunks: Sequence[Chunk]) -> tuple[Unit, ...]:
    """The units of ``chunks``, numbered in their order, without vectors."""
    return tuple(u for i, c in enumerate(chunks, start=1) for u in _units_of(i, c))


def _units_of(number: int, chunk: Chunk) -> list[Unit]:
    return [
        Unit(number, j, span, chunk.slice(span), _depth(chunk.tree, span))
        for j, span in enumerate(chunk.sentences, start=1)
    ]


def _depth(tree: RstTree | None, sentence: Span) -> int:
    """How many satellite links lie above a sentence: above the most nuclear of its EDUs."""
    if tree is None:
        return 0
    inside = [
        d
        for e, d in zip(tree.edus, tree.satellite_depth, strict=True)
        if e.start < sentence.end and e.end > sentence.start
    ]
    return min(inside, default=0)
