"""Values in a sentence: amounts with their units, money, percentages, dates, versions, counts and defaults.

Regular expressions, not `pint` or `dateparser`: both read too many ordinary words as units or dates ("in", "a", "at",
"bar", "may"), and the characters of each value must be known exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import isclose

from discorag.schema.values import Span


class ValueKind(StrEnum):
    """What a value is a value of. Values of two kinds are never compared."""

    MONEY = "money"
    PERCENT = "percentage"
    DURATION = "duration"
    QUANTITY = "quantity"
    DATE = "date"
    VERSION = "version"
    COUNT = "count"
    LITERAL = "literal"


@dataclass(frozen=True)
class Value:
    """One value of a sentence.

    Args:
        kind: What it is.
        span: Its characters in the sentence.
        text: As written.
        unit: Base unit of an amount ("day", "gram"), currency of money; empty otherwise.
        number: As written; 0 for dates, versions and literals.
        amount: The number in the base unit.
        step: Half the last digit that is given, in the base unit: "1.5 hours" is exact to 0.05 hours.
        parts: Year, month, day of a date (0 where not given); the numbers of a version.
        is_rough: Whether the sentence says "about" of it.
    """

    kind: ValueKind
    span: Span
    text: str
    unit: str = ""
    number: float = 0
    amount: float = 0
    step: float = 0
    parts: tuple[int, ...] = ()
    is_rough: bool = False

    @property
    def year(self) -> int:
        """The year of a date without month and day; 0 for others."""
        return self.parts[0] if self.kind is ValueKind.DATE and not any(self.parts[1:]) else 0

    @property
    def years(self) -> range:
        """The years of a date: ten for "1990s", a hundred for "1900s"."""
        year = self.parts[0]
        many = 1 if not self.text.endswith("s") else 10 if year % 100 else 100
        return range(year, year + many)

    def is_comparable(self, other: Value) -> bool:
        """Whether the two are values of one kind and unit."""
        return (self.kind, self.unit) == (other.kind, other.unit)

    def is_among(self, others: Iterable[Value]) -> bool:
        """Whether one of these values is the same, perhaps rounded or less precise."""
        return any(self.is_comparable(other) and not self.excludes(other) for other in others)

    def excludes(self, other: Value) -> bool:
        """Whether the two cannot both be the value of one thing: neither is the other, rounded or less precise."""
        if not self.is_comparable(other):
            return False
        match self.kind:
            case ValueKind.DATE:
                one, two = self.years, other.years
                if self.parts[0] and other.parts[0] and (one.stop <= two.start or two.stop <= one.start):
                    return True
                return any(a and b and a != b for a, b in zip(self.parts[1:], other.parts[1:], strict=True))
            case ValueKind.VERSION:
                return any(a != b for a, b in zip(self.parts, other.parts, strict=False))
            case ValueKind.LITERAL:
                return self.text.casefold() != other.text.casefold()
            case _:
                most = max(abs(self.amount), abs(other.amount))
                rounded = min(max(self.step, other.step), _ROUNDED * most)
                room = max(rounded, ROUGH * most * (self.is_rough or other.is_rough))
                apart = abs(self.amount - other.amount)
                return apart > room and not isclose(apart, room, rel_tol=1e-6)


_ROUNDED = 0.05
"""What rounding changes at most, as a share of the amount: "one week" is not 10 days."""
ROUGH = 0.1
"""What "about" leaves open, as a share of the amount."""


def _units(dimension: str, **sizes: float) -> dict[str, tuple[str, float]]:
    return {name.replace("_", " "): (dimension, size) for name, size in sizes.items()}


_UNITS = {
    **_units("day", ms=1e-3 / 86400, millisecond=1e-3 / 86400, s=1 / 86400, sec=1 / 86400, second=1 / 86400),
    **_units("day", min=1 / 1440, minute=1 / 1440, h=1 / 24, hr=1 / 24, hour=1 / 24, day=1, week=7, month=30.4375),
    **_units("day", year=365.25, decade=3652.5, century=36525, centurie=36525),
    **_units("gram", mcg=1e-6, microgram=1e-6, mg=1e-3, milligram=1e-3, g=1, gram=1, kg=1e3, kilogram=1e3),
    **_units("gram", kilo=1e3, t=1e6, tonne=1e6, ton=1e6, pound=453.6, ounce=28.35) | {"\u03bcg": ("gram", 1e-6)},
    **_units("metre", nm=1e-9, nanometre=1e-9, mm=1e-3, millimetre=1e-3, cm=1e-2, centimetre=1e-2, m=1, metre=1),
    **_units("metre", km=1e3, kilometre=1e3, mile=1609.34, inch=0.0254, inche=0.0254, ft=0.3048, foot=0.3048),
    **_units("metre", feet=0.3048, yard=0.9144, meter=1, kilometer=1e3, centimeter=1e-2, millimeter=1e-3),
    **_units("litre", ml=1e-3, millilitre=1e-3, l=1, litre=1, liter=1),
    **_units("hectare", hectare=1, acre=0.4047, sq_km=100) | {"km²": ("hectare", 100.0)},
    **_units("byte", byte=1, kb=1e3, kib=1e3, kilobyte=1e3, mb=1e6, mib=1e6, megabyte=1e6, gb=1e9, gib=1e9),
    **_units("byte", gigabyte=1e9, tb=1e12, tib=1e12, terabyte=1e12),
    **_units("watt", w=1, watt=1, kw=1e3, kilowatt=1e3, mw=1e6, megawatt=1e6),
    **_units("volt", v=1, volt=1),
    **_units("hertz", hz=1, hertz=1, khz=1e3, mhz=1e6, megahertz=1e6, ghz=1e9, gigahertz=1e9),
    **_units("degree", degree=1) | {"°": ("degree", 1.0), "°c": ("celsius", 1.0), "degrees celsius": ("celsius", 1.0)},
}
_CURRENCIES = {"$": "dollar", "usd": "dollar", "dollar": "dollar", "€": "euro", "eur": "euro", "euro": "euro"} | {
    "£": "pound sterling", "gbp": "pound sterling",
}  # fmt: skip
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS = {w: n for n, w in enumerate(_ONES)} | {w: 10 * n for n, w in enumerate(_TENS, start=2)}
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "k": 1e3} | {
    "m": 1e6, "mn": 1e6, "b": 1e9, "bn": 1e9,
}  # fmt: skip
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_SHORT_MONTHS = [name[:3] for name in MONTHS]
MONTH = rf"(?P<month>{'|'.join((*MONTHS, 'Sept', *_SHORT_MONTHS))})"
"""A pattern of a month's name, long or short."""
_MONTH = rf"{MONTH}\b\.?"
_YEAR, _DAY = r"(?:,? (?P<year>[12]\d{3}))?", r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_SPELT = rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_ONES[1:10])}))?|{'|'.join(_ONES)})\b(?: \(\d+\))?"
_NUMBER = rf"(?:{_DIGITS}|{_SPELT})"
_SCALE = rf"(?:[ -]?(?P<scale>{'|'.join(_SCALES)})s?\b)?"
_LONG_UNITS = sorted((re.escape(u) for u in _UNITS if len(u) > 1 or not u.isalpha()), key=len, reverse=True)
_UNIT = "|".join((*_LONG_UNITS, "(?-i:[ghlmstLVW])"))  # "5M users" are not metres, "5G" is not grams
_MINUS = r"(?P<minus>[-−]|\bminus )?"
_ADDRESS = r"(?:\d+\.){3}\d|\d{3}\."
"""The beginning of an IP address, which is not a version: "192.168.0", "10.0.0.1"."""
_ROUGHLY = re.compile(r"\b(?:about|around|approximately|roughly|nearly|almost|some|circa|ca\.)\s+\W?$", re.IGNORECASE)

