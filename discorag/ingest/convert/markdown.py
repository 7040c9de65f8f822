"""Tables of Markdown files whose rows do not say by themselves what they mean, written as converters write them."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from discorag.ingest.convert.html import from_markup
from discorag.ingest.convert.tables import Cell, Table, reads_as, table_markdown

_MAY_HOLD = re.compile(r"^\s*\|?\s*:?-+:?\s*\|", re.MULTILINE)
_HTML_TABLE = re.compile(r"^ {0,3}<table\b.*?</table>[ \t]*$", re.MULTILINE | re.DOTALL | re.IGNORECASE)
_BOLD = re.compile(r"(\*\*|__)(?:(?!\1).)+\1")


def with_plain_tables(text: str, path: Path) -> str:
    """Markdown in which each row of a table says what it means.

    Tables of HTML become pipe tables. So does, written anew, a pipe table with rows that name groups, with a second
    header row, or with its names below an empty header row. All else stays.
    """
    if not _MAY_HOLD.search(text) and not _HTML_TABLE.search(text):
        return text
    lines = text.split("\n")
    tokens = MarkdownIt("commonmark").enable("table").disable("inline").parse(text)
    for at, token in reversed([*enumerate(tokens)]):
        if token.level or not token.map:
            continue
        start, end = token.map
        if token.type == "table_open":
            lines[start:end] = _pipe_table(list(_rows(tokens[at:])), lines[start:end])
        elif token.type == "html_block" and _HTML_TABLE.match(html := "\n".join(lines[start:])):
            lines[start:] = _from_html(html, path)
    return "\n".join(lines)


def _from_html(text: str, path: Path) -> list[str]:
    """The lines of a text that begins with a table of HTML, which is written as a pipe table if it holds any."""
    found = _HTML_TABLE.match(text)
    made = from_markup(found[0], path).text if found else ""
    return (f"{made}\n{text[found.end() :]}" if found and "| --- |" in made else text).split("\n")


def _rows(tokens: Sequence[Token]) -> Iterator[list[str]]:
    """The cells of the table that these tokens begin with."""
    row: list[str] = []
    for token in tokens:
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
    return written if reads_as(table, rows) else table_markdown(table).split("\n")
