"""Blocks of a document with exact offsets: headings, paragraphs, lists, tables and code, in order.

Markdown is parsed; blocks of plain text are found by blank lines, indentation, rules and columns.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate, pairwise

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from discorag.ingest.segment.layout import (
    Block,
    Line,
    Part,
    Table,
    block_of,
    is_furniture,
    is_mark,
    lines_of,
    parts_of,
    speaker_of,
    speakers,
    tables,
    without_tags,
)
from discorag.ingest.segment.questions import ANSWER_LABEL, ASKS, LABELS, answer_block, find_questions, question_block
from discorag.schema.document import Document, Markup, UnitKind
from discorag.schema.values import Span
from discorag.text.sentences import CJK, ITEM, WRAP_WIDTH, evenly_wrapped, stripped

_MAX_HEADING = 200
_TITLE_WITHIN = 65_536
_BY_LINE = frozenset({"fence", "code_block", "table"})
_LEAVES = frozenset({"paragraph", "heading", "fence", "code_block", "html_block", "hr", "table"})
_BOLD = re.compile(r"(\*\*|__)(?=\S)[^*_\n]{1,80}\1:?")
_SAYS_ENDS = (".", "!", "?", ":", "。", "！", "？", "：")

# Plain text: titles
_MAX_TITLE = 80
_MAX_TITLE_WORDS = 12
_MAX_CJK_TITLE = 30
_NO_TITLE_ENDS = tuple(".,;:!?…。，；：！？、&/-\u2010\u00ad")
_SENTENCE_ENDS = (".", "!", "?", "…", ".)", '."', ".”", "?”", "!”")
_START = re.compile(r"[^\W_]|--?\w")
_UNDERLINE = re.compile(r"([=\-~^\"'`*+#_.])\1{2,}")
_RANKS = {"=": 0, "-": 1}
_BY_INDENT = 4  # rank of a heading that nothing but its place makes one, plus its indentation
_VERSION = re.compile(
    r"(?:[\w.-]+ )?v?\d+(?:\.\w+)+[\w+-]*:?"
    r"(?P<dated>\s+[(\[][^()\[\]]*[)\]]|(?:\s*[-/–—,|:]\s*|\s+)[^.]{0,20}\b(?:19|20)\d\d\b[-/.\d]*)?"
)
_OF_VERSION = 3  # rank: above headings by their place, which say what of a version is meant
_LATEX = re.compile(r"\\(part|chapter|(?:sub)*section|(?:sub)?paragraph)\*?\{(.*)\}(?:\\label\{[^}]*\})?")
_VALUE = re.compile(r"\d{1,3}\s{2,}(?=[a-z])")  # before what it means, as below "Exit status:"
_TERM = re.compile(r"(--?\w\S*(?: \S+)*|\S+(?: \S+){0,3})\s{2,}(?=\S)")

# Plain text: paragraphs and code
_LINE_ENDS = tuple(".,;:!?…。，；：！？、")
_LOOSE = 0.3  # share of a text in overlong lines from which on every line break is the author's
_PROMPT = re.compile(r"(?:\$|>>>|\.\.\.)\s\S")
_CODE_MARK = re.compile(r"[{}\[\]=<>\\]|;$|(?:^|\s)--?\w|\w\(\S*\)")


def blocks(document: Document) -> list[Block]:
    """The blocks of a document; disjoint, in order, and holding every character that is not white space.

    Markdown: the top-level CommonMark blocks and tables; a list, a quotation, a table or a code fence is one block.
    Plain text: what blank lines separate, or single lines where a line is longer than any wrapped line would be.
    """
    is_plain = document.markup is Markup.NONE
    return _plain_blocks(document.text) if is_plain else list(_markdown_blocks(document.text))


def title_of(text: str) -> str:
    """The heading that names a whole Markdown text; empty if there is none.

    No sentence comes before it, and no other heading near the beginning has its level or a higher one.
    """
    found = list(_markdown_blocks(text[:_TITLE_WITHIN]))
    headings = [(i, block) for i, block in enumerate(found) if block.heading]
    if not headings or any(block.level <= headings[0][1].level for _, block in headings[1:]):
        return ""
    before = [part for block in found[: headings[0][0]] for part in block.parts if part.kind is UnitKind.PROSE]
    return "" if any(part.span.of(text).endswith(_SAYS_ENDS) for part in before) else headings[0][1].heading


def _markdown_blocks(text: str) -> Iterator[Block]:
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    who = speakers(lines_of(text, 0, len(text)))
    line = 0
    for node in SyntaxTreeNode(_block_parser().parse(text)).children:
        assert node.map is not None
        top, bottom = node.map
        yield from _rest(text, starts[line], starts[top])
        if span := stripped(text, starts[top], starts[bottom]):
            yield _block(span, node, tuple(_parts(text, starts, node, who)))
        line = bottom
    yield from _rest(text, starts[line], len(text))


def _block(span: Span, node: SyntaxTreeNode, parts: tuple[Part, ...]) -> Block:
    if node.type != "heading":
        return Block(span, by_line=node.type in _BY_LINE, parts=parts)
    heading = _without_markup(node.children[0].content) if node.children else ""
    kind = UnitKind.HEADING if any(map(str.isalnum, heading)) else UnitKind.FURNITURE
    return Block(span, level=int(node.tag[1:]), heading=heading, parts=(Part(span, kind),))


def _parts(text: str, starts: list[int], block: SyntaxTreeNode, who: frozenset[str]) -> Iterator[Part]:
    """The parts of a block: of each leaf in it, and of the lines between, such as an empty bullet's."""
    assert block.map is not None
    line, last = block.map
    for node in block.walk():
        if node.type not in _LEAVES or node.map is None or node.map[0] < line:
            continue
        first, line_after = node.map
        yield from _between(text, starts[line], starts[first])
        kind = UnitKind.ITEM if _is_in_list(node) else UnitKind.PROSE
        yield from _leaf(node.type, lines_of(text, starts[first], starts[line_after]), text, kind, who)
        line = line_after
    yield from _between(text, starts[line], starts[last])