_PATTERNS: tuple[tuple[ValueKind, re.Pattern[str]], ...] = (
    (ValueKind.LITERAL, re.compile(
        r"\bdefault(?:s|ed)?(?: value)?(?: (?:is|are|was|to|of)|\s*[:=])+\s*\W{0,3}"
        r"(?P<literal>True|False|None|on|off|yes|no|enabled|disabled|(?<=[`'\"“])[\w./-]+)\b", re.IGNORECASE)),
    (ValueKind.DATE, re.compile(r"\b(?P<year>[12]\d{3})-(?P<m>0[1-9]|1[0-2])-(?P<day>[0-3]\d)\b")),
    (ValueKind.DATE, re.compile(rf"\b{_DAY}(?: of)? {_MONTH}{_YEAR}\b")),
    (ValueKind.DATE, re.compile(rf"\b{_MONTH} {_DAY}\b(?!\.\d){_YEAR}\b")),
    (ValueKind.DATE, re.compile(rf"\b{_MONTH},? (?P<year>[12]\d{{3}})\b")),
    (ValueKind.MONEY, re.compile(
        rf"(?:(?<![\w.,])(?P<minus>[-−]))?(?P<currency>[$€£]|\b(?:USD|EUR|GBP) )\s?(?P<number>{_NUMBER}){_SCALE}",
        re.IGNORECASE)),
    (ValueKind.MONEY, re.compile(
        rf"\b(?P<number>{_NUMBER}){_SCALE} ?(?P<currency>dollar|euro|USD|EUR|GBP|€)s?\b", re.IGNORECASE)),
    (ValueKind.PERCENT, re.compile(
        rf"(?<![\w.,]){_MINUS}(?P<number>{_NUMBER})(?: ?%| per ?cent\b| percent\b)", re.IGNORECASE)),
    (ValueKind.DATE, re.compile(
        r"(?:(?<=the )|(?<=early )|(?<=late )|(?<=mid )|(?<=mid-))(?P<year>1[5-9]\d0|20\d0)s\b", re.IGNORECASE)),
    (ValueKind.QUANTITY, re.compile(
        rf"(?<![\w.,$€£]){_MINUS}(?P<number>{_NUMBER}){_SCALE}[ -]?(?P<unit>{_UNIT})s?\b(?![\w-])", re.IGNORECASE)),
    (ValueKind.VERSION, re.compile(
        rf"(?<![\w.$€£/-])(?!{_ADDRESS})v?(?P<version>\d+(?:\.\d+){{2,}}|(?<=v)\d+(?:\.\d+)*)(?![\w%])")),
    (ValueKind.VERSION, re.compile(r"(?<=[a-z])(?P<version>\d+\.\d+)(?![\w%]|\.\w)")),
    (ValueKind.DATE, re.compile(r"(?<![\w.,$€£/-])(?P<year>1[5-9]\d\d|20\d\d)s?(?![\w%]|[.,]\d)")),
    (ValueKind.COUNT, re.compile(
        rf"(?<![\w.,$€£/#−^-])(?<!\w[\[(])(?!(?<=\[)\d+\])(?P<number>{_NUMBER}){_SCALE}(?![\w%]|[.,/-]\w)",
        re.IGNORECASE)),
)  # fmt: skip
_HINT = re.compile(rf"\d|default|\b(?:{'|'.join((*_ONES, *_TENS))})", re.IGNORECASE)
"""What every value has. Most sentences do not have it, so no pattern is tried on them."""
_LABELS = {ValueKind.VERSION, ValueKind.DATE, ValueKind.COUNT}
_LABEL = re.compile(r"(\W*[\d.]+)\)?\s+[A-Z]|(\W*\d+(?:\.\d+){2,})\.?\s+(?!(?:is|was|has|and|or|to)\b)[a-z]")
"""The number of a heading or an exhibit: "10.15 Securities Purchase Agreement", "97.1.12 part: fell off the end"."""
_REFERENCE = re.compile(
    r"\b(?:sections?|chapters?|appendix|pages?|figures?|tables?|notes?|exhibits?|items?|lines?|rfc|issue) "
    r"(?:[\d.]+(?:,? (?:and|or) |, | to ))*$",
    re.IGNORECASE,
)
_VERSION = re.compile(r"\bversions? $")
_VERSIONED = re.compile(r"(?:\bversions?|\b[A-Z]\w+|[<>=]=?)\s?$")


