"""Texts of the elements of Office Open XML, and changes to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discorag.ingest.convert.equations import UNREADABLE, beside, linear

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_SPACE = {"{http://www.w3.org/XML/1998/namespace}space": "preserve"}


def text_of(element: _Element | None) -> str:
    """The text of all runs in an element."""
    return "" if element is None else "".join(text.text or "" for text in element.iter("{*}t"))


def run_of(text: str, near: _Element) -> _Element:
    """A run with this text, in the namespace of an element near it."""
    from lxml.etree import Element, SubElement

    space = near.tag.rpartition("}")[0] + "}"
    run = Element(f"{space}r")
    SubElement(run, f"{space}t", _SPACE).text = text
    return run


def remove(element: _Element) -> None:
    """Take an element out of its part."""
    if (parent := element.getparent()) is not None:
        parent.remove(element)


def put_content(element: _Element, *, instead_of: _Element) -> None:
    """Put what an element holds in the place of another, or of itself."""
    for child in list(element.iterchildren("*")):
        instead_of.addprevious(child)
    remove(instead_of)


def write_equation(place: _Element, equation: _Element) -> bool:
    """Put a run with an equation where it, or the element around it, stands; true if no line can say it."""
    text, parent = linear(equation), place.getparent()
    if parent is not None:
        shown = beside(text_of(place.getprevious()), text, text_of(place.getnext()))
        parent.replace(place, run_of(shown, parent))
    return text == UNREADABLE
