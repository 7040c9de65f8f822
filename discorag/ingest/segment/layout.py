"""Layout of lines: which of them are rows of tables, items, turns, references or furniture, before anything is parsed.

Only characters of layout count (bullets, bars, columns, indentation, labels at the start of a line), never words.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from discorag.ingest.segment.struck import is_struck, keep_whole, struck_spans
from discorag.schema.document import Markup, UnitKind
from discorag.schema.values import Span
from discorag.text.sentences import ITEM, sentence_spans, stripped
from discorag.text.terms import terms

_LABEL = re.compile(
    r"(?:[\[(]?\d{1,2}:\d{2}(?::\d{2})?[\])]?\s+)?[*_]{0,3}(?P<who>[^\W\d_][^:：\n]{0,40}?)[*_]{0,3}[:：][*_]{0,3}(?=\s|$)"
)
_MAX_LABEL_WORDS = 5
_TURNS_SHARE = 0.4  # of the lines, or paragraphs, that open with a repeated label, from which on it is a dialogue
_SHORT_WORD = 4  # letters: fillers that are not stop words ("yeah", "okay") have no more
_NOISE = re.compile(r"\{[^{}]*\}")
_MAX_CODE = 1000  # characters of code that stay one unit
_REFERENCE = re.compile(r"\[(\d{1,3})\]:?\s+\S|\[[^\]\n]+\]:\s*\S+$")
NOTE = re.compile(r"\[\^([^\]\s]+)\]:\s")
"""How a footnote begins; its reference is ``[^1]``."""
_NO_WORDS = re.compile(r"[\W_]*+(?:\d{1,4}+|[A-Za-z])?+[\W_]*+")
_LEADERS = re.compile(r"(?:\. ?){4}\s*\d{1,4}$")  # of a table of contents, to its page
_TARGET = r"(?:\((?:[^()\n]|\([^()\n]*\)){0,1000}\)|\[[^\[\]\n]*\])"  # of a link
_LINK = re.compile(r"\[[^\[\]\n]*\]" + _TARGET)
_TAG = re.compile(r"<[!/?A-Za-z][^<>]{0,2000}>")
_QUOTED = re.compile(r"^(?:> ?)+")
_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)
_FORMULA = re.compile(r"\$\$.*\$\$|\\\[.*\\\]|\\begin\{(?!itemize|enumerate|abstract)([^}]*)\}.*\\end\{\1\}", re.DOTALL)
_LATEX_LINE = re.compile(r"\\(?:begin|end|label|usepackage|documentclass|maketitle|centering|item)\b\S*")

# Tables
MIN_ROWS = 3  # lines in a row that must align before they are a table, unless bars say so
_MIN_RIVER = 2  # characters that stay white over all lines between two columns
_WIDE_GAP = 4  # ... and that at least one line must have there: justified prose has none so wide
_MANY_ROWS = 20  # lines that align by more than chance, however narrow the gaps
_MAX_LABELS = 2
_MAX_GAPS = 200  # of a line that are looked at: a table shows itself in its first columns
_GAP = re.compile(r"(?<![.!?:])\s{2,}|(?<=[.!?:])\s{3,}")
_COLUMN = re.compile(r"\s{2,}|\t")
_BAR = re.compile(r"(?<!\\)\|")
_DELIMITERS = (re.compile(r"\t"), re.compile(r",(?! )"), re.compile(r";(?! )"))
_JUSTIFIED = re.compile(r" [ \t]|\t ")  # what `col -b` makes of the columns of a manual page
_TIMED = re.compile(r"\[?\d{2,4}[-/:.]\d{2}[-/:.]\d{2,4}[^\s]*")
KEYED = re.compile(r"[^\W_][\w.-]*(?: [\w.-]+){0,2} ?[:：]\s*\S")
_YEAR = re.compile(r"(?:19|20)\d\d")
_CURRENCY = re.compile(r"[$€£¥]")
_CLOSING = re.compile(r"[)%]+")

WHOLE = frozenset(UnitKind) - {UnitKind.PROSE, UnitKind.ITEM, UnitKind.TURN}
"""Kinds whose part is one unit, however many sentences it may hold."""


@dataclass(frozen=True)
class Line:
    r"""A line that is not blank: where it is, how far it is indented, and its text, without marks of quotation."""

    span: Span
    indent: int
    text: str
    after_blank: bool


@dataclass(frozen=True)
class Part:
    """Lines that belong together; no unit crosses their border.

    Args:
        span: Its characters, without surrounding white space.
        kind: The kind of its units, before each is looked at.
        indent: White space before its first line.
        rank: If it is a heading in plain text, its rank: the lower, the higher its level.
        hangs: Whether the text below such a heading is indented deeper, and ends where it is not.
    """

    span: Span
    kind: UnitKind
    indent: int = 0
    rank: int = 0
    hangs: bool = False


@dataclass(frozen=True)
class Block:
    """A paragraph of the source, a heading, a list, a table or a block of code.

    Args:
        span: Its characters, without surrounding white space.
        level: 1 to 6 for a Markdown heading, else 0.
        heading: A heading's text without markup, at most 200 characters; of plain text, where it is one by layout.
        by_line: Whether it is code or a table.
        parts: What it is made of, in order; they hold every character of it that is not white space.
    """

    span: Span
    level: int = 0
    heading: str = ""
    by_line: bool = False
    parts: tuple[Part, ...] = ()


def block_of(parts: Sequence[Part], *, by_line: bool = False, heading: str = "") -> Block:
    """The block that consists of ``parts``."""
    span = Span(start=parts[0].span.start, end=parts[-1].span.end)
    return Block(span, heading=heading, by_line=by_line, parts=tuple(parts))


def lines_of(text: str, start: int, end: int) -> list[Line]:
    """The lines of ``text[start:end]`` that are not blank, with offsets in ``text``."""
    found: list[Line] = []
    at, blank = start, True
    for raw in text[start:end].split("\n"):
        span = stripped(raw, 0, len(raw))
        if span:
            found.append(Line(span.shifted(at), len(raw[: span.start].expandtabs()), _unquote(span.of(raw)), blank))
        blank = span is None
        at += len(raw) + 1
    return found


def _unquote(text: str) -> str:
    """A line without the marks of a quotation before it (">>>" is a prompt)."""
    return text if text.startswith(">>>") else _QUOTED.sub("", text) or text


def speakers(lines: Iterable[Line]) -> frozenset[str]:
    """Labels before a colon that open lines, or paragraphs of wrapped lines, again and again; else none."""
    every = [(speaker_of(line.text), line.after_blank) for line in lines]
    return _repeated([who for who, _ in every]) or _repeated([who for who, opens in every if opens])


def _repeated(labels: Sequence[str]) -> frozenset[str]:
    """The labels of lines (empty where one has none), if enough lines have one that comes again."""
    found = Counter(filter(None, labels))
    repeated = {label: n for label, n in found.items() if n > 1}
    is_dialogue = len(repeated) > 1 and sum(repeated.values()) >= max(4, _TURNS_SHARE * len(labels))
    return frozenset(found) if is_dialogue else frozenset()


def speaker_of(text: str) -> str:
    """What stands before the colon at the start of a line; empty if it is not a label."""
    found = _LABEL.match(text)
    who = found["who"] if found and len(found["who"].split()) <= _MAX_LABEL_WORDS else ""
    return "" if who[:1].islower() else who


def without_speaker(text: str) -> str:
    """``text`` without the speaker's label."""
    return _LABEL.sub("", text, count=1) if speaker_of(text) else text


