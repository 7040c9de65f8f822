"""Words of a text: counted, and cut at."""

from __future__ import annotations

import re
from collections.abc import Iterable

from discorag.schema.errors import InvariantError

_IDEOGRAPH = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_IDEOGRAPH}]|[^\s{_IDEOGRAPH}]+")
_CHARACTERS_PER_WORD = 8


def count_words(text: str) -> int:
    """Words of ``text``: what white space separates; a Chinese or Japanese character is one."""
    return sum(1 for _ in _WORD.finditer(text))


def words_of(text: str) -> list[str]:
    """The words that `count_words` counts."""
    return _WORD.findall(text)


def first_words(texts: Iterable[str], words: int) -> str:
    """The texts joined by spaces, cut after ``words`` words, or after 8 characters for each of these.

    The second limit is for text without white space (sequences, encoded data), which word counts do not bound.

    Raises:
        InvariantError: ``words`` is less than 1.
    """
    if words < 1:
        raise InvariantError(f"A text cannot be cut to {words} words.", hint="Allow 1 word or more.")
    parts: list[str] = []
    left, room = words, words * _CHARACTERS_PER_WORD
    for text in texts:
        ends = [m.end() for m, _ in zip(_WORD.finditer(text), range(left), strict=False)]
        parts.append(text[: min(ends[-1] if len(ends) == left else len(text), room)])
        left, room = left - len(ends), room - len(parts[-1]) - 1
        if left <= 0 or room <= 0:
            break
    return " ".join(parts).rstrip()


def within(sizes: Iterable[int], budget: int) -> int:
    """How many of the first sizes add up to no more than ``budget``; at least one."""
    total = count = 0
    for size in sizes:
        total += size
        if count and total > budget:
            break
        count += 1
    return count