def _is_in_list(node: SyntaxTreeNode) -> bool:
    return node.type == "list_item" or (node.parent is not None and _is_in_list(node.parent))


def _leaf(name: str, lines: list[Line], text: str, kind: UnitKind, who: frozenset[str]) -> Iterator[Part]:
    if not lines:
        return
    whole = Part(Span(start=lines[0].span.start, end=lines[-1].span.end), kind, lines[0].indent)
    inside = whole.span.of(text)
    if name in {"fence", "code_block"}:
        yield replace(whole, kind=UnitKind.CODE)
    elif name in {"heading", "hr"} or is_furniture(inside):
        yield replace(whole, kind=UnitKind.HEADING if name == "heading" else UnitKind.FURNITURE)
    elif name == "html_block":
        words = without_tags(inside).strip()
        yield replace(whole, kind=UnitKind.PROSE if words.endswith(_SAYS_ENDS) else UnitKind.FURNITURE)
    elif _BOLD.fullmatch(inside) and not inside.rstrip("*_").endswith(_SAYS_ENDS):
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


def _plain_blocks(text: str) -> list[Block]:
    """The blocks of plain text, which hold every character of it that is not white space."""
    lines = lines_of(text, 0, len(text))
    who = speakers(lines)
    loose = _is_loose(lines)
    found: list[Block] = []
    paragraphs = list(_paragraphs(lines, who, loose=loose))
    questions = find_questions([[] if is_table else paragraph for paragraph, is_table in paragraphs])
    if questions:
        who -= LABELS
    for i, (paragraph, is_table) in enumerate(paragraphs):
        if is_table:
            found.append(block_of(parts_of(paragraph, who), by_line=True))
        elif paragraph[0].span.start not in questions and _is_code(paragraph, found[-1] if found else None, text):
            found.append(_code(paragraph))
        else:
            following = paragraphs[i + 1][0][0] if i + 1 < len(paragraphs) else None
            for lines, is_title in _split_at_titles(paragraph, who):
                alone = is_title or (lines is paragraph and _stands_out(lines, following))
                found += _headed(lines, who, questions, may_be_title=alone)
    return found


def _code(lines: Sequence[Line]) -> Block:
    span = Span(start=lines[0].span.start, end=lines[-1].span.end)
    return block_of([Part(span, UnitKind.CODE, lines[0].indent)], by_line=True)


def _stands_out(paragraph: Sequence[Line], then: Line | None) -> bool:
    """Whether a paragraph is one line between blank lines, with text below it. Chinese needs no blank lines."""
    if then is None or len(paragraph) > 1:
        return False
    first = paragraph[0]
    if first.text[0].islower() and then.indent <= first.indent and not ITEM.match(then.text):
        return False
    return (first.after_blank and then.after_blank) or bool(CJK.search(first.text))