def is_mark(text: str) -> bool:
    """Whether a text only opens what follows it: a list's number or bullet, or a name before a colon."""
    return has_no_word(text) or not without_speaker(text).strip()


def has_no_word(text: str) -> bool:
    """Whether there is nothing but signs in it, or a number or a letter among them."""
    return bool(_NO_WORDS.fullmatch(text))


def parts_of(lines: Sequence[Line], who: frozenset[str] = frozenset(), kind: UnitKind = UnitKind.PROSE) -> list[Part]:
    """The parts of a paragraph; unmarked lines are of this kind. ``who``: the document's `speakers`."""
    if is_formula("\n".join(line.text for line in lines)):
        return [Part(Span(start=lines[0].span.start, end=lines[-1].span.end), UnitKind.FORMULA, lines[0].indent)]
    rows = _row_kinds(lines, who)
    references = _references(lines)
    labelled = kind is UnitKind.ITEM and 2 * sum(bool(KEYED.match(line.text)) for line in lines) >= len(lines)
    parts: list[Part] = []
    joins = False
    for i, line in enumerate(lines):
        found = rows.get(i) or (UnitKind.REFERENCE if i in references else _kind_of_line(line.text, who))
        if found is None and joins and not (labelled and KEYED.match(line.text)):
            whole = Span(start=parts[-1].span.start, end=line.span.end)
            parts[-1] = replace(parts[-1], span=whole)
        else:
            parts.append(Part(line.span, found or kind, line.indent))
        joins = i not in rows and parts[-1].kind not in {UnitKind.FURNITURE, UnitKind.HEADING}
    return parts


