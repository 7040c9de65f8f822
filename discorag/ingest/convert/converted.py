"""The result of every converter, and the functions that they share."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from discorag.schema.metadata import Value
from discorag.schema.values import PageLine

# At the start of a line these would make a heading, a fence, a quotation or a rule of what the source says in words.
_BLOCK = r"(?=#{1,6}(?:\s|$)|```|~~~|>|[-=]+[^\S\n]*$)"
_MARKUP = re.compile(rf"^([^\S\n]*){_BLOCK}", re.MULTILINE)
_ESCAPED = re.compile(rf"^([^\S\n]*)\\{_BLOCK}", re.MULTILINE)
_BARE_PIPE = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Converted:
    """A file as Markdown.

    Args:
        text: Canonical text.
        title: What the file calls itself; empty if it does not say.
        pages: Where each page, slide or sheet starts in ``text``; empty for formats without them.
        lines: The lines of a PDF's pages with their boxes, in text order.
        metadata: What the file says of itself, and its encoding where that was assumed.
        unread: How many of each kind of thing the file holds that ``text`` does not: ``{"image": 2, "equation": 1}``.
    """

    text: str
    title: str = ""
    pages: tuple[int, ...] = ()
    lines: tuple[PageLine, ...] = ()
    metadata: Mapping[str, Value] = field(default_factory=dict[str, Value])
    unread: Counter[str] = field(default_factory=Counter[str])


_NO_TITLES = ("untitled", "(anonymous)", "powerpoint presentation")


def stated_title(text: str) -> str:
    """The title in the properties of a file, on one line; empty if it is only a program's default."""
    title = " ".join(text.split())
    return "" if title.lower() in _NO_TITLES or title.startswith("Microsoft Word - ") else title


def literal(text: str) -> str:
    """``text`` with a backslash before what Markdown would take for block markup at the start of a line."""
    return _MARKUP.sub(r"\1\\", text)


def not_literal(text: str) -> str:
    """A text that `literal` made, without its backslashes."""
    return _ESCAPED.sub(r"\1", text)


def without_halves(text: str) -> str:
    """``text`` with its surrogate pairs as one character each; half a pair becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def cell(text: str) -> str:
    """``text`` as the content of a pipe table's cell: one line, pipes escaped."""
    return _BARE_PIPE.sub(r"\\|", " ".join(text.split()))


def join_sections(pages: Iterable[str]) -> tuple[str, tuple[int, ...]]:
    """The text of pages that are separate blocks, and where each starts in it; empty ones start where the next does."""
    text, starts = "", list[int]()
    for page in pages:
        gap = "\n\n" if text and page else ""
        starts.append(len(text) + len(gap))
        text += gap + page
    return text, tuple(starts)
