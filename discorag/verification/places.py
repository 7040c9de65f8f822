"""Where the support of a sentence may stand: a few units in a row of one chunk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from discorag.claims.alignment import Floats, text_of
from discorag.claims.units import UnitTable
from discorag.verification.judge import Place

PLACES = 3
"""Units around which places are made, for one sentence."""
_STEM = 5  # letters that forms of one word are taken to share, to find a place


def places_of(sentence: str, candidates: Sequence[int], table: UnitTable, cosine: Floats) -> tuple[Place, ...]:
    """Places around the units that say most of the sentence, and of what those before them left unsaid.

    Args:
        sentence: Without citations.
        candidates: Indices of units.
        table: The case's units.
        cosine: Of the sentence and each unit of the table, shape (units,).
    """
    words = _stems(sentence)
    said = [words & _stems(table.units[i].plain) for i in candidates]
    score = np.array([len(s) / max(1, len(words)) + float(cosine[i]) for s, i in zip(said, candidates, strict=True)])
    chosen: list[int] = []
    left = words
    for _ in range(min(PLACES, len(candidates))):
        gain = [len(s & left) / max(1, len(words)) for s in said]
        best = int((score + np.array(gain)).argmax())
        chosen.append(candidates[best])
        left, score[best] = left - said[best], -np.inf
    return tuple(dict.fromkeys(place for i in chosen for place in _around(i, table)))


def _around(i: int, table: UnitTable) -> list[Place]:
    """The sentence around a unit alone, with the one before it, with the one after it."""
    first, last = whole_sentence(i, table)
    ranges = [(first, last), (_before(first, table), last), (first, _after(last, table))]
    return [place_of(range(a, b + 1), table) for a, b in dict.fromkeys(ranges)]


def place_of(units: Sequence[int], table: UnitTable) -> Place:
    """These units as a place."""
    return Place(tuple(units), " ".join(table.units[i].plain for i in units))


def whole_sentence(i: int, table: UnitTable) -> tuple[int, int]:
    """First and last unit of the sentence around unit ``i``, which may be a part of one: who says it, or when."""
    first, last = i, i
    while first > 0 and _continues(table, first - 1):
        first -= 1
    while last + 1 < len(table.units) and _continues(table, last):
        last += 1
    return first, last


def _continues(table: UnitTable, i: int) -> bool:
    """Whether the unit after ``i`` goes on with its sentence."""
    unit, then = table.units[i], table.units[i + 1]
    return unit.chunk == then.chunk and not unit.statement and then.text[:1].islower()


def _before(i: int, table: UnitTable) -> int:
    return i - 1 if i and table.units[i - 1].chunk == table.units[i].chunk else i


def _after(i: int, table: UnitTable) -> int:
    return i + 1 if i + 1 < len(table.units) and table.units[i + 1].chunk == table.units[i].chunk else i


@lru_cache(maxsize=4096)  # every sentence of an answer is held against the same units
def _stems(text: str) -> frozenset[str]:
    """Its words that say something, cut."""
    words = text_of(text)
    return frozenset(w[:_STEM] for w, keep in zip(words.lower, words.content, strict=True) if keep)
