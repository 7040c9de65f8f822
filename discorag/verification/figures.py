"""Figures and dates of a text, and whether another text states them: values are compared, not strings.

Amounts, their units and dates are found by `discorag.conflicts.values`, numbers in words by ``text2num``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import isclose

from text_to_num import alpha2digit

from discorag.conflicts.values import MONTH, MONTHS, ROUGH, Value, ValueKind, find_values, month_number
from discorag.schema.values import Span

FEW = 12
"""Counts in words up to here are not looked up: "both sides" may be "two sides", "one in two" "half"."""
_MEASURED = (ValueKind.MONEY, ValueKind.PERCENT, ValueKind.DURATION, ValueKind.QUANTITY)
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?")
_CODE = re.compile(r"(?<![\w.])[A-Za-z][\w’'-]*\d[\w’-]*")
"""A name with digits: "E85", "DC-3"."""
_HALF = re.compile(r"\bhalf an? (?=hundred\b|thousand\b|[mbt]r?illion\b)", re.IGNORECASE)
_SHIELDED = re.compile(r"(?:(?<=\d )|(?<=\d-))(?:hundred|thousand)|[mbt]r?illion", re.IGNORECASE)
"""Scales that `find_values` reads; text2num would make "2.5 million" two numbers."""
_SHIELD = "\N{WORD JOINER}"
_TO = r"(?:st|nd|rd|th)?(?:\s*[-–—,/]\s*|,? (?:to|and|or|until|through|till) (?:[A-Z]\w+day,? )?(?:the )?)"
_DAYS_FIRST = re.compile(rf"\b(?P<day>[0-3]?\d){_TO}(?=(?:[0-3]?\d{_TO})*[0-3]?\d(?:st|nd|rd|th)?(?: of)? {MONTH}\b)")
_DAYS_LAST = re.compile(rf"\b{MONTH}\.? (?P<first>[0-3]?\d(?:{_TO}[0-3]?\d)+)(?:st|nd|rd|th)?\b")
_NUMERIC_DATE = re.compile(r"(?<![\d./-])([0-3]?\d)([./-])([0-3]?\d)\2(\d{4})(?!\d)")
_ALONE = re.compile(rf"\b{MONTH}\b")
_SHORT_RANGE = re.compile(r"(?<![\d-])(?P<first>[12]\d{3})\s?[-–—/]\s?(?P<last>\d\d)(?![\d-])")
_LONG_RANGE = re.compile(r"(?<!\d)([12]\d{3})(?:\s?[-–—]\s?| (?:to|until|through|till) )([12]\d{3})(?!\d)")
_FEW_YEARS = 5
"""A range of so many years states each of them: "four finals from 2015-2018", but not "He lived from 1893 to 1970"."""
_SPLIT_NUMBER = re.compile(
    r"\b((?:twen|thir|for|fif|six|seven|eigh|nine)ty)(?: - |[‐‑–])"
    r"(?=(?:one|two|three|four|five|six|seven|eight|nine)\b)",
    re.IGNORECASE,
)
"""A number in words as transcripts write it: "eighty - six"."""
_SHORT_DECADE = re.compile(r"['’‘](\d0)s\b")
_CENTURY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)[ -]centur", re.IGNORECASE)
_BEFORE = re.compile(r"(?:\W|\b(?:an?|the|its|their|only|just)\b)*$")
_OVER = re.compile(
    r"\b(?:over|above|more than|at least|exceed\w*|no less than|upwards of|greater than)$", re.IGNORECASE
)
_UNDER = re.compile(
    r"\b(?:under|below|less than|fewer than|at most|up to|(?:no|not) more than|within|nearly|almost)$", re.IGNORECASE
)
_BOUND = 1.1
"""How far a figure may be from a bound that a sentence gives for it: 8.91 is "under 9", not "under 20"."""
_DECADE = 10
"""A year stands for its decade ("1834", "the 1830s"), not for its century."""


@dataclass(frozen=True)
class Figures:
    """The figures and dates that a text states.

    Args:
        values: Its values as `find_values` reads them, except dates.
        numbers: All its numbers.
        bare: Its numbers that have no unit, which may stand elsewhere.
        years: Its years, decades and centuries.
        dates: Year, month and day, 0 where it is not given.
    """

    values: tuple[Value, ...]
    numbers: frozenset[float]
    bare: frozenset[float]
    years: tuple[range, ...]
    dates: frozenset[tuple[int, int, int]]


@lru_cache(maxsize=1024)
def read_figures(text: str) -> Figures:
    """The figures and dates of a text."""
    whole = "\n".join(dict.fromkeys((text, in_digits(text, above=0))))
    found = find_values(whole)
    values = tuple(v for v in found if v.kind is not ValueKind.DATE)
    measured = [v.span for v in values if v.kind in _MEASURED]
    numbers, bare = set[float](), {v.amount for v in values if v.kind is ValueKind.COUNT}
    for match in _NUMBER.finditer(whole):
        numbers.add(_number(match))
        if not any(span.start <= match.start() < span.end for span in measured):
            bare.add(_number(match))
    dates = {(v.parts[0], v.parts[1], v.parts[2]) for v in found if v.kind is ValueKind.DATE and not v.year}
    decades = [v.years for v in found if v.year]
    return Figures(
        values=values,
        numbers=frozenset(numbers | bare),
        bare=frozenset(bare),
        years=tuple(dict.fromkeys((*decades, *_years(whole, numbers)))),
        dates=frozenset(dates | {*_more_dates(whole)}),
    )


def in_digits(text: str, *, above: int) -> str:
    """A text with its English numbers in words as digits; numbers up to ``above`` stay unless others are next to
    them.
    """
    text = _SPLIT_NUMBER.sub(r"\1-", _HALF.sub("0.5 ", text))
    shielded = _SHIELDED.sub(lambda m: m[0][0] + _SHIELD + m[0][1:], text)
    return alpha2digit(shielded, "en", threshold=above).replace(_SHIELD, "")


def _number(match: re.Match[str]) -> float:
    return float(match[0].replace(",", ""))


def _years(text: str, numbers: set[float]) -> Iterator[range]:
    yield from (range(int(n), int(n) + 1) for n in numbers if n.is_integer() and 1000 <= n < 2200)
    for match in _SHORT_RANGE.finditer(text):
        yield range(_last_year(match), _last_year(match) + 1)
    for first, last in _LONG_RANGE.findall(text):
        if int(last) - int(first) < _FEW_YEARS:
            yield from (range(year, year + 1) for year in range(int(first), int(last)))
    for decade in map(int, _SHORT_DECADE.findall(text)):
        yield from (range(century + decade, century + decade + 10) for century in (1800, 1900, 2000))
    yield from map(_years_of, _CENTURY.finditer(text))


def _last_year(short_range: re.Match[str]) -> int:
    """The second year of "1954–55" or "1999–02"."""
    first = int(short_range["first"])
    return first + (int(short_range["last"]) - first) % 100


def _years_of(century: re.Match[str]) -> range:
    last = 100 * int(century[1])
    return range(last - 100, last + 1)


def _more_dates(text: str) -> Iterator[tuple[int, int, int]]:
    """The days that share a month ("2 to 6 September", "July 3 and 5"), dates in numbers, and months alone."""
    yield from ((0, month_number(m["month"]), int(m["day"])) for m in _DAYS_FIRST.finditer(text))
    for match in _DAYS_LAST.finditer(text):
        yield from ((0, month_number(match["month"]), int(day)) for day in re.findall(r"\d+", match["first"]))
    for one, _, other, year in _NUMERIC_DATE.findall(text):
        yield int(year), int(one), int(other)
        yield int(year), int(other), int(one)
    yield from ((0, month_number(match["month"]), 0) for match in _ALONE.finditer(text))


@dataclass(frozen=True)
class Figure:
    """A value of a sentence.

    ``bound`` is how far another one may be from it, as a range of quotients. ``century`` are its years, if it is one.
    """

    value: Value
    bound: tuple[float, float] = (1, 1)
    century: range | None = None

    @property
    def text(self) -> str:
        """The value as written."""
        return self.value.text

    @property
    def is_date(self) -> bool:
        """Whether it is a date with a month."""
        return self.value.kind is ValueKind.DATE and not self.value.year


def missing_figures(sentence: str, sources: Sequence[Figures], known: Figures) -> list[Figure]:
    """The figures and dates of an English sentence that no source states.

    A figure counts as stated if it is the sum or difference of others that the sentence gives and a source states, or
    a number or measure, other than a date or year, that is ``known``: the question has it.
    """
    figures = [*find_figures(sentence)]
    unstated = [f for f in figures if not any(is_stated(f, source) for source in sources)]
    stated = [f.value for f in figures if f not in unstated]
    return [f for f in unstated if not (_is_label(f.value, known) or _is_computed(f.value, stated))]


def find_figures(sentence: str) -> Iterator[Figure]:
    """The figures of a sentence; also numbers that `find_values` takes for parts of words ("0-60"), and months."""
    text = in_digits(sentence, above=FEW)
    found = [*_short_years(text)]
    starts = {value.span.start for value in found}
    found += [v for v in find_values(text) if v.kind is not ValueKind.LITERAL and v.span.start not in starts]
    taken = [*(v.span for v in found), *(Span(start=m.start(), end=m.end()) for m in _CODE.finditer(text))]
    for match in _NUMBER.finditer(text):
        if not any(span.start <= match.start() < span.end for span in taken):
            span = Span(start=match.start(), end=match.end())
            found.append(Value(ValueKind.COUNT, span, match[0], number=_number(match), amount=_number(match)))
    for match in _ALONE.finditer(text):
        span = Span(start=match.start(), end=match.end())
        if span.start and match[0] in MONTHS and not any(v.span.contains(span) for v in found):
            found.append(Value(ValueKind.DATE, span, match[0], parts=(0, month_number(match["month"]), 0)))
    for value in found:
        in_words = value.text not in sentence or not any(map(str.isdigit, value.text))
        if not (in_words and value.number <= (1 if value.unit else FEW) and value.kind is not ValueKind.DATE):
            century = _CENTURY.match(text, value.span.start)
            yield Figure(value, _bound(value, text), _years_of(century) if century else None)


def _short_years(text: str) -> Iterator[Value]:
    """The years that a range gives with two digits."""
    for match in _SHORT_RANGE.finditer(text):
        span = Span(start=match.start("last"), end=match.end("last"))
        yield Value(ValueKind.DATE, span, match["last"], parts=(_last_year(match), 0, 0))


def _bound(value: Value, text: str) -> tuple[float, float]:
    before = _BEFORE.sub("", text[: value.span.start])
    if _OVER.search(before):
        return 1, _BOUND
    return (1 / _BOUND, 1) if _UNDER.search(before) else (1, 1)


_CLAUSE_END = re.compile(r"[;()]\s?|[,:](?!\d)\s?| (?:and|but|while|whereas) ")


def clause_around(figure: Figure, text: str) -> str:
    """The part of a text between marks or conjunctions in which a figure stands.

    >>> text = "The mill, which had 1,412 looms, closed."
    >>> clause_around(next(find_figures(text)), text)
    'which had 1,412 looms, '
    """
    at = max(0, text.find(figure.text))
    ends = [0, *(m.end() for m in _CLAUSE_END.finditer(text)), len(text)]
    return text[max(end for end in ends if end <= at) : min((end for end in ends if end > at), default=len(text))]


def find_rival(figure: Figure, sentence: str, sources: Sequence[str]) -> str:
    """The first value of the sources that could be meant instead of a figure, and that the sentence does not give.

    It has the same kind, unit and precision. The result is empty if there is none.
    """
    own = read_figures(sentence)
    others = (other for source in sources for other in find_figures(source) if is_like(other, figure))
    return next((other.text for other in others if not is_stated(other, own)), "")


def is_like(figure: Figure, other: Figure) -> bool:
    """Whether two figures have the same kind, unit and precision, and different numbers."""
    a, b = figure.value, other.value
    same = a.is_comparable(b) and [bool(part) for part in a.parts] == [bool(part) for part in b.parts]
    return same and {*map(_number, _NUMBER.finditer(a.text))} != {*map(_number, _NUMBER.finditer(b.text))}


def is_stated(figure: Figure, source: Figures) -> bool:
    """Whether a text states a figure, in any form of it that is at least as precise."""
    value, century = figure.value, figure.century
    if century and any(century.start <= years.start and years.stop <= century.stop for years in source.years):
        return True
    match value.kind:
        case ValueKind.DATE if value.year:
            return _states_years(source, value.years)
        case ValueKind.DATE:
            return _states_date(source, value.parts)
        case ValueKind.VERSION:
            numbers = map(_number, _NUMBER.finditer(value.text))
            return value.is_among(source.values) or not source.numbers.isdisjoint(numbers)
        case _:
            return _states_amount(source, figure)


def _states_years(source: Figures, own: range) -> bool:
    """Whether a source has the same year or decade, or one within a decade; "1900s" may be a decade or a century."""
    is_within = any(own.start <= years.start and years.stop <= own.stop for years in source.years)
    return own in source.years or (is_within and len(own) <= _DECADE)


def _states_amount(source: Figures, figure: Figure) -> bool:
    value, (low, high) = figure.value, figure.bound
    if value.is_among(source.values):
        return True
    numbers = source.bare if value.kind in _MEASURED else source.numbers
    if value.number in numbers or value.amount in numbers:
        return True
    if value.is_rough and any(isclose(value.number, n, rel_tol=ROUGH) for n in numbers):
        return True
    amounts = [v.amount for v in source.values if v.is_comparable(value)]
    others = amounts if value.kind in _MEASURED else numbers
    return low != high and any(low * value.amount <= other <= high * value.amount for other in others)


def _states_date(source: Figures, parts: Sequence[int]) -> bool:
    """Whether a source has day and month together, and the year with them or, if none is with them, anywhere."""
    year, month, day = parts
    own_years = {own for own, m, d in source.dates if m == month and day in (0, d)}
    is_elsewhere = 0 in own_years and any(years == range(year, year + 1) for years in source.years)
    return bool(own_years) and (not year or year in own_years or is_elsewhere)


def _is_label(value: Value, known: Figures) -> bool:
    if value.kind is ValueKind.COUNT:
        return value.number in known.numbers
    return value.kind in _MEASURED and value.is_among(known.values)


def _is_computed(value: Value, stated: Sequence[Value]) -> bool:
    """Whether a value is the sum or difference of two that the sentence gives, or the sum of all of them."""
    if value.unit == "day":
        years = [v.year for v in stated if v.year]
        if any(value.number == abs(a - b) for a, b in combinations(years, 2)):
            return True
    own = [v.amount for v in stated if v.is_comparable(value) and v.number]
    sums = [sum(own), *(x for a, b in combinations(own, 2) for x in (a + b, abs(a - b)))]
    return value.number > 0 and len(own) > 1 and any(isclose(value.amount, x) for x in sums)