def _split_at_titles(paragraph: Sequence[Line], who: frozenset[str]) -> Iterator[tuple[Sequence[Line], bool]]:
    """The paragraph, cut before and after each line that is a title on top of others, and whether each part is one."""
    titles = [i for i in range(len(paragraph)) if _is_title_above(paragraph, i, who)]
    if not titles:
        yield paragraph, False
        return
    for start, end in pairwise([-1, *titles, len(paragraph)]):
        if start >= 0:
            yield paragraph[start : start + 1], True
        if end > start + 1:
            yield paragraph[start + 1 : end], False


def _headed(
    paragraph: Sequence[Line], who: frozenset[str], questions: Mapping[int, int], *, may_be_title: bool
) -> Iterator[Block]:
    """The headings in the first lines of a paragraph, then the rest of it."""
    below, name = None, ""
    while paragraph:
        if count := questions.get(paragraph[0].span.start):
            yield question_block(paragraph[:count], _BY_INDENT + paragraph[0].indent)
            paragraph, below = paragraph[count:], UnitKind.PROSE
            continue
        if questions and (label := ANSWER_LABEL.match(paragraph[0].text)):
            yield answer_block(paragraph, label[0], who)
            return
        found = _heading(paragraph, who, alone=may_be_title and below is None)
        if not found:
            break
        taken, part, name, below = found
        yield block_of([part], heading=name)
        for line in paragraph[1:taken]:
            yield block_of([Part(line.span, UnitKind.FURNITURE, line.indent)])
        paragraph = paragraph[taken:]
    if paragraph and below and not name.startswith("-") and _is_full_of_signs(paragraph):
        yield _code(paragraph)
    elif paragraph and (found := _term(paragraph)):
        part, paragraph, name = found
        yield block_of([part], heading=name)
        yield block_of(parts_of(paragraph, who, UnitKind.ITEM))
    elif paragraph:
        is_value = len(paragraph) == 1 and _VALUE.match(paragraph[0].text)
        yield block_of(parts_of(paragraph, who, below or (UnitKind.ITEM if is_value else UnitKind.PROSE)))


def _paragraphs(lines: Sequence[Line], who: frozenset[str], *, loose: bool) -> Iterator[tuple[Sequence[Line], bool]]:
    """Lines that stand together, and whether they are a table, which may have blank lines between its rows."""
    for stretch in _stretches(lines):
        at = 0
        found = tables([line.text for line in stretch], [line.indent for line in stretch], keyed=not who)
        for table in [*found, Table(range(len(stretch), len(stretch)))]:
            yield from ((paragraph, False) for paragraph in _prose(stretch[at : table.rows.start], who, loose=loose))
            if table.rows:
                yield stretch[table.rows.start : table.rows.stop], True
            at = table.rows.stop


