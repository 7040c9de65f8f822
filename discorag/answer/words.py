"""How far texts say the words of a question, in any form or misspelling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discorag.text.terms import terms

Floats = NDArray[np.float64]
_GRAM = 3
SAME = 0.7
"""Likeness from which a word counts as another form of the asked one."""


def asked(question: str) -> list[str]:
    """The question's words, each once, without stop words."""
    return list(dict.fromkeys(terms(question)))


def likeness(words: Sequence[str], texts: Sequence[str]) -> Floats:
    """How much the word in each text that is most like an asked word is like it; shape (texts, words).

    Dice's coefficient of the words' trigrams: 1 for the same word, much for another form of it or a misspelling.

    >>> likeness(["tides"], ["The tide rises.", "The moon."]).round(2).tolist()
    [[0.67], [0.0]]
    """
    said = [frozenset(terms(text)) for text in texts]
    grams = {word: _grams(word) for word in {*words, *(w for found in said for w in found)}}
    alike = {(a, w): _dice(grams[a], grams[w]) for a in words for w in grams}
    rows = [[max((alike[a, w] for w in found), default=0.0) for a in words] for found in said]
    return np.array(rows, np.float64).reshape(len(texts), len(words))


def rarity(said: Floats) -> Floats:
    """Weights of the words, which sum to one: the fewer texts say a word, the more it tells; shape (words,)."""
    if not said.shape[1]:
        return np.zeros(0)
    seen = (said >= SAME).sum(axis=0)
    weights = np.log1p((len(said) - seen + 0.5) / (seen + 0.5)) + 0.2
    return weights / weights.sum()


def _dice(a: frozenset[str], b: frozenset[str]) -> float:
    shared = len(a & b)
    return 2 * shared / (len(a) + len(b)) if shared else 0.0


def _grams(word: str) -> frozenset[str]:
    padded = f" {word} "
    return frozenset(padded[i : i + _GRAM] for i in range(max(1, len(padded) - _GRAM + 1)))
