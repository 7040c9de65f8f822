"""Words of English text: tokens, and the base forms that they may be inflections of."""

from __future__ import annotations

import re
from functools import lru_cache

_TOKEN = re.compile(r"[^\W\d_]+\d\w*|\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|[^\w\s]")
_VOWEL = re.compile("[aeiouy]")


@lru_cache(maxsize=4096)
def words(sentence: str) -> tuple[str, ...]:
    """The tokens of a sentence as written, punctuation marks among them.

    >>> words("It took 1.5 hours.")
    ('It', 'took', '1.5', 'hours', '.')
    """
    return tuple(m[0].replace("’", "'") for m in _TOKEN.finditer(sentence))


@lru_cache(maxsize=16384)
def forms(word: str) -> frozenset[str]:
    """``word`` in lower case and every base form that it may be a regular inflection of ("hoped": hope, hop)."""
    found = {word}
    if word.endswith(("ies", "ied")) and len(word) > 4:
        found.add(word[:-3] + "y")
    elif word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")):
        found |= {word[:-1]} | ({word[:-2]} if word.endswith("es") else set[str]())
    for ending in ("ed", "ing"):
        root = word.removesuffix(ending)
        if root != word and len(root) > 1 and _VOWEL.search(root):
            found |= {root, root + "e"} | ({root[:-1]} if root[-1] == root[-2] else set[str]())
    return frozenset(found)
