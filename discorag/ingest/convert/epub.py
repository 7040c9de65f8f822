"""EPUB to Markdown: its XHTML pages in reading order, each converted like any HTML."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from discorag.ingest.convert import html
from discorag.ingest.convert.archive import tree_of
from discorag.ingest.convert.converted import Converted, stated_title

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

LIBRARIES = html.LIBRARIES
_PAGES = ("application/xhtml+xml", "text/html")
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_TYPE = "{http://www.idpf.org/2007/ops}type"
_NCX = "application/x-dtbncx+xml"
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)


def from_epub(parts: Mapping[str, bytes], path: Path) -> Converted:
    """The text of a book; a chapter without a heading gets the one that the table of contents has for it.

    What its pages or its own style sheets hide is left out, and so is the table of contents.
    """
    package = next(tree_of(parts["META-INF/container.xml"]).iter("{*}rootfile")).get("full-path")
    book = tree_of(parts[package])
    items = [(item, _resolve(package, item.get("href", ""))) for item in book.iter("{*}item")]
    pages = {item.get("id"): name for item, name in items if item.get("media-type") in _PAGES and not _is_nav(item)}
    labels: dict[str, str] = {}
    for item, name in items:
        if name in parts and (_is_nav(item) or item.get("media-type") == _NCX):
            for page, label in _contents(tree_of(parts[name]), name):
                labels.setdefault(page, label)
    order = [pages[ref] for item in book.iter("{*}itemref") if (ref := item.get("idref")) in pages]
    chapters = [_chapter(parts, name, labels.get(name, ""), path) for name in order if name in parts]
    title = next(book.iter(_TITLE), None)
    text = "\n\n".join(chapter.text for chapter in chapters if chapter.text)
    unread = sum((chapter.unread for chapter in chapters), Counter[str]())
    return Converted(text, title=stated_title(_text(title)), unread=unread)


def _contents(table: _Element, name: str) -> Iterator[tuple[str, str]]:
    """The pages to which the entries of a table of contents lead, and what these say."""
    tocs = [nav for nav in table.iter("{*}nav") if "toc" in nav.get(_TYPE, "").split()]
    for entry in (entry for toc in tocs or [table] for entry in toc.iter("{*}a", "{*}navPoint")):
        content = entry.find("{*}content")  # of EPUB 2
        target, label = (entry, entry) if content is None else (content, entry.find("{*}navLabel"))
        yield _resolve(name, target.get("href" if content is None else "src", "")), _text(label)


def _text(element: _Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())


def _is_nav(item: _Element) -> bool:
    return "nav" in item.get("properties", "").split()


def _chapter(parts: Mapping[str, bytes], name: str, heading: str, path: Path) -> Converted:
    def read_linked(href: str) -> str:
        return parts.get(_resolve(name, href), b"").decode("utf-8", "replace")

    page = html.from_html(parts[name], path, read_linked=read_linked)
    has_heading = not page.text or not heading or _HEADING.search(page.text)
    return page if has_heading else replace(page, text=f"# {heading}\n\n{page.text}")


def _resolve(base: str, href: str) -> str:
    """The part that a reference in the part ``base`` leads to."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(href.partition("#")[0])))
