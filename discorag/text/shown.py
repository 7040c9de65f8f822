"""What others wrote, made safe to show: one function for each form of output (DESIGN rule 19).

Square brackets are ours alone: a citation is a mark that we set from an answer's evidence. What a source, a model or a
plan has in square brackets, of any width, is shown in round ones, so it cannot be read as a mark of ours. HTML pages
are templates that escape by themselves; JSON carries texts as they are, and whoever shows them escapes them.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import cycle

_SQUARE = (
    "[]［］【】〔〕〖〗〘〙〚〛⟦⟧⟬⟭❲❳⁅⁆⦋⦌⦍⦎⦏⦐⦗⦘\u2e55\u2e56\u2e57\u2e58"
    "\ufe17\ufe18\ufe39\ufe3a\ufe3b\ufe3c\ufe47\ufe48\ufe5d\ufe5e"
)
_ROUND = dict(zip(map(ord, _SQUARE), cycle("()"), strict=False))
# As entities where a renderer may read the character itself before Markdown does: formulas, HTML.
_MARKDOWN = str.maketrans({"\\": "&#92;", "$": "&#36;", "<": "&lt;", "&": "&amp;"} | {c: f"\\{c}" for c in "`*_~|"})
_BLOCK = re.compile(r"^(?:\d{1,9}(?=[.)])|(?=[-+#=>:!%]))")  # what would open a list, heading, quotation or fence
_LINK = re.compile(r"//|@|www\.|[^\s.]\.[^\W\d_]{2}", re.IGNORECASE)  # generous: what some renderer makes a link of
_MERMAID = re.compile(r'["#&<>`%|\[\]{}()\\$*_~;°¶]|:(?! )')


def one_line(text: str, length: int | None = 60) -> str:
    """One printable line: control characters become spaces, invisible ones (zero width, direction) go."""
    seen = (c if c.isprintable() else " " for c in text if unicodedata.category(c) != "Cf")
    line = " ".join("".join(seen).split())
    return line if length is None or len(line) <= length else line[: length - 1].rstrip() + "…"


def rounded(text: str) -> str:
    """``text`` with round brackets for square ones."""
    return text.translate(_ROUND)


def plain(text: str, length: int | None = None) -> str:
    """For a terminal, as `rich.text.Text`: one line without control characters and without marks of ours."""
    return rounded(one_line(text, length))


def markdown(text: str, length: int | None = None) -> str:
    """Markdown that renders as `plain` text: no markup, HTML, link, image, footnote or formula; addresses as code."""
    words = plain(text, length).split(" ")
    line = " ".join(_code(word) if _LINK.search(word) else word.translate(_MARKDOWN) for word in words)
    return _BLOCK.sub(r"\g<0>\\", line)


def code_block(text: str) -> str:
    """Markdown that renders as ``text``, line by line: a fence that nothing in it closes."""
    fence = "`" * max(3, 1 + _longest_run(text))
    return f"{fence}\n{text.rstrip()}\n{fence}"


def mermaid(text: str, length: int | None = None) -> str:
    """A Mermaid label: one line with every character that Mermaid would read as its own written as an entity."""
    return _MERMAID.sub(lambda m: f"#{ord(m[0])};", one_line(text, length))


def _code(word: str) -> str:
    """A code span: the one place where no renderer looks for addresses."""
    fence = "`" * (1 + _longest_run(word))
    pad = " " if "`" in word else ""
    return f"{fence}{pad}{word}{pad}{fence}"


def _longest_run(text: str) -> int:
    """Of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)