def _row_kinds(lines: Sequence[Line], who: frozenset[str]) -> dict[int, UnitKind]:
    """Index of each line of a table -> whether it is a row, a header row, or a rule."""
    kinds: dict[int, UnitKind] = {}
    for table in tables([line.text for line in lines], [line.indent for line in lines], keyed=not who):
        for i in table.rows:
            kind = UnitKind.HEADER if i in table.headers else UnitKind.ROW
            kinds[i] = kind if any(map(str.isalnum, lines[i].text)) else UnitKind.FURNITURE
    return kinds


def _references(lines: Sequence[Line]) -> set[int]:
    """Indices of the lines that begin with numbers in brackets, one after another, or define a link."""
    numbers = {i: m[1] for i, line in enumerate(lines) if (m := _REFERENCE.match(line.text))}
    counted = {i: int(n) for i, n in numbers.items() if n}
    values = set(counted.values())
    return {i for i in numbers if i not in counted or {counted[i] - 1, counted[i] + 1} & values}


def _kind_of_line(text: str, who: frozenset[str]) -> UnitKind | None:
    """What marks at the start of a line make it, None for nothing: it may go on with what stands above."""
    if is_furniture(text):
        return UnitKind.FURNITURE
    if who and speaker_of(text) in who:
        return UnitKind.TURN
    return UnitKind.ITEM if ITEM.match(text) or NOTE.match(text) or text.startswith("\\item") else None


def is_furniture(text: str) -> bool:
    """Whether nothing is said: a rule, a number alone, an image, or links with nothing between them."""
    if has_no_word(text) or _LATEX_LINE.fullmatch(text) or _LEADERS.search(text):
        return True
    if "[" not in text and "<" not in text:
        return False
    bare = _LINK.sub("", _LINK.sub("", without_tags(text)))  # an image in a link is two of them
    return not any(map(str.isalpha, bare))


def without_tags(text: str) -> str:
    """``text`` without tags and comments of HTML."""
    return _TAG.sub("", _COMMENT.sub("", text))


def is_formula(text: str) -> bool:
    """Whether a paragraph or a sentence is only a displayed formula."""
    return bool(_FORMULA.fullmatch(text))


def sentences_of(part: Part, text: str, markup: Markup = Markup.NONE) -> Iterator[tuple[Span, UnitKind]]:
    """The units of a part and their kinds: its sentences, or the whole of it. ``markup`` is the document's."""
    inside = part.span.of(text)
    if part.kind is UnitKind.CODE:
        yield from ((span, part.kind) for span in _code_spans(inside, part.span.start))
    elif part.kind in WHOLE:
        yield part.span, part.kind
    else:
        sentences = sentence_spans(inside, offset=part.span.start)
        struck = struck_spans(text, part.span.start, part.span.end) if markup is Markup.INLINE else []
        whole = tuple(keep_whole(sentences, struck)) if struck else sentences
        for span in whole if part.kind is UnitKind.PROSE else _with_marks(whole, text):
            is_gone = is_struck(span, struck, text)
            yield span, UnitKind.FURNITURE if is_gone else _kind_of_sentence(span.of(text), part.kind)


