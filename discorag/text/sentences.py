"""Sentences with exact offsets, in English and Chinese (sentencex)."""

from __future__ import annotations

import re

from sentencex import get_sentence_boundaries

from discorag.text.span import Span

_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


def language_of(text: str) -> str:
    """``zh`` if at least three in ten of the first 2,000 letters are Chinese characters, else ``en``."""
    letters = [c for c in text[:2000] if c.isalpha()]
    cjk = sum(1 for c in letters if _CJK.match(c))
    return "zh" if letters and cjk / len(letters) >= 0.3 else "en"


def sentence_spans(text: str, *, offset: int = 0) -> tuple[Span, ...]:
    """Spans of the sentences of ``text`` without surrounding white space, shifted by ``offset``.

    The spans are disjoint, in order, and hold every character that is not white space.
    """
    boundaries = get_sentence_boundaries(language_of(text), text)
    spans = (_stripped(text, b["start_index"], b["end_index"]) for b in boundaries)
    return tuple(Span(start=s + offset, end=e + offset) for s, e in spans if s < e)


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end
