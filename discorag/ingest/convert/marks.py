"""Marks that change what a text says: raised, lowered and struck characters, equations, check boxes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from discorag.ingest.convert.archive import tree_of
from discorag.ingest.convert.equations import EQUATION, UNREADABLE, beside, linear

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag
    from bs4.element import NavigableString, PageElement

STRUCK, HIDDEN = "struck passage", "hidden text"
CHECKED, UNCHECKED = "☑", "☐"

_NEAR = 3  # texts next to an equation, which may be white space in elements around it
_SLASHES = ("/", "\u2044", "\u2215")
_NUMBER = re.compile(r"[+\u2212\u2013-]?\d+(?:[.,]\d+)?")
_EXPRESSION = re.compile(r"[+\u2212\u2013-]?[^\W_](?:[\w.,+\u2212\u2013*/=^()\u00b7\u00d7\u22c5-]{0,22}[\w)])?")
_SPACED = re.compile(r"\s*([+\u2212\u2013*/=\u00b7\u00d7\u22c5-])\s*")
"""A sign of an expression with the white space around it."""
_LONGEST = 48  # characters of an expression with its white space
_ORDINAL = re.compile(r"st|nd|rd|th|[eo]|er|re|nde?|e?me|ème|[oa]s|[aªº]", re.IGNORECASE)
_ELEMENT = re.compile(r"(?:(?:^|[^A-Za-z])(?:[A-Z][a-z]?)+|[(\[](?:[A-Z][a-z]?\d*)+[)\]])$")
"""The end of a chemical formula, or a capital letter: what stands below the line there is usually written in it."""


class Run(NamedTuple):
    """Characters of one form: on the line (0), above (1) or below it (-1)."""

    text: str
    level: int = 0


def join_runs(runs: Iterable[Run]) -> str:
    """Runs as one text: ``10^6``, ``x_1``, ``1/2``; ordinals ("1st") and formulas of chemistry (H2O) as they stand."""
    merged: list[Run] = []
    for run in runs:
        if merged and merged[-1].level == run.level:
            merged[-1] = Run(merged[-1].text + run.text, run.level)
        elif run.text:
            merged.append(run)
    text, at = "", 0
    while at < len(merged):
        now, then, last = (merged[i] if i < len(merged) else Run("") for i in range(at, at + 3))
        if now.level > 0 and then.text.strip() in _SLASHES and last.level < 0:
            text += beside(text, f"{now.text.strip()}/{last.text.strip()}", "")
            at += 2
        elif now.level > 0:
            text += _raised(now.text, text)
        elif now.level < 0:
            text += _lowered(now.text, text, then.text)
        else:
            text += now.text
        at += 1
    return text


def _inside(text: str) -> str:
    """A raised or lowered text without the white space around its signs, unless it is too long to be an expression."""
    inside = text.strip()
    return _SPACED.sub(r"\1", inside) if len(inside) <= _LONGEST else inside


def _raised(text: str, before: str) -> str:
    """A text above the line, as it is written behind ``before``."""
    inside, last = _inside(text), before[-1:]
    if _NUMBER.fullmatch(inside):
        return f"^{text}"
    if not _EXPRESSION.fullmatch(inside) or (len(inside) > 1 and inside.isalpha()) or not last.strip():
        return text
    if (last.isdigit() or last.isupper()) and _ORDINAL.fullmatch(inside):
        return text
    return f"^{inside}" if len(inside) == 1 else f"^({inside})"


def _lowered(text: str, before: str, after: str) -> str:
    """A text below the line, as it is written between two others."""
    inside = _inside(text)
    if not _EXPRESSION.fullmatch(inside) or not before[-1:].strip():
        return text
    is_formula = (_NUMBER.fullmatch(inside) or inside == "x") and _ELEMENT.search(before[-20:])
    if is_formula and not after[:1].isdigit():
        return text
    return f"_{inside}" if inside.isalpha() or _NUMBER.fullmatch(inside) else f"_({inside})"


def write_marks(soup: BeautifulSoup) -> Counter[str]:
    """Write equations, raised and lowered characters and check boxes of a page as text, and count what is not read."""
    unread = Counter({EQUATION: sum(_write_equation(tag, soup) for tag in soup(re.compile(r"^(?:\w+:)?math$")))})
    scripts = soup(["sup", "sub"])
    inner = [tag for tag in scripts if tag.find_parent(["sup", "sub"])]
    for tag in (*reversed(inner), *scripts):
        if tag.parent is not None:
            _write_script(tag)
    for tag in soup.select("input[type=checkbox i], input[type=radio i]"):
        if (after := _text_after(tag)).strip() or tag.find_parent("td"):
            gap = "" if after[:1].isspace() or not after else " "
            tag.replace_with(f"{CHECKED if tag.has_attr('checked') else UNCHECKED}{gap}")
    _join_texts(soup)
    return +unread


def _join_texts(soup: BeautifulSoup) -> None:
    """Make one text of those that follow each other: Beautiful Soup's own `smooth` takes quadratic time."""
    for text in soup(string=True):
        if text.parent is None or not _is_words(text):
            continue
        others = list(takewhile(_is_words, text.next_siblings))
        for other in others:
            other.extract()
        if others:
            text.replace_with("".join(map(str, (text, *others))))


def _is_words(node: PageElement) -> TypeGuard[NavigableString]:
    from bs4.element import NavigableString, PreformattedString

    return isinstance(node, NavigableString) and not isinstance(node, PreformattedString)


def _write_equation(tag: Tag, soup: BeautifulSoup) -> bool:
    """Write an equation in its line; true if no line can say it."""
    text = linear(tree_of(str(tag).encode(), recover=True))
    line = soup.new_string(beside(_text_before(tag), text, _text_after(tag)))
    tag.replace_with(line)
    _join_lines(line.find_all_previous(string=True, limit=_NEAR), re.compile(r"\s+$"))
    _join_lines(line.find_all_next(string=True, limit=_NEAR), re.compile(r"^\s+"))
    return text == UNREADABLE


def _join_lines(texts: Iterable[NavigableString], edge: re.Pattern[str]) -> None:
    """Make a line break of the source next to an equation a space: else the equation may look like a new sentence."""
    for text in texts:
        text.replace_with(edge.sub(" ", text))
        if text.strip():
            return


def _write_script(tag: Tag) -> None:
    """Write a raised or lowered text of a line, or a fraction that begins with it."""
    before, after, then = _text_before(tag), _text_after(tag), tag.next_sibling
    runs = [Run(before), Run(tag.get_text(), 1 if tag.name == "sup" else -1)]
    below = then.next_sibling if then is not None and after.strip() in _SLASHES else None
    if then is not None and below is not None and getattr(below, "name", "") == "sub":
        runs += [Run(after), Run(below.get_text(), -1)]
        then.extract()
        below.extract()
        after = ""
    else:
        runs.append(Run(after))
    whole = join_runs(runs)
    tag.replace_with(whole[len(before) : len(whole) - len(after)])


def _text_before(tag: Tag) -> str:
    found = tag.find_previous(string=True)
    return str(found) if found is not None else ""


def _text_after(tag: Tag) -> str:
    """The text right behind an element: that of the next thing in its line."""
    then = tag.next_sibling
    return then.get_text() if then is not None else ""
