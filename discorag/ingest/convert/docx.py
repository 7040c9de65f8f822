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

    shown = pack({name: _shown(part) if name.endswith(".xml") else part for name, part in parts.items()})
    result = mammoth.convert_to_html(shown, style_map=_STYLES, convert_image=no_image)
    return html.from_markup(result.value, path)


def _shown(part: bytes) -> bytes:
    """A part without the runs that are marked as hidden; as it is if none are."""
    from lxml import etree

    root = tree_of(part)
    runs = [run for run in root.iter("{*}r") if _is_hidden(run.find("{*}rPr/{*}vanish"))]
    for run in runs:
        if (parent := run.getparent()) is not None:
            parent.remove(run)
    return etree.tostring(root) if runs else part


def _is_hidden(mark: _Element | None) -> bool:
    """Whether the mark is there and not switched off."""
    if mark is None:
        return False
    values = [value for name, value in mark.attrib.items() if str(name).endswith("}val")]
    return not values or values[0] not in _OFF
