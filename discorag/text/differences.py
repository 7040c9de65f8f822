"""Which words differ between two sentences."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from discorag.schema.values import Span

ALIKE = 0.6
"""The least share of common words of two sentences that differ only in some words."""
_WORD = re.compile(r"\d[\d.,:/-]*(?:\s?%)?|\w+(?:['’-]\w+)*")
_TELLING = re.compile(r"^\d|^(?:no|not|never|none|nor|neither|without|cannot)$|n['’]t$", re.IGNORECASE)


def differing_words(one: str, other: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The words that differ between two sentences, as spans of each sentence; neighbouring words make one span.

    If the sentences are not `ALIKE`, only figures and negations that the other one lacks count, since nearly every word
    differs.
    """
    first, second = (list(_WORD.finditer(text)) for text in (one, other))
    words = [[word[0].casefold() for word in found] for found in (first, second)]
    matcher = SequenceMatcher(None, *words, autojunk=False)
    if matcher.ratio() < ALIKE:
        return tuple(_telling(first, words[1])), tuple(_telling(second, words[0]))
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return (
        tuple(_run(first[i:j]) for _, i, j, _, _ in changes if i < j),
        tuple(_run(second[i:j]) for _, _, _, i, j in changes if i < j),
    )


def _run(words: list[re.Match[str]]) -> Span:
    return Span(start=words[0].start(), end=words[-1].end())


def _telling(words: list[re.Match[str]], others: list[str]) -> Iterator[Span]:
    for word in words:
        if _TELLING.search(word[0]) and word[0].casefold() not in others:
            yield _run([word])