def _with_marks(sentences: Sequence[Span], text: str) -> Sequence[Span]:
    """The sentences of an item or a turn; where the first is only a mark that opens the next, as one."""
    if len(sentences) < 2 or not is_mark(sentences[0].of(text)):
        return sentences
    return (Span(start=sentences[0].start, end=sentences[1].end), *sentences[2:])


def _kind_of_sentence(sentence: str, kind: UnitKind) -> UnitKind:
    if is_furniture(sentence):
        return UnitKind.FURNITURE
    if is_formula(sentence):
        return UnitKind.FORMULA
    return UnitKind.FURNITURE if kind is UnitKind.TURN and _is_back_channel(sentence) else kind


def _is_back_channel(sentence: str) -> bool:
    """Whether a sentence of a dialogue has neither a number nor a word of some length that is not a stop word."""
    words = terms(_NOISE.sub(" ", without_speaker(sentence)))
    return not any(len(word) > _SHORT_WORD or word.isdigit() or not word.isascii() for word in words)


def _code_spans(code: str, offset: int) -> Iterator[Span]:
    """The code as one span; where it is long, cut between lines."""
    cuts, at = [0], 0
    for line in code.splitlines(keepends=True):
        if at > cuts[-1] and at + len(line) - cuts[-1] > _MAX_CODE:
            cuts.append(at)
        at += len(line)
    for start, end in pairwise([*cuts, len(code)]):
        if span := stripped(code, start, end):
            yield span.shifted(offset)


@dataclass(frozen=True)
class Table:
    """Lines ``rows`` of a text that are a table; those among them that name its columns are ``headers``."""

    rows: range
    headers: frozenset[int] = frozenset()


def tables(texts: Sequence[str], indents: Sequence[int], *, keyed: bool = True) -> list[Table]:
    """The tables among lines, in order. ``texts`` are stripped; ``indents`` counts the white space before each.

    ``keyed``: whether lines like ``Licence: MIT`` count; in a dialogue they are its turns.
    """
    found: list[Table] = []
    at = 0
    while at < len(texts):
        end = max(
            _run(texts, at, _is_barred, least=1),
            _delimited(texts, at),
            _aligned(texts, indents, at),
            _run(texts, at, _TIMED.match),
            _run(texts, at, KEYED.match) if keyed else at,
        )
        if end > at:
            inside, inside_indents = texts[at:end], indents[at:end]
            top = _top(inside, inside_indents)
            headers = (*range(top), *_lower(inside, inside_indents, top))
            found.append(Table(range(at, end), frozenset(at + i for i in headers)))
        at = max(end, at + 1)
    return found


def cells(row: str) -> list[str]:
    """The cells of a row, by whatever sets them apart; empty ones stay between bars and other delimiters."""
    if row.startswith("|") or row.endswith("|"):
        return [cell.strip() for cell in _BAR.split(row.strip().removeprefix("|").removesuffix("|"))]
    delimited = max(_DELIMITERS, key=lambda d: len(d.findall(row)))
    if not _GAP.search(row.replace("\t", " ")) and delimited.search(row):
        return [cell.strip().strip('"') for cell in delimited.split(row)]
    return _whole_amounts([cell for cell in _COLUMN.split(row.strip()) if cell])


def _whole_amounts(parts: Sequence[str]) -> list[str]:
    """Cells with the currency before and the bracket behind an amount, which columns often set apart, put to it."""
    joined: list[str] = []
    for part in parts:
        if joined and (_CURRENCY.fullmatch(joined[-1]) or _CLOSING.fullmatch(part)):
            joined[-1] += part
        else:
            joined.append(part)
    return joined


def _run(texts: Sequence[str], at: int, holds: Callable[[str], object], least: int = MIN_ROWS) -> int:
    """End of the lines from ``at`` on for which something holds; ``at`` if these are too few for a table."""
    end = at
    while end < len(texts) and holds(texts[end]):
        end += 1
    return end if end - at >= least else at


def _is_barred(text: str) -> bool:
    return text.startswith("|") and text.count("|") > 1


