"""Blocks of a document with exact offsets: headings, paragraphs, lists, tables and code, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.token import Token

from discorag.ingest.segment.layout import (
    Block,
    Line,
    Part,
    block_of,
    is_furniture,
    lines_of,
    parts_of,
    speakers,
    without_tags,
)
from discorag.ingest.segment.plain import plain_blocks
from discorag.schema.document import Document, UnitKind
from discorag.schema.values import Span
from discorag.text.sentences import stripped

MARKDOWN = "text/markdown"
_MAX_HEADING = 200
_BY_LINE = frozenset({"fence", "code_block", "table_open"})
_LEAVES = frozenset({"paragraph_open", "heading_open", "fence", "code_block", "html_block", "hr", "table_open"})
_BOLD = re.compile(r"(\*\*|__)(?=\S)[^*_\n]{1,80}\1:?")
_ENDS = (".", "!", "?", ":", "。", "！", "？", "：")


def blocks(document: Document) -> list[Block]:
    """The blocks of a document; disjoint, in order, and holding every character that is not white space.

    Markdown: the top-level CommonMark blocks and tables; a list, a quotation, a table or a code fence is one block.
    Plain text: what blank lines separate, or single lines where a line is longer than any wrapped line would be.
    """
    if document.media_type == MARKDOWN:
        return list(_markdown_blocks(document.text))
    return plain_blocks(document.text)


def first_heading(text: str) -> str:
    """Text of the first Markdown heading that has any, else the empty string."""
    return next((b.heading for b in _markdown_blocks(text) if b.heading), "")


def _markdown_blocks(text: str) -> Iterator[Block]:
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    tokens = _block_parser().parse(text)
    who = speakers(lines_of(text, 0, len(text)))
    line = 0
    for first, end in _top_level(tokens):
        token = tokens[first]
        assert token.map is not None
        top, bottom = token.map
        yield from _rest(text, starts[line], starts[top])
        yield from _block(text, starts, tokens[first:end], who)
        line = bottom
    yield from _rest(text, starts[line], len(text))


def _top_level(tokens: list[Token]) -> Iterator[tuple[int, int]]:
    """Where the top-level blocks with lines of their own begin and end among the tokens."""
    start = None
    for i, token in enumerate(tokens):
        if token.level == 0 and token.nesting >= 0 and token.map is not None:
            start = i
        if token.level == 0 and token.nesting <= 0 and start is not None:
            yield start, i + 1
            start = None


def _block(text: str, starts: list[int], tokens: list[Token], who: frozenset[str]) -> Iterator[Block]:
    token = tokens[0]
    assert token.map is not None
    span = stripped(text, starts[token.map[0]], starts[token.map[1]])
    if span is None:
        return
    if token.type == "heading_open":
        heading = _without_markup(tokens[1].content) if len(tokens) > 1 else ""
        level = int(token.tag[1:])
        kind = UnitKind.HEADING if any(map(str.isalnum, heading)) else UnitKind.FURNITURE
        yield Block(span, level=level, heading=heading, parts=(Part(span, kind),))
        return
    parts = tuple(_parts(text, starts, tokens, who))
    yield Block(span, by_line=token.type in _BY_LINE, parts=parts)


def _parts(text: str, starts: list[int], tokens: list[Token], who: frozenset[str]) -> Iterator[Part]:
    """The parts of a block: of each leaf in it, and of the lines between, such as an empty bullet's."""
    assert tokens[0].map is not None
    line, last = tokens[0].map
    items = 0
    for token in tokens:
        items += token.nesting * (token.type in {"list_item_open", "list_item_close"})
        if token.type not in _LEAVES or token.map is None or token.map[0] < line:
            continue
        yield from _between(text, starts[line], starts[token.map[0]])
        kind = UnitKind.ITEM if items else UnitKind.PROSE
        yield from _leaf(token.type, lines_of(text, starts[token.map[0]], starts[token.map[1]]), text, kind, who)
        line = token.map[1]
    yield from _between(text, starts[line], starts[last])


def _leaf(name: str, lines: list[Line], text: str, kind: UnitKind, who: frozenset[str]) -> Iterator[Part]:
    if not lines:
        return
    whole = Part(Span(start=lines[0].span.start, end=lines[-1].span.end), kind, lines[0].indent)
    inside = whole.span.of(text)
    if name in {"fence", "code_block"}:
        yield replace(whole, kind=UnitKind.CODE)
    elif name in {"heading_open", "hr"} or is_furniture(inside):
        yield replace(whole, kind=UnitKind.HEADING if name == "heading_open" else UnitKind.FURNITURE)
    elif name == "html_block":
        said = without_tags(inside).strip()
        yield replace(whole, kind=UnitKind.PROSE if said.endswith(_ENDS) else UnitKind.FURNITURE)
    elif _BOLD.fullmatch(inside) and not inside.rstrip("*_").endswith(_ENDS):
        yield replace(whole, kind=UnitKind.HEADING)
    elif kind is UnitKind.ITEM:
        yield whole
    else:
        yield from parts_of(lines, who)


def _between(text: str, start: int, end: int) -> Iterator[Part]:
    """What belongs to no leaf: bullets and marks of quotations without text."""
    return (Part(line.span, UnitKind.FURNITURE, line.indent) for line in lines_of(text, start, end))


def _rest(text: str, start: int, end: int) -> Iterator[Block]:
    parts = list(_between(text, start, end))
    if parts:
        yield block_of(parts)


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
