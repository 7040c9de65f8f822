"""Numbers of lists and headings as a reader sees them: ``c)``, ``iv.``, ``2.1``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

LABEL = "data-label"
"""The attribute of an item for what stands before it instead of a bullet."""

_OPENED, _CLOSED = "\ue000", "\ue001"  # around a label that is on its way through mammoth
_MARKED = re.compile(f"{_OPENED}([^{_CLOSED}]*){_CLOSED}")
_TYPES = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_STYLE = re.compile(r"list-style(?:-type)?\s*:[^;]*?\b(none|(lower|upper)-(?:(alpha|latin)|roman))\b", re.IGNORECASE)
_HUNDREDS = {1000: "M", 900: "CM", 500: "D", 400: "CD", 100: "C"}
_ROMAN = _HUNDREDS | {90: "XC", 50: "L", 40: "XL", 10: "X", 9: "IX", 5: "V", 4: "IV", 1: "I"}
_BOXES = {"☐": "☐", "☑": "☑", "☒": "☒", "\uf0a8": "☐", "\uf0fe": "☑", "\uf0fd": "☒"}  # in Wingdings
_MAX_REPEATS = 20  # letters of "zz...": beyond, a number is written in digits
_OFF = ("0", "false", "off")


def number_items(soup: BeautifulSoup) -> None:
    """Give each item of an ordered list of a page its `LABEL`."""
    for ordered in soup("ol"):
        items = ordered("li", recursive=False)
        step = -1 if ordered.has_attr("reversed") else 1
        number = _integer(ordered.get("start"), 1 if step > 0 else len(items))
        for item in items:
            number = _integer(item.get("value"), number)
            kind = _kind(item) or _kind(ordered) or "decimal"
            item.attrs.setdefault(LABEL, "" if kind == "none" else f"{written(number, kind)}.")
            number += step


def _integer(value: object, default: int) -> int:
    return int(str(value)) if re.fullmatch(r"-?\d{1,9}", str(value)) else default


def _kind(tag: Tag) -> str:
    """The form of a list's numbers that its own attributes name; empty for none."""
    if style := _STYLE.search(str(tag.get("style", ""))):
        return style[1].lower() if not style[2] else f"{style[2].lower()}{'Letter' if style[3] else 'Roman'}"
    return _TYPES.get(str(tag.get("type", "")), "")


