"""Blocks of a document with exact offsets: headings, paragraphs, lists, tables and code, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.token import Token

from discorag.text.sentences import WRAP_WIDTH, stripped
from discorag.types.document import Document
from discorag.types.span import Span

MARKDOWN = "text/markdown"
_MAX_HEADING = 200
_BLANK_LINES = re.compile(r"\n[^\S\n]*(?=\n)")
_BY_LINE = frozenset({"fence", "code_block", "table_open"})


@dataclass(frozen=True)
class Block:
    """A paragraph of the source.

    Args:
        span: Its characters, without surrounding white space.
        level: 1 to 6 for a Markdown heading, else 0.
        heading: A heading's text without markup, at most 200 characters.
        by_line: Whether each line stands for itself (code, tables).

    Example:
        >>> from discorag.text.structure import blocks
        >>> [(block.level, block.span.of(document.text)[:12]) for block in blocks(document)]
        [(1, '# Tides'), (0, 'The moon pul'), (2, '## Spring ti'), (0, 'At full moon')]
    """

    span: Span
    level: int = 0
    heading: str = ""
    by_line: bool = False


def blocks(document: Document) -> list[Block]:
    """The blocks of a document; disjoint, in order, and holding every character that is not white space.

    Markdown: the top-level CommonMark blocks and tables; a list, a quotation, a table or a code fence is one block.
    Plain text: what blank lines separate, or single lines where a line is longer than any wrapped line would be.
    """
    if document.media_type == MARKDOWN:
        return list(_markdown_blocks(document.text))
    return [Block(span) for span in _plain_spans(document.text)]


def first_heading(text: str) -> str:
    """Text of the first Markdown heading that has any, else the empty string."""
    return next((b.heading for b in _markdown_blocks(text) if b.heading), "")


def _plain_spans(text: str) -> Iterator[Span]:
    start = 0
    for end in [*(m.start() for m in _BLANK_LINES.finditer(text)), len(text)]:
        lines = text[start:end].split("\n")
        if max(map(len, lines)) <= WRAP_WIDTH:
            lines = [text[start:end]]
        for line in lines:
            span = stripped(text, start, start + len(line))
            if span:
                yield span
            start += len(line) + 1
        start = end


def _markdown_blocks(text: str) -> Iterator[Block]:
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    tokens = _block_parser().parse(text)
    line = 0
    for i, token in enumerate(tokens):
        if token.level or token.nesting < 0 or token.map is None:
            continue
        first, last = token.map
        yield from _block(text, starts[line], starts[first])
        yield from _block(text, starts[first], starts[last], token, tokens[i + 1 : i + 2])
        line = last
    yield from _block(text, starts[line], len(text))


def _block(
    text: str, start: int, end: int, token: Token | None = None, content: list[Token] | None = None
) -> Iterator[Block]:
    span = stripped(text, start, end)
    if span is None:
        return
    if token is None or token.type != "heading_open":
        yield Block(span, by_line=token is not None and token.type in _BY_LINE)
        return
    heading = _without_markup(content[0].content) if content else ""
    yield Block(span, level=int(token.tag[1:]), heading=heading)


def _without_markup(heading: str) -> str:
    tokens = _inline_parser().parseInline(heading[: 2 * _MAX_HEADING])
    children = [child for token in tokens for child in token.children or ()]
    text = "".join(" " if child.type in {"softbreak", "hardbreak"} else child.content for child in children)
    return " ".join(text.split())[:_MAX_HEADING]


@cache
def _block_parser() -> MarkdownIt:
    """CommonMark blocks and tables only; link definitions stay ordinary paragraphs, so that no text is lost."""
    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    parser.core.ruler.enableOnly(["block"])
    return parser


@cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark").disable(["html_inline"])
