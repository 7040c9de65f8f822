"""Counts of pictures, charts, comments and the like in a file, by kind: its text does not hold what they say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from discorag.ingest.convert.archive import tree_of
from discorag.ingest.convert.office import remove, text_of

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_MEDIA = {
    **dict.fromkeys(("img", "svg", "canvas"), "image"),
    "video": "video",
    "audio": "recording",
    "iframe": "embedded page",
}
# An empty alternative text marks decoration; a drawing without words or pictures is a sign.
_SAYS_NOTHING = (
    ":is(nav, noscript, template, [role=navigation], [hidden], [aria-hidden=true]) *, [hidden], [aria-hidden=true], "
    "img[alt=''], svg:not(:has(text, image))"
)
_SIGN_PIXELS = 32
_IMAGE_TAG = re.compile(r"<img\b", re.IGNORECASE)
_BODY = re.compile(r"word/(?:document|footnotes|endnotes)\.xml|ppt/slides/[^/]+\.xml|xl/drawings/[^/]+\.xml")
_COMMENTS = re.compile(r"(?:word|ppt/comments|xl|xl/comments)/(?:comments?|modernComment)[^/]*\.xml")
_NOTES = re.compile(r"ppt/notesSlides/[^/]+\.xml")
_MARGINS = {"page header": re.compile(r"word/header\d*\.xml"), "page footer": re.compile(r"word/footer\d*\.xml")}
_OBJECTS = {"pic": "image", "imagedata": "image", "chart": "chart", "relIds": "diagram"}
_LETTER = re.compile(r"[^\W\d_]")


def in_page(soup: BeautifulSoup) -> Counter[str]:
    """Count what a page shows besides text: where it is neither hidden nor part of the navigation."""
    media = (tag for tag in soup([*_MEDIA]) if not _is_sign(tag) and not tag.css.match(_SAYS_NOTHING))
    return Counter(_MEDIA[tag.name] for tag in media)


def _is_sign(tag: Tag) -> bool:
    """Whether its stated width or height is that of an icon, a line, or a pixel that counts visitors."""
    sizes = (str(tag.get(name, "")).removesuffix("px") for name in ("width", "height"))
    return any(size.isdecimal() and int(size) <= _SIGN_PIXELS for size in sizes)


def in_markdown(text: str) -> Counter[str]:
    """Count the images of a Markdown text, also those of tags: answers leave out their alternative texts."""
    if "![" not in text and not _IMAGE_TAG.search(text):
        return Counter()
    tokens = MarkdownIt("commonmark").parse(text)
    every = [child for token in tokens for child in (token, *(token.children or ()))]
    tags = sum(len(_IMAGE_TAG.findall(t.content)) for t in every if t.type in {"html_block", "html_inline"})
    return +Counter({"image": tags + sum(token.type == "image" for token in every)})


def in_office_file(parts: Mapping[str, bytes]) -> Counter[str]:
    """Count pictures, charts, comments, notes, and headers and footers with words in an Office Open XML file."""
    counts = Counter[str]()
    for name in parts:
        if _BODY.fullmatch(name):
            counts.update(_objects(tree_of(parts[name])))
        elif _COMMENTS.fullmatch(name):
            counts["comment"] += sum(1 for _ in tree_of(parts[name]).iter("{*}comment", "{*}cm"))
        elif _NOTES.fullmatch(name):
            counts["speaker note"] += any(text_of(run).strip() for run in tree_of(parts[name]).iter("{*}r"))
    for kind, pattern in _MARGINS.items():
        texts = {text_of(tree_of(parts[name])).strip() for name in parts if pattern.fullmatch(name)}
        counts[kind] = sum(bool(_LETTER.search(text)) for text in texts)
    return +counts


def _objects(root: _Element) -> Iterator[str]:
    """The kind of each object of a part; none of a hidden slide. Objects that have a second form count once."""
    for second in [*root.iter("{*}Fallback")]:
        remove(second)
    if root.get("show") not in ("0", "false"):
        for element in root.iter(*(f"{{*}}{name}" for name in _OBJECTS)):
            yield _OBJECTS[element.tag.rpartition("}")[2]]
