"""Sentences with exact offsets, in English and Chinese (sentencex, corrected where it breaks citations and lists)."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from sentencex import get_sentence_boundaries

from discorag.schema.values import Span

# sentencex takes quadratic time on text with many CJK sentences, so it sees a window at a time.
_WIDE_SPACE = re.compile(r"[^\S\x00-\x7f]")
_WINDOW = 4000
# A block whose longest line is shorter or longer is not hard-wrapped: its line breaks are the author's.
_MIN_WRAP_WIDTH = 30
WRAP_WIDTH = 120
_EVENLY = 0.8  # the least share of full lines in a block of wider lines that is wrapped

CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
LIST_MARK = (
    r"(?:[-*+•‣◦▪●·□■]\s|\d{1,3}[.)]\s|\([0-9A-Za-z]{1,4}\)|[a-z]\)\s"
    r"|（[0-9A-Za-z]{1,4}）|\d{1,3}、|\d{1,3}[.．](?=[\u3400-\u9fff])|[（(]?[一二三四五六七八九十]{1,3}[）)、])"
)
ITEM = re.compile(rf"[ \t]*(?:{LIST_MARK}|\[\d{{1,3}}\]\s+[A-Z]|\|)")
_ABBREVIATION = re.compile(r"(?:^|[\s(\[（])(?:vs|approx|resp|Proc|Int|Conf|Trans|Commun|Symp|Tech)\.\s*$")
_REFERENCE = re.compile(
    r"(?:^|[\s(\[（])(?:eqs?|figs?|tabs?|refs?|sect?s?|chaps?|app|thm|lem|prop|def|alg|nos|vols?)\.\s*$", re.IGNORECASE
)
_NUMBER_ONLY = re.compile(r"\s*[(\[]?(?:\d{1,3}|[A-Za-z])[.)]\s*$")
_CITATION = re.compile(r"\[[\d\s,;–-]+\]\s*$")
_QUOTED_END = re.compile(r"[!?][`\"”’')]+\s*$")
_DISPLAY_MATH = re.compile(r"\$\$[^$]{1,3000}\$\$")
_CLOSERS = re.compile(r"(?:[\"”’»)\]）】」』*_~]|\[\^[^\]\s]{1,40}\])+(?=\s|$)")  # also references to notes


def language_of(text: str) -> str:
    """``zh`` if at least three in ten of the letters among the first 2,000 characters are Chinese, else ``en``."""
    head = text[:2000]
    if head.isascii():
        return "en"
    letters = sum(map(str.isalpha, head))
    return "zh" if letters and len(CJK.findall(head)) / letters >= 0.3 else "en"


def stripped(text: str, start: int, end: int) -> Span | None:
    """``[start, end)`` without surrounding white space; None if nothing is left."""
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    return Span(start=start + left, end=start + len(part.rstrip())) if left < len(part) else None


def sentence_spans(text: str, *, offset: int = 0) -> tuple[Span, ...]:
    """Spans of the sentences of ``text`` without surrounding white space, shifted by ``offset``.

    The spans are disjoint, in order, and hold every character that is not white space. A list item or table row
    starts a new sentence; so does a line after a break that no wrapping explains.
    """
    formulas = [m.span() for m in _DISPLAY_MATH.finditer(text)]
    breaks = _outside(_hard_breaks(text), formulas)
    cuts = (line + cut for line, end in pairwise([*breaks, len(text)]) for cut in (0, *_cuts(text[line:end])))
    spans = (stripped(text, start, end) for start, end in pairwise([*_outside(cuts, formulas), len(text)]))
    return tuple(span.shifted(offset) for span in spans if span)


def evenly_wrapped(lines: Sequence[str], *, least: int = 2) -> bool:
    """Whether lines of any width are a wrapped paragraph: few have room for the first word of the next line.

    With fewer than ``least`` line breaks it cannot be told, and is False.
    """
    width = max(map(len, lines))
    pairs = [(line, following) for line, following in pairwise(lines) if line.strip() and following.strip()]
    full = sum(_is_full(line, following, width) for line, following in pairs)
    return len(pairs) >= least and full >= _EVENLY * len(pairs)


def _outside(cuts: Iterable[int], formulas: list[tuple[int, int]]) -> list[int]:
    """The cuts that are not inside a formula."""
    outside: list[int] = []
    for cut in cuts:
        before = bisect_left(formulas, (cut,)) - 1
        if before < 0 or formulas[before][1] <= cut:
            outside.append(cut)
    return outside


def _hard_breaks(text: str) -> Iterator[int]:
    """0, and the starts of the lines that begin something new."""
    yield 0
    lines = _with_first_indent(text.split("\n"))
    width = max(map(len, lines))
    if width > WRAP_WIDTH and not evenly_wrapped(lines):
        width = 0
    at = len(text.split("\n", 1)[0]) - len(lines[0])
    for line, following in pairwise(lines):
        at += len(line) + 1
        if ITEM.match(following) or (_may_start_sentence(following) and not _wrapped(line, following, width)):
            yield at


def _with_first_indent(lines: list[str]) -> list[str]:
    """The lines of a paragraph; a first line that lost its indentation gets that of the second line."""
    if len(lines) < 2 or lines[0][:1].isspace():
        return lines
    mark = ITEM.match(lines[0])
    missing = len(lines[1]) - len(lines[1].lstrip()) - (mark.end() if mark else 0)
    return [" " * missing + lines[0], *lines[1:]]


def _may_start_sentence(line: str) -> bool:
    first = line.lstrip()[:1]
    return first.isupper() or first.isdigit() or bool(CJK.match(first))


def _wrapped(line: str, following: str, width: int) -> bool:
    """Whether the break after ``line`` means nothing: it ends with a comma or the like, or had no room for a word."""
    if line.rstrip().endswith((",", "，", "、", "&", "/", "(")):
        return True
    return width >= _MIN_WRAP_WIDTH and _is_full(line, following, width)


def _is_full(line: str, following: str, width: int) -> bool:
    words = following.split(maxsplit=1)
    room = width - len(line.rstrip())
    needed = 2 if CJK.match(words[0]) else 1 + len(words[0])
    return needed > room


def _cuts(text: str) -> Iterator[int]:
    """Positions between sentences, ascending."""
    start = 0
    for cut in _raw_cuts(text, language_of(text)):
        closers = _CLOSERS.match(text, cut)
        end = closers.end() if closers else cut
        if end > start and not _joined(text, start, end):
            yield end
            start = end


def _raw_cuts(text: str, language: str) -> Iterator[int]:
    start, size = 0, _WINDOW
    plain = _WIDE_SPACE.sub(" ", text)  # sentencex fails next to white space of several bytes
    while start < len(text):
        ends = [start + b["end_index"] for b in get_sentence_boundaries(language, plain[start : start + size])]
        if start + size >= len(text):
            yield from ends[:-1]
            return
        if len(ends) < 2:
            size *= 2
            continue
        yield from ends[:-1]  # the last sentence may go on behind the window
        start, size = ends[-2], _WINDOW


def _joined(text: str, start: int, cut: int) -> bool:
    """Whether the sentence from ``start`` continues after ``cut``.

    Examples: "Eq. | (3)", "[4] | showed", "1. | First", "doi.org/10. | 18653", "`!` | rule", the image "! | [](x.png)".
    """
    before, after = text[max(start, cut - 40) : cut], text[cut : cut + 40]
    following = after.lstrip()[:1]
    if before[-1:] == "." and after == after.lstrip() and (following.islower() or following.isdigit()):
        return True
    if _ABBREVIATION.search(before) or _NUMBER_ONLY.match(before) or (before[-1:] == "!" and following == "["):
        return True
    if _REFERENCE.search(before):
        return following.isdigit() or following in "([$\\"
    return following.islower() and bool(_CITATION.search(before) or _QUOTED_END.search(before))
