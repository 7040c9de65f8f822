"""Words of sources and models, escaped for each form of output.

They are shown as they are: characters that a form of output would interpret are escaped, and never changed. Our
citations differ from brackets in a source by their style: bold in Markdown and in the terminal, raised in HTML. HTML
templates escape by themselves. JSON carries texts as they are, and clients escape them.
"""

import re
import unicodedata

# Entities for characters that a renderer may read before Markdown does: in formulas, HTML, citations.
_ENTITIES = {"\\": "&#92;", "$": "&#36;", "<": "&lt;", "&": "&amp;", "[": "&#91;"}
_MARKDOWN = str.maketrans(_ENTITIES | {c: f"\\{c}" for c in "`*_~|"})
_BLOCK = re.compile(r"^(?:\d{1,9}(?=[.)])|(?=[-+#=>:!%]))")  # what would open a list, heading, quotation or fence
WRAPPED_WORD = re.compile("[\u2010\u00ad]\n\\s*")
"""A hyphen that only breaks a word at the end of a line, with the line break."""
_LINK = re.compile(r"//|@|www\.|[^\s.]\.[^\W\d_]{2}", re.IGNORECASE)  # generous: what some renderer makes a link of
# Words in backticks, on their own.
_CODE = re.compile(r"(?:(?<!\S)|(?<=(?<!\S)\())(`[^`\[<&$\\]+`)(?=[.,;:)!?]*(?!\S))")
NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""A character that XML cannot hold."""


def one_line(text: str, length: int | None = 60) -> str:
    """The text as one printable line of at most ``length`` characters; None: of any length.

    Control characters become spaces. Invisible characters (zero width, direction) and hyphens of words broken at the
    end of a line are left out.
    """
    seen = (c if c.isprintable() else " " for c in WRAPPED_WORD.sub("", text) if unicodedata.category(c) != "Cf")
    line = " ".join("".join(seen).split())
    return line if length is None or len(line) <= length else line[: length - 1].rstrip() + "…"


def markdown(text: str, length: int | None = None) -> str:
    """Markdown that renders as this text on one line: no markup, HTML, link or formula; addresses become code."""
    pieces = _CODE.split(one_line(text, length))
    shown = (code_span(p) if i % 2 else " ".join(map(_word, p.split(" "))) for i, p in enumerate(pieces))
    return _BLOCK.sub(r"\g<0>\\", "".join(shown))


def _word(word: str) -> str:
    """A word whose parts that may become links are code; an opening bracket stays outside."""
    parts = word.split("[")
    shown = (code_span(part) if _LINK.search(part) else part.translate(_MARKDOWN) for part in parts)
    return _ENTITIES["["].join(shown)


def code_span(text: str) -> str:
    """A code span of Markdown: the one place where no renderer looks for addresses."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}"
