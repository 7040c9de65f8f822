"""Quantities of English text: values with their units, in digits or words, and the times that stand beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from discorag.claims import lexicon as lx
from discorag.claims.words import Word, forms, words

_NUMBER_WORDS = frozenset(lx.CARDINALS) | frozenset(lx.SCALES)
_OPENINGS = frozenset({"a", "an", "half", "every", "each", "per"}).union(
    lx.CARDINALS, lx.FREQUENCIES, lx.MULTIPLES, lx.ORDINALS
)
_TOLERANCE = 0.02  # relative difference that two ways of saying one quantity may have ("90 days", "three months")


@dataclass(frozen=True)
class Quantity:
    """A number and what it counts.

    Args:
        value: In the dimension's base unit; 0.5 for a half.
        raw: As written, before its unit is applied.
        dimension: "time", "mass", ...; "share" for percentages and fractions; "order" for ordinals; "" for a count.
        noun: Stem of the unit or of what is counted; empty if unknown.
        text: As written.
        start: Index of its first word.
        end: Index behind its last word.
        bound: 1 for "at least", -1 for "up to", else 0.

    Example:
        >>> from discorag.claims.quantities import quantities
        >>> hours = quantities("It lasted at least two hours.")[0]
        >>> hours.text, hours.raw, hours.dimension, hours.bound
        ('two hours', 2.0, 'time', 1)
        >>> hours.same(quantities("It took 120 minutes.")[0])
        True
    """

    value: float
    raw: float
    dimension: str
    noun: str
    text: str
    start: int
    end: int
    bound: int = 0

    def same(self, other: Quantity) -> bool:
        """Whether both may state one quantity."""
        exact = abs(self.value - other.value) <= 1e-9 * max(1.0, abs(self.value))
        if self.dimension == other.dimension:
            close = abs(self.value - other.value) <= _TOLERANCE * abs(other.value) and self.noun != other.noun
            return exact or (close and self.dimension in ("time", "share", "length", "mass"))
        if {self.dimension, other.dimension} == {"time", "every"}:
            return exact
        return self.raw == other.raw and "" in (self.dimension, other.dimension) and self.stated and other.stated

    @property
    def stated(self) -> bool:
        """Whether it is said with a number, not with "a" or "daily"."""
        first = re.split(r"\W", self.text.lower())[0]
        return self.dimension != "every" and (self.raw != 1 or first.isdecimal() or first in _NUMBER_WORDS)


@lru_cache(maxsize=4096)
def quantities(sentence: str) -> tuple[Quantity, ...]:
    """The quantities of one sentence in order."""
    tokens, found, i = words(sentence), list[Quantity](), 0
    while i < len(tokens):
        quantity = _at(tokens, i) if _opens(tokens[i].lower) else None
        if quantity is None:
            i += 1
        else:
            found.append(quantity)
            i = quantity.end
    return tuple(found)


def _opens(word: str) -> bool:
    """Whether a quantity can begin with this word."""
    return word in _OPENINGS or word[0].isdecimal() or not forms(word).isdisjoint(lx.FRACTIONS)


def _at(tokens: tuple[Word, ...], i: int) -> Quantity | None:
    for reader in (_half_more, _half_of, _fraction, _frequency, _multiple, _ordinal, _share, _cardinal):
        quantity = reader(tokens, i)
        if quantity is not None:
            return quantity
    return None


def _lower(tokens: tuple[Word, ...], i: int) -> str:
    return tokens[i].lower if 0 <= i < len(tokens) else ""


def _made(tokens: tuple[Word, ...], span: tuple[int, int], raw: float, unit: _Unit) -> Quantity:
    start, end = span
    text = " ".join(t.text for t in tokens[start:end]).replace(" - ", "-").removesuffix(" -")
    bound = _bound(tokens, start, end)
    return Quantity(raw * unit.size, raw, unit.dimension, unit.noun, text, start, end, bound)


def _bound(tokens: tuple[Word, ...], start: int, end: int) -> int:
    before = " " + " ".join(t.lower for t in tokens[max(0, start - 4) : start])
    after = " ".join(t.lower for t in tokens[end : end + 2])
    if before.endswith(tuple(f" {p}" for p in lx.NOT_LESS)):
        return 1
    if before.endswith(tuple(f" {p}" for p in lx.AT_MOST)) or after in lx.OR_LESS:
        return -1
    return int(before.endswith(tuple(f" {p}" for p in lx.AT_LEAST)) or after in lx.OR_MORE)


def _number(tokens: tuple[Word, ...], i: int) -> tuple[float, int] | None:
    """The value of the digits or number words at ``i``, and the index behind them."""
    word = _lower(tokens, i)
    if word[:1].isdecimal():
        return _scaled(tokens, _digits(word), i + 1)
    if word in ("a", "an") and _lower(tokens, i + 1) in lx.SCALES:
        return _scaled(tokens, 1.0, i + 1)
    if word not in lx.CARDINALS:
        return None
    value, j = float(lx.CARDINALS[word]), i + 1
    ones = j + (_lower(tokens, j) == "-")
    if value >= 20 and 0 < lx.CARDINALS.get(_lower(tokens, ones), 0) < 10:
        value, j = value + lx.CARDINALS[_lower(tokens, ones)], ones + 1
    return _scaled(tokens, value, j)


def _digits(word: str) -> float:
    groups = word.split(",")
    plain = "".join(groups) if all(len(g.split(".")[0]) == 3 for g in groups[1:]) else word.replace(",", ".")
    head, *rest = plain.split(".")
    return float(head + ("." + "".join(rest) if rest else ""))


def _scaled(tokens: tuple[Word, ...], value: float, j: int) -> tuple[float, int]:
    while (scale := _scale(_lower(tokens, j))) is not None:
        value, j = value * scale, j + 1
        k = j + (_lower(tokens, j) == "and")
        rest = _number(tokens, k) if _lower(tokens, k) in lx.CARDINALS and (k > j or scale == 1000) else None
        if rest and rest[0] < scale:
            return value + rest[0], rest[1]
    return value, j


def _scale(word: str) -> float | None:
    return next((lx.SCALES[form] for form in forms(word) if form in lx.SCALES), None) if word else None


@dataclass(frozen=True)
class _Unit:
    """What a number counts: dimension, size in its base unit, stem, and the index behind it."""

    dimension: str
    size: float
    noun: str
    end: int


def _unit(tokens: tuple[Word, ...], j: int) -> _Unit:
    if _lower(tokens, j) == "-":
        j += 1
    first, second = _lower(tokens, j), _lower(tokens, j + 1)
    if first == "percentage" and second.startswith("point"):
        return _Unit("points", 1.0, "point", j + 2)
    if first == "per" and second == "cent":
        return _Unit("share", 0.01, "percent", j + 2)
    for form in forms(first) if first else ():
        name = form.replace("meter", "metre").replace("liter", "litre")
        if name in lx.UNITS and name != "second":
            return _Unit(*lx.UNITS[name], name, j + 1)
    return _Unit("", 1.0, _counted(tokens, j), j)


def _counted(tokens: tuple[Word, ...], j: int) -> str:
    """Stem of the first content word of the three at ``j`` that no mark or preposition precedes."""
    for word in tokens[j : j + 3]:
        if word.content:
            return word.stem
        if word.mark or word.lower in lx.PREPOSITIONS:
            break
    return ""


def _cardinal(tokens: tuple[Word, ...], i: int) -> Quantity | None:
    read = _number(tokens, i)
    if read is None:
        return None
    value, j = read
    sign = {"$": "dollar", "€": "euro", "£": "pound"}.get(_lower(tokens, i - 1))
    if sign:
        return _made(tokens, (i, j), value, _Unit(sign, 1.0, sign, j))
    if _lower(tokens, j) in ("st", "nd", "rd", "th"):
        return _made(tokens, (i, j + 1), value, _Unit("order", 1.0, "", j + 1))
    unit = _unit(tokens, j)
    year = 1000 <= value <= 2100 and tokens[i].text.isdecimal() and j == i + 1
    if year and not unit.dimension and _lower(tokens, i - 1) not in ("the", "all"):
        unit = _Unit("", 1.0, "", j)
    value, end = _and_a_half(tokens, value, unit.end)
    return _made(tokens, (i, end), value, unit)


def _and_a_half(tokens: tuple[Word, ...], value: float, j: int) -> tuple[float, int]:
    after = tuple(_lower(tokens, k) for k in range(j, j + 3))
    return (value + 0.5, j + 3) if after == ("and", "a", "half") else (value, j)


def _half_more(tokens: tuple[Word, ...], i: int) -> Quantity | None:
    """Such as "a year and a half", "two and a half hours"."""
    read = _number(tokens, i)
    if read and _and_a_half(tokens, 0, read[1])[1] > read[1]:
        unit = _unit(tokens, read[1] + 3)
        return _made(tokens, (i, unit.end), read[0] + 0.5, unit)
    if _lower(tokens, i) not in ("a", "an"):
        return None
    unit = _unit(tokens, i + 1)
    value, end = _and_a_half(tokens, 1.0, unit.end)
    half_more = bool(unit.dimension) and end > unit.end
    return _made(tokens, (i, end), value, unit) if half_more or unit.dimension == "time" else None


def _half_of(tokens: tuple[Word, ...], i: int) -> Quantity | None:
    """Such as "half an hour", "half a million"."""
    if _lower(tokens, i) != "half" or _lower(tokens, i + 1) not in ("a", "an"):
        return None
    read = _number(tokens, i + 1)
    unit = _unit(tokens, read[1] if read else i + 2)
    return _made(tokens, (i, unit.end), (read[0] if read else 1.0) / 2, unit) if read or unit.dimension else None


def _fraction(tokens: tuple[Word, ...], i: int) -> Quantity | None:
    word = _lower(tokens, i)
    parts = 1.0 if word in ("a", "an") else float(lx.CARDINALS.get(word, 0))
    j = i + (1 if parts else 0)
    j += bool(parts) and _lower(tokens, j) == "-"
    name = next((f for f in forms(_lower(tokens, j) or "-") if f in lx.FRACTIONS), "")
    after = _lower(tokens, j + 1)
    point = after.startswith("point")
    if not name or after in lx.NO_FRACTION.get(name, ()):
        return None
    alone = name == "half" and _lower(tokens, i - 1) not in lx.HALF_OF_A_MATCH
    if not (parts or alone or after == "of" or point):
        return None
    unit = _Unit("points" if point else "share", 1.0, name, j + 1 + point)
    return _made(tokens, (i, unit.end), (parts or 1.0) / lx.FRACTIONS[name], unit)


def _frequency(tokens: tuple[Word, ...], i: int) -> Quantity | None:
    """Such as "daily", "every week", "every two months"; the value is the days between."""
    word = _lower(tokens, i)
    if word in lx.FREQUENCIES:
        name = lx.FREQUENCIES[word]
        return _made(tokens, (i, i + 1), lx.UNITS[name][1], _Unit("every", 1.0, name, i + 1))
    rate = word in ("a", "an") and _lower(tokens, i - 1) in ("once", "twice", "times")
    if not rate and word not in ("every", "each", "per"):
        return None
    value, j = _number(tokens, i + 1) or (1.0, i + 1)
    unit = _unit(tokens, j)
    each = _Unit("every", 1.0, unit.noun, unit.end)
    return _made(tokens, (i, unit.end), value * unit.size, each) if unit.dimension == "time" else None


def _multiple(tokens: tuple[Word, ...], i: int) -> Quantity | None:
    word = _lower(tokens, i)
    once = word == "once" and _lower(tokens, i + 1) not in ("a", "every", "per", "each")
    if word not in lx.MULTIPLES or once:
        return None
    return _made(tokens, (i, i + 1), lx.MULTIPLES[word], _Unit("times", 1.0, "times", i + 1))


def _ordinal(tokens: tuple[Word, ...], i: int) -> Quantity | None:
    value = lx.ORDINALS.get(_lower(tokens, i))
    if value is None:
        return None
    return _made(tokens, (i, i + 1), float(value), _Unit("order", 1.0, _unit(tokens, i + 1).noun, i + 1))


def _share(tokens: tuple[Word, ...], i: int) -> Quantity | None:
    """Such as "one in five", "nine out of ten"."""
    read = _number(tokens, i)
    if read is None or _unit(tokens, read[1]).dimension:
        return None
    j = read[1] + (1 if _lower(tokens, read[1]) == "in" else 2)
    joined = " ".join(_lower(tokens, k) for k in range(read[1], j))
    whole = _number(tokens, j) if joined in ("in", "out of") else None
    if whole is None or not read[0] < whole[0] <= 1000:
        return None
    return _made(tokens, (i, whole[1]), read[0] / whole[0], _Unit("share", 1.0, "in", whole[1]))
