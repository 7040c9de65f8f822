"""Blocks of plain text, told by blank lines, indentation, rules and columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from discorag.text.layout import Block, Line, Part, block_of, lines_of, parts_of, speaker_of, speakers
from discorag.text.sentences import CJK, ITEM, WRAP_WIDTH, evenly_wrapped
from discorag.text.tables import Table, tables
from discorag.types.hierarchy import UnitKind
from discorag.types.span import Span

_MAX_TITLE = 80
_MAX_TITLE_WORDS = 12
_MAX_CJK_TITLE = 30
_ENDS = tuple(".,;:!?…。，；：！？、")
_UNDERLINE = re.compile(r"([=\-~^\"'`*+#_])\1{2,}")
_RANKS = {"=": 0, "-": 1}
_BY_INDENT = 4  # rank of a heading that nothing but its place makes one, plus its indentation
_PROMPT = re.compile(r"(?:\$|>>>|\.\.\.)\s\S")
_CODE_MARK = re.compile(r"[{}()\[\];=<>\\$]|(?:^|\s)--?\w")
_LATEX = re.compile(r"\\(part|chapter|(?:sub)*section|(?:sub)?paragraph)\*?\{(.*)\}(?:\\label\{[^}]*\})?")


def plain_blocks(text: str) -> list[Block]:
    """The blocks of plain text, which hold every character of it that is not white space."""
    lines = lines_of(text, 0, len(text))
    who = speakers(lines)
    found: list[Block] = []
    paragraphs = list(_paragraphs(lines))
    for i, (paragraph, is_table) in enumerate(paragraphs):
        before = found[-1] if found else None
        if is_table:
            found.append(block_of(parts_of(paragraph, who), by_line=True))
        elif _is_code(paragraph, before, text):
            span = Span(start=paragraph[0].span.start, end=paragraph[-1].span.end)
            found.append(block_of([Part(span, UnitKind.CODE, paragraph[0].indent)], by_line=True))
        else:
            found += _headed(paragraph, who, last=i + 1 == len(paragraphs))
    return found


def _paragraphs(lines: Sequence[Line]) -> Iterator[tuple[Sequence[Line], bool]]:
    """Lines that stand together, and whether they are a table, which may have blank lines between its rows."""
    for stretch in _stretches(lines):
        at = 0
        found = tables([line.text for line in stretch], [line.indent for line in stretch])
        for table in [*found, Table(range(len(stretch), len(stretch)))]:
            yield from ((paragraph, False) for paragraph in _prose(stretch[at : table.rows.start]))
            if table.rows:
                yield stretch[table.rows.start : table.rows.stop], True
            at = table.rows.stop


def _stretches(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """Lines between blank lines; where a blank line follows each, all of them."""
    start = 0
    for i, line in enumerate(lines):
        following = i + 1 == len(lines) or lines[i + 1].after_blank
        spaced = line.after_blank and following and i > 0 and (i == start or _alone(lines, i - 1))
        if i > start and line.after_blank and not (spaced and _alone(lines, i - 1)):
            yield lines[start:i]
            start = i
    if start < len(lines):
        yield lines[start:]


def _alone(lines: Sequence[Line], i: int) -> bool:
    """Whether blank lines are around a line."""
    return lines[i].after_blank and (i + 1 == len(lines) or lines[i + 1].after_blank)


def _prose(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """Paragraphs: lines between blank lines, or single lines where one is longer than wrapped lines are."""
    start = 0
    for i in range(1, len(lines) + 1):
        if i == len(lines) or lines[i].after_blank:
            yield from _unwrapped(lines[start:i])
            start = i


def _unwrapped(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    if not lines:
        return
    texts = [line.text for line in lines]
    if max(map(len, texts)) <= WRAP_WIDTH or evenly_wrapped(texts):
        yield lines
        return
    start = 0
    for i in range(1, len(lines) + 1):
        if i == len(lines) or not (texts[i][0].islower() and not texts[i - 1].endswith(_ENDS)):
            yield lines[start:i]
            start = i


def _is_code(paragraph: Sequence[Line], before: Block | None, text: str) -> bool:
    """Whether it is a dialogue with a shell, or indented below other text and full of signs."""
    if _PROMPT.match(paragraph[0].text):
        return True
    if before is None or paragraph[0].indent <= before.parts[-1].indent or before.parts[-1].kind is UnitKind.ITEM:
        return False
    if before.span.of(text[: before.span.end]).endswith("::"):
        return True
    marked = sum(bool(_CODE_MARK.search(line.text)) for line in paragraph)
    ends = any(line.text.endswith((".", "!", "?", "。")) for line in paragraph)
    hangs = len(paragraph) > 1 and paragraph[1].indent > paragraph[0].indent and _is_title(paragraph[0].text)
    return not ends and not hangs and marked >= len(paragraph)


def _headed(paragraph: Sequence[Line], who: frozenset[str], *, last: bool) -> Iterator[Block]:
    """A paragraph without the headings that stand in its first lines, and these before it."""
    kind = UnitKind.PROSE
    while paragraph and (found := _heading(paragraph, who, last=last)):
        taken, part, name, kind = found
        yield block_of([part], heading=name)
        if taken == 2:
            yield block_of([Part(paragraph[1].span, UnitKind.FURNITURE, paragraph[1].indent)])
        paragraph = paragraph[taken:]
    if paragraph:
        yield block_of(parts_of(paragraph, who, kind))


def _heading(lines: Sequence[Line], who: frozenset[str], *, last: bool) -> tuple[int, Part, str, UnitKind] | None:
    """Lines that the heading at the top takes, itself, its name, and what stands below it; None if there is none."""
    first, then = lines[0], lines[1] if len(lines) > 1 else None
    if command := _LATEX.fullmatch(first.text):
        rank = command[1].count("sub")
        return 1, Part(first.span, UnitKind.HEADING, first.indent, rank), command[2], UnitKind.PROSE
    if not _is_title(first.text) or speaker_of(first.text) in who or (ITEM.match(first.text) and then is not None):
        return None
    rank = _BY_INDENT + first.indent
    if then and (rule := _UNDERLINE.fullmatch(then.text)) and len(first.text) <= len(then.text) + 2:
        part = Part(first.span, UnitKind.HEADING, first.indent, _RANKS.get(rule[1], 2))
        return 2, part, first.text, UnitKind.PROSE
    if then and then.indent > first.indent + 1:
        below = UnitKind.PROSE if first.text.isupper() else UnitKind.ITEM
        return 1, Part(first.span, UnitKind.HEADING, first.indent, rank, hangs=True), first.text, below
    if then or last:
        return None
    return 1, Part(first.span, UnitKind.HEADING, first.indent, rank), first.text, UnitKind.PROSE


def _is_title(text: str) -> bool:
    """Whether a line may be a heading or a term: short, no sentence, no columns."""
    if len(text) > _MAX_TITLE or text.endswith(_ENDS) or not any(map(str.isalpha, text)):
        return False
    if CJK.search(text):
        return len(text) <= _MAX_CJK_TITLE and text[0].isalnum() and "：" not in text and "，" not in text
    return len(text.split()) <= _MAX_TITLE_WORDS and (text[0].isalnum() or text[0] in "-[<(")
