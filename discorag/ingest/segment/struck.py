"""Struck-out words of Markdown: the document has them, and no quotation does."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

from discorag.schema.values import Span

_MAX_STRUCK = 3000  # characters between a mark and the one that closes it
_MARK = re.compile(
    r"(?P<code>`+)|(?P<tildes>(?<!~)~~(?!~))|<(?P<slash>/?)(?P<tag>del|strike|s)\b[^<>]{0,200}>", re.IGNORECASE
)
_MAY_STRIKE = re.compile(r"~~|</(?:del|s|strike)>", re.IGNORECASE)


def struck_spans(text: str, start: int, end: int) -> list[Span]:
    """The struck passages of a paragraph of Markdown, ``text[start:end]``, with their marks, in offsets of ``text``."""
    if not _MAY_STRIKE.search(text, start, end):
        return []
    pairs: list[tuple[re.Match[str], int]] = []  # the marks from the last one on, each with the end of its closing one
    ends: dict[str, int] = {}
    for mark in reversed(list(_MARK.finditer(text, start, end))):
        kind = (mark["tag"] or mark[0]).lower()
        if kind in ends and _opens(mark, text):
            pairs.append((mark, ends[kind]))
        if _closes(mark, text):
            ends[kind] = mark.end()
    found: list[Span] = []
    at = start
    for mark, closed in reversed(pairs):
        if at <= mark.start() and closed - mark.end() <= _MAX_STRUCK:
            at = closed
            found += () if mark["code"] else (Span(start=mark.start(), end=closed),)
    return found


def _opens(mark: re.Match[str], text: str) -> bool:
    if mark["tildes"]:
        return text[mark.start() - 1 : mark.start()] != "\\" and not text[mark.end() : mark.end() + 1].isspace()
    return not mark["slash"]


def _closes(mark: re.Match[str], text: str) -> bool:
    if mark["tildes"]:
        return text[mark.start() - 1 : mark.start()].strip() not in ("", "\\")
    return not mark["tag"] or bool(mark["slash"])


def keep_whole(sentences: Sequence[Span], struck: Sequence[Span]) -> Iterator[Span]:
    """The sentences, joined where a struck passage lies in two of them."""
    cuts = [0, *(i for i, s in enumerate(sentences) if i and not _inside(s.start, struck)), len(sentences)]
    for first, end in pairwise(cuts):
        if first < end:
            yield Span(start=sentences[first].start, end=sentences[end - 1].end)


def is_struck(sentence: Span, struck: Sequence[Span], text: str) -> bool:
    """Whether nothing of a sentence is left without what is struck out."""
    at, left = sentence.start, ""
    inside = slice(bisect_left(struck, at, key=_start), bisect_left(struck, sentence.end, key=_start))
    for span in struck[inside]:
        left, at = left + text[at : span.start], span.end
    return at > sentence.start and not any(map(str.isalnum, left + text[at : sentence.end]))


def _inside(at: int, spans: Sequence[Span]) -> bool:
    before = bisect_left(spans, at, key=_start) - 1
    return before >= 0 and at < spans[before].end


def _start(span: Span) -> int:
    return span.start