def _stretches(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """Lines between blank lines; successive lines that each stand alone are kept together."""
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


def _prose(lines: Sequence[Line], who: frozenset[str], *, loose: bool) -> Iterator[Sequence[Line]]:
    """Paragraphs: lines between blank lines, or single lines where one is longer than wrapped lines are."""
    for paragraph in _between_blanks(lines):
        texts = [line.text for line in paragraph]
        chinese = bool(CJK.search(texts[0]))
        ragged = loose or chinese or max(map(len, texts)) > WRAP_WIDTH
        wrapped = not ragged or evenly_wrapped(texts, least=1 if chinese else 2)
        if wrapped and who & LABELS:
            yield from _split(paragraph, lambda i, texts=texts: speaker_of(texts[i]) in LABELS)
        else:
            yield from [paragraph] if wrapped else _single(paragraph, who)


def _between_blanks(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    return _split(lines, lambda i: lines[i].after_blank)


def _split(lines: Sequence[Line], begins: Callable[[int], bool]) -> Iterator[Sequence[Line]]:
    """The lines, cut before each that begins something."""
    start = 0
    for i in range(1, len(lines) + 1):
        if i == len(lines) or begins(i):
            yield lines[start:i]
            start = i


def _is_loose(lines: Sequence[Line]) -> bool:
    """Whether much of a text stands in lines longer than wrapped ones: then no line break in it is a wrap."""
    texts = [[line.text for line in paragraph] for paragraph in _between_blanks(lines)]
    long = (sum(len(t) for t in p if len(t) > WRAP_WIDTH) for p in texts if p and not evenly_wrapped(p))
    return sum(long) > _LOOSE * sum(len(line.text) for line in lines)


def _single(lines: Sequence[Line], who: frozenset[str]) -> Iterator[Sequence[Line]]:
    """Single lines. One in lower case is joined to a line before that has no end, and any line to a bare name."""

    def begins(i: int) -> bool:
        before, line = lines[i - 1].text, lines[i].text
        is_name = speaker_of(before) in who and is_mark(before)
        return not is_name and (not line[0].islower() or before.endswith(_LINE_ENDS))

    return _split(lines, begins)


def _is_code(paragraph: Sequence[Line], before: Block | None, text: str) -> bool:
    """Whether it is a dialogue with a shell, or indented below other text and full of signs."""
    if _PROMPT.match(paragraph[0].text):
        return True
    if before is None or before.parts[-1].kind is UnitKind.ITEM:
        return False
    deeper = paragraph[0].indent - before.parts[-1].indent
    if deeper < 0 or (deeper == 0 and before.parts[-1].kind is not UnitKind.CODE):
        return False
    announced = deeper > 0 and text.startswith("::", before.span.end - 2)
    return announced or _is_full_of_signs(paragraph)


def _is_full_of_signs(lines: Sequence[Line]) -> bool:
    """Whether every line has signs of code, none ends a sentence, and none is a term with its explanation."""
    ends = any(line.text.endswith((".", "!", "?", "。")) and not line.text.endswith("...") for line in lines)
    return not ends and not _hangs(lines) and all(_CODE_MARK.search(x.text) and not ITEM.match(x.text) for x in lines)


def _heading(lines: Sequence[Line], who: frozenset[str], *, alone: bool) -> tuple[int, Part, str, UnitKind] | None:
    """The heading at the top of a paragraph: how many lines it takes, itself, its name, and what stands below it.

    Speakers' names (``who``) head nothing; a line that stands ``alone`` may be a heading because of that.
    """
    first, then = lines[0], lines[1] if len(lines) > 1 else None
    part = _part(first, first.span)
    if command := _LATEX.fullmatch(first.text):
        return 1, replace(part, rank=command[1].count("sub")), command[2], UnitKind.PROSE
    if then and _VALUE.match(then.text) and then.indent > first.indent and first.text.endswith(":"):
        return 1, replace(part, hangs=True), first.text.rstrip(":"), UnitKind.ITEM
    version, titled = _VERSION.fullmatch(first.text), _is_title(first.text)
    rule = _UNDERLINE.fullmatch(then.text) if then and len(first.text) <= len(then.text) + 2 else None
    if not (titled or version or (rule and first.text.endswith(ASKS))) or speaker_of(first.text) in who:
        return None
    if rule:
        return 2, replace(part, rank=_RANKS.get(rule[1], 2)), first.text, UnitKind.PROSE
    if titled and ITEM.match(first.text) and then:
        return None
    if version and (version["dated"] or (then and ITEM.match(then.text))):
        return 1, replace(part, rank=_OF_VERSION + first.indent), first.text, UnitKind.ITEM
    if _hangs(lines):
        below = UnitKind.PROSE if first.text.isupper() else UnitKind.ITEM
        return 1, replace(part, hangs=True), first.text, below
    return (1, part, first.text, UnitKind.PROSE) if titled and alone and not first.text.startswith("-") else None


def _is_title_above(lines: Sequence[Line], i: int, who: frozenset[str]) -> bool:
    """Whether line ``i`` of a paragraph is a title on top of what follows, though no blank line stands between.

    It stands at the top or behind a sentence, and either is in capitals, or is the shorter line, with room for the next
    word: no wrapping explains the break.
    """
    line, then = lines[i], lines[i + 1] if i + 1 < len(lines) else None
    if then is None or not _is_title(line.text) or not line.text[0].isupper() or CJK.search(line.text):
        return False
    if _UNDERLINE.fullmatch(then.text) or _hangs(lines[i : i + 2]) or speaker_of(line.text) or ITEM.match(then.text):
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


def _hangs(lines: Sequence[Line]) -> bool:
    """Whether what follows the first line is indented below it, as below a heading or a term."""
    return len(lines) > 1 and lines[1].indent > lines[0].indent + 1 and _is_title(lines[0].text)


def _term(lines: Sequence[Line]) -> tuple[Part, Sequence[Line], str] | None:
    """A term before a wide gap, the lines that explain it (the rest of its own and those below), and its name."""
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


def _is_title(text: str) -> bool:
    """Whether a line may be a heading or a term: short, no sentence, no columns."""
    if len(text) > _MAX_TITLE or text.endswith(_NO_TITLE_ENDS) or not any(map(str.isalpha, text)) or "   " in text:
        return False
    if text.count("(") != text.count(")"):
        return False
    if CJK.search(text):
        return len(text) <= _MAX_CJK_TITLE and (text[0].isalnum() or text[0] in "（(") and not set(text) & set("：，")
    return len(text.split()) <= _MAX_TITLE_WORDS and bool(_START.match(text))
