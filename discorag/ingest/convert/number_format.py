"""Values of a spreadsheet as a number format shows them (ECMA-376, part 1, 18.8.30), in English."""

import re
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

Value = str | bool | int | float | date | time | timedelta  # a datetime is a date

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|(?P<blank>_.)|\*.|\[\$(?P<currency>[^\]-]*)(?:-(?P<locale>[0-9A-F]+))?\]'
    r"|\[(?P<elapsed>h+|m+|s+)\]|\[(?P<condition>(?:[<>]=?|<>|=)-?[\d.]+)\]|\[[^\]]*\]|(?P<half>AM/PM|A/P)"
    r"|(?P<general>General)|(?P<time>y+|m+|d+|h+|s+(?:\.0+)?)|(?P<power>E[+-][0#?]*)|(?P<sign>[0#?.,%@/])|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_PLACES = "0#?"
_ENGLISH = ("", "409", "809", "1009", "C09", "1409", "1809")
_OF_SYSTEM = ("mm-dd-yy", "F800", "F400")  # dates and times as the reader's system writes them
_COMPARE = {"<": (-1,), ">": (1,), "=": (0,), "<=": (-1, 0), ">=": (0, 1), "<>": (-1, 1)}


class _Token(NamedTuple):
    kind: str
    text: str


class _Section(NamedTuple):
    tokens: tuple[_Token, ...]
    condition: str
    is_date: bool


