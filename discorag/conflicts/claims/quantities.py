"""Quantities of English text: numbers in digits or words, with their units."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from discorag.conflicts.claims import lexicon as lx
from discorag.conflicts.claims.words import forms, words

_YEARS = (1000, 2100)
_TOLERANCE = 0.02  # relative difference that two ways of saying one quantity may have ("90 days", "three months")


@dataclass(frozen=True)
class Quantity:
    """A number and its unit.

    Args:
        value: In the dimension's base unit; 0.12 for 12 %.
        raw: As written, before its unit is applied.
        dimension: "time", "mass", ...; "share" for percentages and fractions; "" for a count or a year.
        unit: Its name; empty for a count.
        text: As written.

    Example:
        >>> from discorag.conflicts.claims.quantities import quantities
        >>> hours = quantities("It lasted two hours.")[0]
        >>> hours.text, hours.raw, hours.dimension
        ('two hours', 2.0, 'time')
        >>> hours.same(quantities("It took 120 minutes.")[0])
        True
    """

    value: float
    raw: float
    dimension: str
    unit: str
    text: str

    @property
    def year(self) -> bool:
        """Whether it may be one: a bare number from 1000 to 2100."""
        return not self.dimension and _YEARS[0] <= self.raw <= _YEARS[1]

    def same(self, other: Quantity) -> bool:
        """Whether both may state one quantity."""
        if self.dimension != other.dimension:
            return self.raw == other.raw and "" in (self.dimension, other.dimension)
        least = _TOLERANCE * abs(other.value) if self.unit != other.unit else 1e-9 * max(1.0, abs(self.value))
        return abs(self.value - other.value) <= least


@lru_cache(maxsize=4096)
def quantities(sentence: str) -> tuple[Quantity, ...]:
    """The quantities of one sentence in order; "one" alone is none."""
    tokens = words(sentence)
    lower, found, i = [t.lower() for t in tokens], list[Quantity](), 0
    while i < len(tokens):
        read = _quantity(lower, i)
        if read is None:
            i += 1
        else:
            value, raw, dimension, unit, end = read
            if unit or raw != 1 or lower[i] != "one":
                found.append(Quantity(value, raw, dimension, unit, " ".join(tokens[i:end])))
            i = end
    return tuple(found)


def _quantity(lower: list[str], i: int) -> tuple[float, float, str, str, int] | None:
    """Value, number, dimension and unit of the quantity at ``i``, and the index behind it."""
    read = _number(lower, i)
    if read is None:
        return None
    raw, j = read
    if i and lower[i - 1] in lx.SIGNS:
        return raw, raw, lx.SIGNS[lower[i - 1]], lx.SIGNS[lower[i - 1]], j
    j += _at(lower, j) == "-"
    if parts := next((lx.FRACTIONS[f] for f in forms(_at(lower, j)) if f in lx.FRACTIONS), 0):
        return raw / parts, raw / parts, "share", "part", j + 1
    if (_at(lower, j), _at(lower, j + 1)) == ("per", "cent"):
        return raw / 100, raw, "share", "percent", j + 2
    for form in forms(_at(lower, j)):
        name = form.replace("meter", "metre").replace("liter", "litre")
        if name in lx.UNITS:
            dimension, size = lx.UNITS[name]
            return raw * size, raw, dimension, name, j + 1
    return raw, raw, "", "", j - (lower[j - 1] == "-")


def _at(lower: list[str], i: int) -> str:
    return lower[i] if 0 <= i < len(lower) else "."


def _number(lower: list[str], i: int) -> tuple[float, int] | None:
    """The value of the digits or number words at ``i``, and the index behind them."""
    word = lower[i]
    if word[0].isdecimal():
        return _scaled(lower, _digits(word), i + 1)
    if word in ("a", "an") and _at(lower, i + 1) in lx.FRACTIONS:
        return 1.0, i + 1
    if word not in lx.CARDINALS:
        return None
    value, j = float(lx.CARDINALS[word]), i + 1
    ones = j + (_at(lower, j) == "-")
    if value >= 20 and 0 < lx.CARDINALS.get(_at(lower, ones), 0) < 10:
        value, j = value + lx.CARDINALS[lower[ones]], ones + 1
    return _scaled(lower, value, j)


def _digits(word: str) -> float:
    groups = word.split(",")
    plain = "".join(groups) if all(len(g.split(".")[0]) == 3 for g in groups[1:]) else word.replace(",", ".")
    head, *rest = plain.split(".")
    return float(head + ("." + "".join(rest) if rest else ""))


def _scaled(lower: list[str], value: float, j: int) -> tuple[float, int]:
    """The value times "hundred", "million" and so on, and what is added behind "hundred and"."""
    while scale := next((lx.SCALES[f] for f in forms(_at(lower, j)) if f in lx.SCALES), None):
        value, j = value * scale, j + 1
        k = j + (_at(lower, j) == "and")
        rest = _number(lower, k) if _at(lower, k) in lx.CARDINALS and (k > j or scale == 1000) else None
        if rest and rest[0] < scale:
            return value + rest[0], rest[1]
    return value, j
