"""DOCX to Markdown: mammoth makes HTML of it, which is then converted like any HTML."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from discorag.ingest.convert import html
from discorag.ingest.convert.archive import pack, tree_of
from discorag.ingest.convert.converted import Converted

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

LIBRARIES = ("mammoth", *html.LIBRARIES)
_STYLES = """
p[style-name='Title'] => h1.title:fresh
p[style-name='Code'] => pre:separator('\\n')
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='macro'] => pre:separator('\\n')
"""
_OFF = ("0", "false", "off")


def from_docx(parts: Mapping[str, bytes], path: Path) -> Converted:
    """The text of a Word document with its headings, lists, tables and footnotes, without pictures and hidden text.

    Text counts as hidden if it is marked so itself; what a style hides stays. Raises whatever mammoth raises.
    """
    import mammoth

    def no_image(_: object) -> list[object]:
        return []

    shown = pack({name: _prepared(part) if name.endswith(".xml") else part for name, part in parts.items()})
    result = mammoth.convert_to_html(shown, style_map=_STYLES, convert_image=no_image)
    return html.from_markup(result.value, path)


def _prepared(part: bytes) -> bytes:
    """A part without the runs that are marked as hidden, and with cells where a row of a table begins further right.

    It stays as it is if nothing is to be done.
    """
    from lxml import etree

    root = tree_of(part)
    shifts = list(root.iter("{*}gridBefore"))
    for shift in shifts:
        _fill(shift)
    runs = [run for run in root.iter("{*}r") if _is_hidden(run.find("{*}rPr/{*}vanish"))]
    for run in runs:
        if (parent := run.getparent()) is not None:
            parent.remove(run)
    return etree.tostring(root) if runs or shifts else part


def _fill(shift: _Element) -> None:
    """Put an empty cell over the columns that a row leaves out at its left."""
    from lxml import etree

    word = str(shift.tag).removesuffix("gridBefore")
    properties = shift.getparent()
    row = properties.getparent() if properties is not None else None
    if properties is None or row is None:
        return
    empty = etree.Element(f"{word}tc")
    span = {f"{word}val": shift.get(f"{word}val", "1")}
    etree.SubElement(etree.SubElement(empty, f"{word}tcPr"), f"{word}gridSpan", span)
    etree.SubElement(empty, f"{word}p")
    row.insert(row.index(properties) + 1, empty)


def _is_hidden(mark: _Element | None) -> bool:
    """Whether the mark is there and not switched off."""
    if mark is None:
        return False
    values = [value for name, value in mark.attrib.items() if str(name).endswith("}val")]
    return not values or values[0] not in _OFF
