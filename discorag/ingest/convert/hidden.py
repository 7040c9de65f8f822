"""What a page hides, as far as it says so itself: in ``style`` attributes and in its own style sheets.

Not looked at are other files, rules that hold under a condition (``@media``), and text that is there but cannot be seen
(its colour, size or place).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag
    from soupsieve import SoupSieve
    from tinycss2.ast import Declaration, QualifiedRule

LIBRARIES = ("tinycss2", "cssselect")
_HIDING = {"display": {"none"}, "visibility": {"hidden", "collapse"}}
_SHEETS = "style:not([media]), style[media=all i], style[media=screen i]"


@dataclass(frozen=True)
class _Says:
    """That some elements are shown, or not, and how much it weighs."""

    name: str
    hides: bool
    weight: tuple[bool, bool, tuple[int, int, int], int]
    of: SoupSieve | None = None


def hidden(soup: BeautifulSoup) -> list[Tag]:
    """The outermost and inner elements that a reader of the page does not see.

    The page as a whole is never among them: a page that hides its body has a script that shows it.
    """
    rules = list(_rules(soup))
    hiding = [rule.of for rule in rules if rule.hides and rule.of]
    found = {id(tag): tag for selector in hiding for tag in selector.select(soup)}
    found |= {id(tag): tag for tag in soup.select("[style]") if any(said.hides for said in _inline(tag))}
    return [tag for tag in found.values() if tag.name not in ("html", "body") and _is_hidden(tag, rules)]


def _is_hidden(tag: Tag, rules: list[_Says]) -> bool:
    holding = [*_inline(tag), *(rule for rule in rules if rule.of and rule.of.match(tag))]
    for name in _HIDING:
        said = [one for one in holding if one.name == name]
        if said and max(said, key=lambda one: one.weight).hides:
            return True
    return False


def _inline(tag: Tag) -> Iterator[_Says]:
    from tinycss2 import parse_blocks_contents

    return _said(parse_blocks_contents(str(tag.get("style", ""))), attribute=True)


def _rules(soup: BeautifulSoup) -> Iterator[_Says]:
    from tinycss2 import parse_stylesheet
    from tinycss2.ast import QualifiedRule

    sheets = "\n".join(sheet.get_text() for sheet in soup.select(_SHEETS))
    for order, rule in enumerate(parse_stylesheet(sheets, skip_comments=True, skip_whitespace=True)):
        if isinstance(rule, QualifiedRule):
            yield from _of_rule(rule, order)


def _of_rule(rule: QualifiedRule, order: int) -> Iterator[_Says]:
    from cssselect import SelectorError, parse
    from soupsieve import SelectorSyntaxError, compile
    from tinycss2 import parse_blocks_contents, serialize

    declared = parse_blocks_contents(rule.content)
    if not any(_said(declared)):
        return
    with suppress(SelectorError, SelectorSyntaxError):  # what these libraries do not know hides nothing
        for selector in parse(serialize(rule.prelude)):
            if not selector.pseudo_element:
                of = compile(selector.canonical())
                yield from _said(declared, specificity=selector.specificity(), order=order, of=of)


def _said(
    declared: Sequence[object],
    *,
    attribute: bool = False,
    specificity: tuple[int, int, int] = (0, 0, 0),
    order: int = 0,
    of: SoupSieve | None = None,
) -> Iterator[_Says]:
    from tinycss2.ast import Declaration

    for one in declared:
        if isinstance(one, Declaration) and one.lower_name in _HIDING:
            weight = (one.important, attribute, specificity, order)
            yield _Says(one.lower_name, _word(one) in _HIDING[one.lower_name], weight, of)


def _word(declaration: Declaration) -> str:
    """The value, if it is one word."""
    words = [token.lower_value for token in declaration.value if token.type == "ident"]
    return words[0] if len(words) == 1 else ""