def shown(value: Value, code: str) -> str:
    """``value`` as a cell of this number format shows it; as it is stored where a format is beyond this module."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool):
        return str(value).upper()
    if code == "General":
        return _stored(value)
    try:
        section, is_absolute = _chosen(value, _sections(code))
        if isinstance(value, int | float):
            found = None if section.is_date else _number(Decimal(repr(value)), section.tokens, is_absolute=is_absolute)
        else:
            found = None if any(one in code for one in _OF_SYSTEM) else _date(value, section.tokens)
    except (ArithmeticError, ValueError):
        found = None
    return _stored(value) if found is None else " ".join(found.split())


def _stored(value: Value) -> str:
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    return f"{value:.15g}" if isinstance(value, float) else str(value)


@lru_cache(maxsize=512)
def _sections(code: str) -> tuple[_Section, ...]:
    """The parts of a code between semicolons, each for numbers of some sign, or that meet a condition."""
    sections: list[list[_Token]] = [[]]
    conditions = [""]
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup or ""
        if kind == "other" and match["other"] == ";":
            sections.append([])
            conditions.append("")
        elif kind == "condition":
            conditions[-1] = match["condition"]
        elif kind == "locale" and (locale := match["locale"].lstrip("0").upper()) not in _ENGLISH:
            sections[-1] += [_Token("literal", match["currency"]), _Token("foreign", locale)]
        elif kind in {"quoted", "escaped", "currency", "locale", "other"}:
            sections[-1].append(_Token("literal", match["currency" if kind == "locale" else kind]))
        elif kind:
            sections[-1].append(_Token(kind, " " if kind == "blank" else match[kind]))
    return tuple(
        _Section(tuple(tokens), condition, any(one.kind in {"time", "elapsed", "half"} for one in tokens))
        for tokens, condition in zip(sections, conditions, strict=True)
    )


def _chosen(value: Value, sections: tuple[_Section, ...]) -> tuple[_Section, bool]:
    """The section for a value, and whether this says itself that the value is negative."""
    if not isinstance(value, int | float) or len(sections) == 1:
        return sections[0], False
    if any(section.condition for section in sections):
        found = (section for section in sections[:3] if not section.condition or _meets(value, section.condition))
        return next(found, sections[0]), False
    if value < 0:
        return sections[1], True
    return sections[2 if value == 0 and len(sections) > 2 else 0], False


def _meets(value: float, condition: str) -> bool:
    sign, bound = condition.rstrip("-.0123456789"), float(condition.lstrip("<>="))
    return (value > bound) - (value < bound) in _COMPARE[sign]


def _number(value: Decimal, tokens: tuple[_Token, ...], *, is_absolute: bool) -> str | None:
    signs = "".join(token.text for token in tokens if token.kind == "sign")
    minus = "-" if value < 0 and not is_absolute else ""
    if any(token.kind == "general" for token in tokens):
        plain = f"{float(abs(value)):.15g}"
        return minus + "".join(plain if token.kind == "general" else _literal(token) for token in tokens)
    if not any(place in signs for place in _PLACES):
        return None if "@" in signs else "".join(map(_literal, tokens))
    value = abs(value) * 100 ** signs.count("%")
    if "/" in signs:
        return minus + _fraction(value, signs)
    if power := next((token.text for token in tokens if token.kind == "power"), ""):
        return minus + _scientific(value, signs, power) if power[2:] else None
    whole_places, _, part_places = signs.replace("%", "").partition(".")
    value /= 1000 ** sum(len(places) - len(places.rstrip(",")) for places in (whole_places, part_places))
    least, most = part_places.count("0"), sum(map(part_places.count, _PLACES))
    whole, _, part = f"{value.quantize(Decimal(1).scaleb(-most), ROUND_HALF_UP):f}".partition(".")
    part = part[:least] + part[least:].rstrip("0")
    digits = whole.lstrip("0").rjust(whole_places.count("0"), "0")
    if "," in whole_places.rstrip(","):
        return minus + _placed(tokens, [f"{int(digits or 0):,}".rjust(len(digits), "0") if digits else ""], part)
    return minus + _placed(tokens, _split(digits, sum(map(whole_places.count, _PLACES))), part)


def _split(digits: str, places: int) -> list[str]:
    """The digits of a whole number for each place, from the right; the first takes all that are left."""
    if places < 2:
        return [digits]
    cut = max(0, len(digits) - places + 1)
    return [digits[:cut], *digits[cut:].rjust(places - 1, "\0")]


def _placed(tokens: tuple[_Token, ...], digits: list[str], part: str) -> str:
    """The text of a number: its digits where the places are, and what stands between them."""
    text, is_part = "", False
    waiting = iter(digits)
    for token in tokens:
        if token.text == "." and token.kind == "sign" and not is_part:
            text, is_part = text + (f".{part}" if part else ""), True
        elif token.kind == "sign" and token.text in _PLACES:
            text += "" if is_part else next(waiting, "").strip("\0")
        elif token.kind != "sign" or token.text == "%":
            text += _literal(token)
    return text


def _literal(token: _Token) -> str:
    return token.text if token.kind in {"literal", "blank"} or token.text == "%" else ""


def _fraction(value: Decimal, signs: str) -> str:
    """A number in fractions, as in "1 1/2". Raises `ValueError` if the format names the denominator ("# ?/10")."""
    over, under = signs.split("/", 1)
    if "0" in under or not under:
        raise ValueError(signs)
    whole = int(value) if len(over) > len(over.rstrip("?0#")) and "#" in over[:1] else 0
    rest = Fraction(value - whole)
    near = rest.limit_denominator(10 ** len(under) - 1)
    whole, near = (whole + 1, Fraction(0)) if near == 1 and whole else (whole, near)
    parts = [str(whole)] * bool(whole) + [f"{near.numerator}/{near.denominator}"] * bool(near)
    return " ".join(parts) or "0"


def _scientific(value: Decimal, signs: str, power: str) -> str:
    decimals = sum(map(signs.partition(".")[2].count, _PLACES))
    number, _, exponent = f"{value:.{decimals}E}".partition("E")
    sign = "-" if exponent.startswith("-") else "+" * ("+" in power)
    return f"{number}E{sign}{abs(int(exponent)):0{power.count('0')}}"


def _date(value: date | time | timedelta, tokens: tuple[_Token, ...]) -> str | None:
    """A point in time; None if the format names months or days in another language, or asks for what is not known."""
    words = [token.text.lower() for token in tokens if token.kind == "time"]
    if any(token.kind == "foreign" for token in tokens) and any(word.startswith(("mmm", "ddd")) for word in words):
        return None
    if not any(token.kind in {"time", "elapsed"} for token in tokens):
        return None
    if isinstance(value, timedelta):
        value = datetime(1899, 12, 30) + value
    elif isinstance(value, time):
        value = datetime.combine(date(1899, 12, 30), value)
    elif not isinstance(value, datetime):
        value = datetime.combine(value, time())
    value = _rounded(value, words)
    is_half = any(token.kind == "half" for token in tokens)
    text, last = "", ""
    for i, token in enumerate(tokens):
        unit = token.text.lower()
        if token.kind == "elapsed":
            text, last = text + _elapsed(value, unit), unit
        elif token.kind == "time":
            following = next((one.text.lower() for one in tokens[i + 1 :] if one.kind in {"time", "elapsed"}), "")
            is_minute = unit in {"m", "mm"} and (last.startswith("h") or following.startswith("s"))
            text, last = text + _unit(value, "minute" + unit if is_minute else unit, is_half=is_half), unit
        elif token.kind == "half":
            name = "AM" if value.hour < 12 else "PM"
            text += name if unit == "am/pm" else name[0]
        else:
            text += token.text if token.kind == "sign" else _literal(token)
    return text


def _rounded(value: datetime, words: list[str]) -> datetime:
    """``value`` with the parts of a second that its format shows; unchanged if it shows no seconds."""
    shown = [len(word.partition(".")[2]) for word in words if word.startswith("s")]
    step = 10 ** (6 - max(shown)) if shown and max(shown) < 6 else 1
    return value + timedelta(microseconds=(value.microsecond + step // 2) // step * step - value.microsecond)


def _elapsed(value: datetime, unit: str) -> str:
    seconds = round((value - datetime(1899, 12, 30)).total_seconds())
    return str(seconds // {"h": 3600, "m": 60, "s": 1}[unit[0]]).rjust(len(unit), "0")


def _unit(value: datetime, unit: str, *, is_half: bool) -> str:
    """One part of a point in time, as "yyyy", "mmm" or "ss.0" asks for it."""
    if unit.startswith("minute"):
        return f"{value.minute:0{len(unit) - 6}}"
    if unit.startswith("y"):
        return f"{value:%Y}" if len(unit) > 2 else f"{value:%y}"
    if unit.startswith("s"):
        seconds, _, part = unit.partition(".")
        return f"{value.second:0{len(seconds)}}" + (f".{value.microsecond:06}"[: 1 + len(part)] if part else "")
    if unit.startswith("h"):
        return f"{(value.hour % 12 or 12) if is_half else value.hour:0{len(unit)}}"
    if len(unit) < 3:
        return f"{value.month if unit.startswith('m') else value.day:0{len(unit)}}"
    name = f"{value:%B}" if unit.startswith("m") else f"{value:%A}"
    return name[0] if len(unit) == 5 else name if len(unit) == 4 else name[:3]