def find_values(sentence: str) -> tuple[Value, ...]:
    """The values of one English sentence, in order; none overlaps another. "One" alone is not a value."""
    found: list[Value] = []
    for kind, pattern in _PATTERNS if _HINT.search(sentence) else ():
        for match in pattern.finditer(sentence):
            value = _read(kind, match)
            if value and not any(v.span.start < value.span.end and value.span.start < v.span.end for v in found):
                found.append(value)
    return tuple(sorted(found, key=lambda v: v.span.start))


def _read(kind: ValueKind, match: re.Match[str]) -> Value | None:
    groups = match.groupdict()
    if kind in _LABELS and (label := _LABEL.match(match.string)) and match.end() <= label.end(label.lastindex or 0):
        return None
    if kind in _LABELS and _REFERENCE.search(match.string, 0, match.start()):
        return None
    start, end = match.span("literal") if kind is ValueKind.LITERAL else match.span()
    text, span = match.string[start:end], Span(start=start, end=end)
    if kind is ValueKind.LITERAL:
        return Value(kind, span, text.rstrip("."))
    if kind is ValueKind.DATE:
        return Value(kind, span, text, parts=_date(groups))
    if kind is ValueKind.VERSION:
        return Value(kind, span, text, parts=tuple(map(int, groups["version"].split("."))))
    before = match.string[:start]
    number, rough = groups["number"], bool(_ROUGHLY.search(before))
    is_plain = kind is ValueKind.COUNT and re.fullmatch(r"\d+(?:\.\d+)?", number)
    if is_plain and (_VERSIONED if "." in number else _VERSION).search(before):
        return Value(ValueKind.VERSION, span, text, parts=tuple(map(int, number.split("."))))
    if kind is ValueKind.COUNT and number.casefold() == "one" and not groups.get("scale"):
        return None
    amount, step = _amount(number, _SCALES.get((groups.get("scale") or "").casefold(), 1))
    amount = -amount if groups.get("minus") else amount
    unit, size = _unit(groups)
    if unit == "day":
        kind = ValueKind.DURATION
    return Value(kind, span, text, unit, amount, amount * size, step * size, is_rough=rough)


def _unit(groups: dict[str, str | None]) -> tuple[str, float]:
    if currency := groups.get("currency"):
        return _CURRENCIES[currency.strip().casefold()], 1
    if unit := groups.get("unit"):
        return _UNITS[unit.casefold()]
    return "", 1


def _amount(number: str, scale: float) -> tuple[float, float]:
    """A number in digits or words, and half its last digit."""
    if number[0].isdigit():
        plain = number.replace(",", "")
        return float(plain) * scale, 0.5 * 10 ** -len(plain.partition(".")[2]) * scale
    words = re.split("[- ]", number.casefold().partition(" (")[0])
    return sum(_WORDS[w] for w in words) * scale, 0.5 * scale


def _date(groups: dict[str, str | None]) -> tuple[int, int, int]:
    name = groups.get("month")
    month = month_number(name) if name else int(groups.get("m") or 0)
    return int(groups.get("year") or 0), month, int(groups.get("day") or 0)


def month_number(name: str) -> int:
    """The number, 1 to 12, of a month that `MONTH` matches."""
    return _SHORT_MONTHS.index(name[:3]) + 1
