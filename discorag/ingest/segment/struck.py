"""Struck-out words of Markdown: the document keeps them, and no quotation has them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from discorag.schema.values import Span

_CODE = r"(`+)(?!`).{1,3000}?(?<!`)\1(?!`)"
_TILDES = r"(?<![\\~])~~(?![~\s]).{1,3000}?(?<![\s\\~])~~(?!~)"
_TAGS = r"<(del|s|strike)\b[^<>]{0,200}>.{0,3000}?</\2>"
_STRUCK = re.compile(f"{_CODE}|{_TILDES}|{_TAGS}", re.DOTALL | re.IGNORECASE)
_MAY_STRIKE = re.compile(r"~~|</(?:del|s|strike)>", re.IGNORECASE)


def struck_spans(text: str, start: int, end: int) -> list[Span]:
    """What a paragraph of Markdown at ``text[start:end]`` strikes out, with the marks, in offsets of ``text``."""
    if not _MAY_STRIKE.search(text, start, end):
        return []
    return [Span(start=m.start(), end=m.end()) for m in _STRUCK.finditer(text, start, end) if m[1] is None]


def keep_whole(sentences: Sequence[Span], struck: Sequence[Span]) -> Iterator[Span]:
    """The sentences, joined where a struck passage lies in two of them."""
    cuts = [0, *(i for i, s in enumerate(sentences) if i and not _inside(s.start, struck)), len(sentences)]
    for first, end in pairwise(cuts):
        if first < end:
            yield Span(start=sentences[first].start, end=sentences[end - 1].end)


def is_struck(sentence: Span, struck: Iterable[Span], text: str) -> bool:
    """Whether nothing of a sentence is left without what is struck out."""
    at, left = sentence.start, ""
    for span in (span for span in struck if sentence.contains(span)):
        left, at = left + text[at : span.start], span.end
    return at > sentence.start and not any(map(str.isalnum, left + text[at : sentence.end]))


def _inside(at: int, spans: Sequence[Span]) -> bool:
    return any(span.start < at < span.end for span in spans)
