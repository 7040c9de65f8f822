"""A unit as an answer quotes it: the characters of its source on one line, without the markup of the source's format.

Plain text has no markup: all of it is text. Of a converted file the blocks are Markdown, and the lines are text. In a
Markdown file emphasis, links, code spans and tags are markup too, as CommonMark defines them.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import zip_longest

from markdown_it import MarkdownIt
from markdown_it.token import Token

from discorag.ingest.convert.converted import not_literal
from discorag.ingest.convert.marks import Run, join_runs
from discorag.ingest.segment.layout import cells, without_speaker
from discorag.schema.document import Markup, UnitKind
from discorag.text.escaping import WRAPPED_WORD, code_span
from discorag.text.sentences import LIST_MARK, language_of

_FENCE = re.compile(r"^(```+|~~~+)[^\n]*\n?|\n?[ \t]*(```+|~~~+)\s*$")
_QUOTED = re.compile(r"^(?:[ \t]*> ?)+", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}\s+|\s+(?:#+|=+|-+)$")
_ITEM = re.compile(rf"(?:{LIST_MARK}|\\item\b)\s*(?=\S)")
_COMPOUND = re.compile(r"(?<=[^\W\d_]-)\n\s*(?=[^\W\d_])")
_MARKDOWN_SIGN = re.compile(r"[\\`*_\[<&~]")
_TAG = re.compile(r"<(/?)(?:su(p|b)|(del|s|strike))\b", re.IGNORECASE)
_BREAKS = frozenset({"softbreak", "hardbreak"})
_ENDING = re.compile(r"[.!?。！？…:：;；][\"'”’)\]」』`]*$")


def quote(text: str, kind: UnitKind = UnitKind.PROSE, header: str = "", markup: Markup = Markup.NONE) -> str:
    """A unit's text on one line, without an item's mark or a turn's speaker; each line of code becomes a code span.

    ``header`` is the header row of the table, if the unit is a row; ``markup`` is the document's.
    """
    if kind is UnitKind.CODE:
        code = text if markup is Markup.NONE else _FENCE.sub("", text)
        return " ".join(code_span(" ".join(line.split())) for line in code.split("\n") if line.strip())
    if kind is UnitKind.ROW:
        return quote_row(text, header, markup)
    if kind is UnitKind.TURN:
        text = without_speaker(text)
    if markup is not Markup.NONE:
        text = _QUOTED.sub("", text)
    if kind is UnitKind.HEADING and markup is not Markup.NONE:
        text = _HEADING.sub("", text)
    if kind is UnitKind.ITEM and (mark := _ITEM.match(text)):
        text = text[mark.end() :]
    return _words(text, markup)


def _words(text: str, markup: Markup) -> str:
    """``text`` on one line, without markup inside lines."""
    whole = _COMPOUND.sub("", WRAPPED_WORD.sub("", text))
    if markup is Markup.BLOCKS:
        whole = not_literal(whole)
    return strip_markdown(whole) if markup is Markup.INLINE else " ".join(whole.split())


def strip_markdown(text: str) -> str:
    """Markdown of one paragraph as its words, on one line: without emphasis, images, tags and addresses of links.

    What is struck out is left out; what stands above or below the line is written as in ``10^6``.
    """
    if _MARKDOWN_SIGN.search(text):
        tokens = _inline_parser().parseInline(text)
        text = join_runs(_runs(child for token in tokens for child in token.children or ()))
    return " ".join(text.split())


def _runs(tokens: Iterable[Token]) -> Iterator[Run]:
    level, struck = 0, 0
    for token in tokens:
        tag = _TAG.match(token.content) if token.type == "html_inline" else None
        step = -1 if token.type == "s_close" or (tag and tag[1]) else 1
        if token.type in {"s_open", "s_close"} or (tag and tag[3]):
            struck = max(0, struck + step)
        elif tag:
            level += step * (1 if tag[2].lower() == "p" else -1)
        elif not struck:
            yield Run(_token_text(token), level)


def _token_text(token: Token) -> str:
    if token.type in _BREAKS:
        return " "
    return "" if token.type in {"html_inline", "image"} else token.content


@cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("strikethrough")


def quote_row(row: str, header: str, markup: Markup = Markup.NONE) -> str:
    """A row of a table with the names of its columns, as in "Revenue, 2023: 2,018; 2022: 1,900".

    The first cell says what it is about; ``header`` is empty where the table has none.
    """
    values = _cells(row, markup) or [""]
    named = _cells(header, markup) if header else []
    names = [name if any(map(str.isalnum, name)) else "" for name in named]
    if not row.startswith("|"):
        names = _over(names, len(values))
    subject = values[0] + (f" {names[0]}" if names and names[0].startswith(("(", "（")) else "")
    pairs = [(n, v) for n, v in zip_longest(names[1:], values[1:], fillvalue="") if v]
    is_wide = language_of(row) == "zh"
    colon, semicolon, comma, stop = ("：", "；", "，", "。") if is_wide else (": ", "; ", ", ", ".")
    text = semicolon.join(f"{n}{colon}{v}" if n else v for n, v in pairs)
    between = (comma if pairs[0][0] else colon) if subject and text else ""
    whole = f"{subject}{between}{text}"
    return whole if not whole or _ENDING.search(whole) else whole + stop


def _cells(row: str, markup: Markup) -> list[str]:
    return [_words(cell if markup is Markup.NONE else cell.replace("\\|", "|"), markup) for cell in cells(row)]


def _over(names: list[str], columns: int) -> list[str]:
    """Names for that many columns, where white space sets cells apart and empty ones cannot be seen."""
    if len(names) == columns - 1:  # nothing stands over the first
        return ["", *names]
    return names[:1] + names[len(names) - columns + 1 :] if len(names) > columns else names