def written(number: int, kind: str) -> str:
    """A number in a form that Word names; in digits if it has none there."""
    lower = kind.startswith("lower")
    if kind.endswith("Letter") and 0 < number <= 26 * _MAX_REPEATS:
        letters = chr(ord("A") + (number - 1) % 26) * (1 + (number - 1) // 26)
        return letters.lower() if lower else letters
    if kind.endswith("Roman") and 0 < number < 4000:
        letters = ""
        for value, sign in _ROMAN.items():
            letters += sign * (number // value)
            number %= value
        return letters.lower() if lower else letters
    return f"{number:02}" if kind == "decimalZero" else str(number)


def take_labels(soup: BeautifulSoup) -> None:
    """Make the labels that `Numbering.label` put into a Word file those of its items, or the beginning of its lines.

    An item that only holds those of a deeper level, which mammoth makes up, is dissolved.
    """
    for item in soup("li"):
        inner = item.find(["ol", "ul"], recursive=False)
        if inner is not None and item.get_text() == inner.get_text():
            item.unwrap()
    for text in soup(string=_MARKED):
        found = _MARKED.search(text)
        item = text.find_parent("li")
        if found is None:
            continue
        if item is not None and item.get_text().lstrip().startswith(found[0]):
            item[LABEL] = found[1]
            text.replace_with(_MARKED.sub("", text, count=1))
        else:
            text.replace_with(_MARKED.sub(r"\1 ", text, count=1))


@dataclass
class _Level:
    """A level of a Word list: its first number, its form, and its text, such as ``%1.%2)``."""

    start: int = 1
    kind: str = "decimal"
    text: str = ""
    style: str = ""


@dataclass
class Numbering:
    """The numbers of a Word document's paragraphs, counted in the order in which they are asked for."""

    _lists: dict[str, tuple[str, dict[int, _Level]]] = field(default_factory=dict[str, tuple[str, dict[int, _Level]]])
    _restarts: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    _counts: dict[str, dict[int, int]] = field(default_factory=dict[str, dict[int, int]])

    @classmethod
    def of(cls, root: _Element) -> Numbering:
        """The numbering that the part ``numbering.xml`` defines."""
        abstract = {
            value_of(one, "abstractNumId", own=True): {
                _number(level, "ilvl"): _level(level) for level in one.iter("{*}lvl")
            }
            for one in root.iter("{*}abstractNum")
        }
        found = cls()
        for one in root.iter("{*}num"):
            name, kind = value_of(one, "numId", own=True), value_of(one, "abstractNumId")
            levels = dict(abstract.get(kind, {}))
            for override in one.iter("{*}lvlOverride"):
                at = _number(override, "ilvl")
                levels.update((at, _level(level)) for level in override.iter("{*}lvl"))
                if (start := value_of(override, "startOverride")).isdecimal():
                    found._restarts[name, at] = int(start)
            found._lists[name] = kind, levels
        return found

    def label(self, paragraph: _Element, styles: Mapping[str, Sequence[_Element]]) -> str:
        """The label of a paragraph, marked for `take_labels`; empty if it has no number.

        ``styles`` has each style followed by those that it is based on.
        """
        style = value_of(paragraph, "pPr/{*}pStyle")
        sources = [paragraph, *styles.get(style, [])]
        name = next(filter(None, (value_of(source, "pPr/{*}numPr/{*}numId") for source in sources)), "")
        kind, levels = self._lists.get(name, ("", {}))
        linked = next((str(at) for at, level in levels.items() if style and level.style == style), "0")
        at = int(next(filter(str.isdecimal, (value_of(source, "pPr/{*}numPr/{*}ilvl") for source in sources)), linked))
        level = levels.get(at)
        if level is None or level.kind == "bullet":
            box = _BOXES.get(level.text, "") if level is not None else ""
            return box and f"{_OPENED}{box}{_CLOSED}"
        counts = self._counts.setdefault(kind, {})
        restart = self._restarts.pop((name, at), None)
        counts[at] = restart if restart is not None else counts.get(at, level.start - 1) + 1
        for deeper in [other for other in counts if other > at]:
            del counts[deeper]
        text = re.sub(r"%([1-9])", lambda m: self._shown(counts, levels, int(m[1]) - 1), level.text).strip()
        return f"{_OPENED}{text}{_CLOSED}"

    def _shown(self, counts: Mapping[int, int], levels: Mapping[int, _Level], at: int) -> str:
        level = levels.get(at, _Level())
        return "" if level.kind == "none" else written(counts.get(at, level.start), level.kind)


def value_of(element: _Element, path: str, *, own: bool = False) -> str:
    """The value of a Word property below an element, or of its own attribute; empty if there is none."""
    found, name = (element, path) if own else (element.find(f"{{*}}{path}"), "val")
    if found is None:
        return ""
    return next((value for key, value in found.attrib.items() if key.endswith(f"}}{name}")), "")


def is_on(mark: _Element | None) -> bool:
    """Whether a property of Word is there and not switched off."""
    return mark is not None and not any(v in _OFF for k, v in mark.attrib.items() if k.endswith("}val"))


def _number(element: _Element, name: str) -> int:
    value = value_of(element, name, own=True)
    return int(value) if value.isdecimal() else 0


def _level(element: _Element) -> _Level:
    start = value_of(element, "start")
    kind = "decimal" if is_on(element.find("{*}isLgl")) else value_of(element, "numFmt") or "decimal"
    return _Level(
        int(start) if start.isdecimal() else 0, kind, value_of(element, "lvlText"), value_of(element, "pStyle")
    )
