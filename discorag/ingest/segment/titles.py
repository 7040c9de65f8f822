"""Headings and terms of plain text: short lines with a rule below them, or that stand out by their place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from discorag.ingest.segment.layout import Line, Part, speaker_of
from discorag.schema.hierarchy import UnitKind
from discorag.schema.span import Span
from discorag.text.sentences import CJK, ITEM

_MAX_TITLE = 80
_MAX_TITLE_WORDS = 12
_MAX_CJK_TITLE = 30
_ENDS = tuple(".,;:!?…。，；：！？、&/-\u2010\u00ad")
_SENTENCE_ENDS = (".", "!", "?", "…", ".)", '."', ".”", "?”", "!”")
_START = re.compile(r"[^\W_]|--?\w")
_UNDERLINE = re.compile(r"([=\-~^\"'`*+#_])\1{2,}")
_RANKS = {"=": 0, "-": 1}
_BY_INDENT = 4  # rank of a heading that nothing but its place makes one, plus its indentation
_VERSION = re.compile(
    r"(?:[\w.-]+ )?v?\d+(?:\.\w+)+[\w+-]*:?"
    r"(?P<dated>\s+[(\[][^()\[\]]*[)\]]|(?:\s*[-/–—,|:]\s*|\s+)[^.]{0,20}\b(?:19|20)\d\d\b[-/.\d]*)?"
)
_OF_VERSION = 3  # rank: above headings by their place, which say what of a version is told
_LATEX = re.compile(r"\\(part|chapter|(?:sub)*section|(?:sub)?paragraph)\*?\{(.*)\}(?:\\label\{[^}]*\})?")
_TERM = re.compile(r"(--?\w\S*(?: \S+)*|\S+(?: \S+){0,3})\s{2,}(?=\S)")


def heading(lines: Sequence[Line], who: frozenset[str], *, alone: bool) -> tuple[int, Part, str, UnitKind] | None:
    """The heading at the top of a paragraph: how many lines it takes, itself, its name, and what stands below it.

    Args:
        lines: Of the paragraph.
        who: The document's speakers, whose names head nothing.
        alone: Whether a line may be a heading because it stands alone.

    Returns:
        None if there is none.
    """
    first, then = lines[0], lines[1] if len(lines) > 1 else None
    part = _part(first, first.span)
    if command := _LATEX.fullmatch(first.text):
        return 1, replace(part, rank=command[1].count("sub")), command[2], UnitKind.PROSE
    version, titled = _VERSION.fullmatch(first.text), is_title(first.text)
    if not (titled or version) or speaker_of(first.text) in who:
        return None
    if then and (rule := _UNDERLINE.fullmatch(then.text)) and len(first.text) <= len(then.text) + 2:
        return 2, replace(part, rank=_RANKS.get(rule[1], 2)), first.text, UnitKind.PROSE
    if titled and ITEM.match(first.text) and then:
        return None
    if version and (version["dated"] or (then and ITEM.match(then.text))):
        return 1, replace(part, rank=_OF_VERSION + first.indent), first.text, UnitKind.ITEM
    if hangs(lines):
        below = UnitKind.PROSE if first.text.isupper() else UnitKind.ITEM
        return 1, replace(part, hangs=True), first.text, below
    return (1, part, first.text, UnitKind.PROSE) if titled and alone and not first.text.startswith("-") else None


def is_title_above(lines: Sequence[Line], i: int, who: frozenset[str]) -> bool:
    """Whether line ``i`` of a paragraph is a title on top of what follows, though no blank line stands between.

    It stands at the top or behind a sentence, and either is in capitals, or is the shorter line, with room for the next
    word: no wrapping explains the break.
    """
    line, then = lines[i], lines[i + 1] if i + 1 < len(lines) else None
    if then is None or not is_title(line.text) or not line.text[0].isupper() or CJK.search(line.text):
        return False
    if _UNDERLINE.fullmatch(then.text) or hangs(lines[i : i + 2]) or speaker_of(line.text) or ITEM.match(then.text):
        return False
    if line.text.isupper():
        return not then.text.isupper()
    width = max(other.indent + len(other.text) for other in lines)
    ends = not i or lines[i - 1].text.endswith(_SENTENCE_ENDS)
    if speaker_of(then.text) in who:
        return ends or _has_room(lines[i - 1], line, width)
    is_text = lines[-1].text.endswith(_SENTENCE_ENDS) and len(line.text) < len(then.text) and not then.text[0].islower()
    below = sum(len(other.text.split()) for other in lines[i + 1 :])
    return ends and is_text and below > _MAX_TITLE_WORDS and _has_room(line, then, width)


def _has_room(line: Line, then: Line, width: int) -> bool:
    """Whether the first word of ``then`` would have fitted behind ``line``."""
    return line.indent + len(line.text) + 1 + len(then.text.split(maxsplit=1)[0]) <= width


def hangs(lines: Sequence[Line]) -> bool:
    """Whether what follows the first line is indented below it, as below a heading or a term."""
    return len(lines) > 1 and lines[1].indent > lines[0].indent + 1 and is_title(lines[0].text)


def term(lines: Sequence[Line]) -> tuple[Part, Sequence[Line], str] | None:
    """A term before a wide gap, what explains it (the rest of its line, and lines below that), and its name."""
    first = lines[0]
    gap = _TERM.match(first.text)
    column = first.indent + gap.end() if gap else 0
    if gap is None or ITEM.match(first.text) or any(line.indent != column for line in lines[1:]):
        return None
    if len(lines) == 1 and not first.text.startswith("-"):
        return None
    start = first.span.start
    rest = Line(Span(start=start + gap.end(), end=first.span.end), column, first.text[gap.end() :], after_blank=False)
    part = replace(_part(first, Span(start=start, end=start + gap.end(1))), hangs=True)
    return part, [rest, *lines[1:]], gap[1]


def _part(line: Line, span: Span) -> Part:
    return Part(span, UnitKind.HEADING, line.indent, _BY_INDENT + line.indent)


def is_title(text: str) -> bool:
    """Whether a line may be a heading or a term: short, no sentence, no columns."""
    if len(text) > _MAX_TITLE or text.endswith(_ENDS) or not any(map(str.isalpha, text)) or "   " in text:
        return False
    if text.count("(") != text.count(")"):
        return False
    if CJK.search(text):
        return len(text) <= _MAX_CJK_TITLE and (text[0].isalnum() or text[0] in "（(") and not set(text) & set("：，")
    return len(text.split()) <= _MAX_TITLE_WORDS and bool(_START.match(text))
