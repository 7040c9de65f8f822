"""Tables of Markdown files whose rows do not say by themselves what they mean, written as converters write them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from discorag.ingest.convert.html import from_markup
from discorag.ingest.convert.tables import Cell, Table, reads_as, table_markdown

_MAY_HOLD = re.compile(r"^\s*\|?\s*:?-+:?\s*\|", re.MULTILINE)
_OPENED = re.compile(r"^ {0,3}<table\b", re.MULTILINE | re.IGNORECASE)
_CLOSED = re.compile(r"</table>[ \t]*$", re.IGNORECASE)
_BOLD = re.compile(r"(\*\*|__)(?:(?!\1).)+\1")


def with_plain_tables(text: str, path: Path) -> str:
    """Markdown in which each row of a table says what it means.

    Tables of HTML become pipe tables. A pipe table is rewritten if it has rows that name groups, a second header row,
    or its names below an empty header row. All else stays.
    """
    if not _MAY_HOLD.search(text) and not _OPENED.search(text):
        return text
    lines, unclosed = text.split("\n"), 0  # lines at the end that are known to close no table
    tokens = MarkdownIt("commonmark").enable("table").disable("inline").parse(text)
    for at, token in reversed([*enumerate(tokens)]):
        if token.level or not token.map:
            continue
        start, end = token.map
        if token.type == "table_open":
            lines[start:end] = _pipe_table(list(_rows(tokens, at)), lines[start:end])
        elif token.type == "html_block" and _OPENED.match(lines[start]):
            below = range(start, len(lines) - unclosed)
            last = next((i for i in below if _CLOSED.search(lines[i])), None)
            if last is None:
                unclosed = len(lines) - start
            else:
                lines[start : last + 1] = _from_html(lines[start : last + 1], path)
    return "\n".join(lines)


def _from_html(written: list[str], path: Path) -> list[str]:
    """The lines of a table of HTML, as a pipe table and an empty line if it holds data."""
    made = from_markup("\n".join(written), path).text
    return [*made.split("\n"), ""] if "| --- |" in made else written


def _rows(tokens: Sequence[Token], at: int) -> Iterator[list[str]]:
    """The cells of the table that begins at a token."""
    row: list[str] = []
    for token in (tokens[i] for i in range(at, len(tokens))):
        if token.type == "tr_open":
            row = []
        elif token.type == "inline":
            row.append(token.content)
        elif token.type == "tr_close":
            yield row
        elif token.type == "table_close":
            return


def _pipe_table(rows: Sequence[Sequence[str]], written: list[str]) -> list[str]:
    """The lines of a pipe table: those it has, or others if they say more."""
    cells = [[Cell(text, is_bold=bool(_BOLD.fullmatch(text))) for text in row] for row in rows]
    table = Table(cells, header_rows=1) if any(rows[0]) else Table(cells[1:])
    return written if reads_as(table, rows) else table_markdown(table, Counter()).split("\n")