def _delimited(texts: Sequence[str], at: int) -> int:
    """End of the lines that have as many tabs, or two or more commas or semicolons, as the first."""
    ends = [at]
    for delimiter, least in zip(_DELIMITERS, (1, 2, 2), strict=True):
        count = _count(delimiter, texts[at])
        if count >= least:
            ends.append(_run(texts, at, lambda text, d=delimiter, n=count: _count(d, text) == n))
    return max(ends)


def _count(delimiter: re.Pattern[str], text: str) -> int:
    """How many delimiters a line has; tabs among other white space only align."""
    return 0 if "\t" in text and _JUSTIFIED.search(text) else len(delimiter.findall(text))


def _aligned(texts: Sequence[str], indents: Sequence[int], at: int) -> int:
    """End of the lines over which white columns ("rivers") run; between them may be labels ("Assets:")."""
    rivers: list[tuple[int, int]] = []
    rows: list[Sequence[tuple[int, int]]] = []
    end = at
    for i in range(at, len(texts)):
        found = islice(_GAP.finditer(texts[i]), _MAX_GAPS)
        gaps = [(m.start() + indents[i], m.end() + indents[i]) for m in found]
        if rows and not gaps and i - end < _MAX_LABELS and indents[i] + len(texts[i]) < rivers[-1][0]:
            continue
        before = [(0, indents[i]), *gaps]  # a header row may have nothing over the first column
        rivers = list(_meet(rivers, before)) if rows else before
        if not any(_meet(rivers, gaps)):
            break
        end = i + 1
        rows.append(gaps)
    return end if any(_is_column(list(filter(None, (_over_river(r, gaps) for gaps in rows)))) for r in rivers) else at


def _over_river(river: tuple[int, int], gaps: Sequence[tuple[int, int]]) -> int:
    """Width of a line's gap at a river; 0 if its text begins behind it or runs over it."""
    return next((end - start for start, end in gaps if start <= river[0] and river[1] <= end), 0)


def _is_column(widths: Sequence[int]) -> bool:
    """Whether the gaps of lines at one place set columns apart, and not words of justified prose."""
    return bool(widths) and len(widths) >= (MIN_ROWS if max(widths) >= _WIDE_GAP else _MANY_ROWS)


def _meet(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """What two sequences of intervals, each in order, have in common, where that is wide enough."""
    i = j = 0
    while i < len(a) and j < len(b):
        low, high = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if high - low >= _MIN_RIVER:
            yield low, high
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1


def _top(texts: Sequence[str], indents: Sequence[int]) -> int:
    """How many lines at the top name the columns."""
    if texts[0].startswith("|"):
        return _over_rule(texts) or _wordy(texts)
    if _TIMED.match(texts[0]) or KEYED.match(texts[0]):
        return 0
    blank = next((i for i, indent in enumerate(indents) if indent <= min(indents) + _WIDE_GAP), 0)
    return blank or _wordy(texts)


def _lower(texts: Sequence[str], indents: Sequence[int], top: int) -> Iterator[int]:
    """Rows further down that name the columns again: words only, and nothing over the first column.

    In a table of Markdown only the rows above its rule do.
    """
    if texts[0].startswith("|") and _over_rule(texts):
        return
    least = min(indents)
    for i in range(top + 1, len(texts) - 1):
        is_blank = indents[i] > least + _WIDE_GAP or not cells(texts[i])[0]
        if is_blank and not any(map(str.isdigit, texts[i])) and any(map(str.isalpha, texts[i])):
            yield i


def _over_rule(texts: Sequence[str]) -> int:
    """How many rows stand above a first row of dashes."""
    return next((i for i, text in enumerate(texts[:4]) if not any(map(str.isalnum, text))), 0)


def _wordy(texts: Sequence[str]) -> int:
    """1 if the first row has words or years where rows below it have figures, else 0."""
    first = cells(texts[0])[1:]
    figures = sum(any(map(str.isdigit, "".join(cells(t)[1:]))) for t in texts[1:])
    named = all(_YEAR.fullmatch(c) or not any(map(str.isdigit, c)) for c in first)
    return int(bool(first) and named and 2 * figures >= len(texts) - 1)
