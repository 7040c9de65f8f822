"""How far texts say the words of a question: in any form or misspelling, or by other words of the same field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from discorag.answer.lexicon import meanings, unusual
from discorag.text.terms import terms
from discorag.types.case import Case

Floats = NDArray[np.float64]
_GRAM = 3
_WORD = re.compile(r"\w+")
SAME = 0.7
"""Likeness from which a word counts as another form of the asked one."""
KEY = "said"
"""Under this name a case knows how far its sentences say the question's words."""


@dataclass(frozen=True)
class Said:
    """How far each text says each word of a question.

    Args:
        forms: Likeness of the word that is most like the asked one in its letters; shape (texts, words).
        meanings: The same by what words mean (`discorag.answer.lexicon`), from 0 to 1; shape (texts, words).
        unusual: How rare the words are, which sums to one; shape (words,).
        names: Which of them are written like names; shape (words,).

    Example:
        >>> from discorag.answer.words import said
        >>> told = said("Did the king meet Marta?", ["The prince met Martha.", "It rained."])
        >>> told.forms.round(2).tolist(), told.names.tolist()
        ([[0.0, 0.57, 0.55], [0.0, 0.0, 0.0]], [False, False, True])
        >>> bool(told.meanings[0, 0] > told.meanings[1, 0])
        True
    """

    forms: Floats
    meanings: Floats
    unusual: Floats
    names: NDArray[np.bool_]


def said_in(case: Case) -> Said:
    """Of the sentences of the case's chunks, in their order; made once for all stages of a question."""
    of, known = case.known.get(KEY, (None, ("", None)))
    if of is not case.chunks or known[0] != case.query:
        known = (case.query, said(case.query, [c.slice(s) for c in case.chunks for s in c.sentences]))
        case.known[KEY] = (case.chunks, known)
    return cast(Said, known[1])


def said(question: str, texts: Sequence[str]) -> Said:
    """How far ``texts`` say the words of ``question``."""
    words, found = asked(question), [frozenset(terms(text)) for text in texts]
    vocabulary = sorted({word for own in found for word in own})
    near = np.maximum(meanings(words) @ meanings(vocabulary).T, 0.0)
    names = frozenset(terms(" ".join(w for w in _WORD.findall(question.strip()[1:]) if w[0].isupper())))
    return Said(
        forms=_best(_alike(words, vocabulary), vocabulary, found),
        meanings=_best(near.astype(np.float64), vocabulary, found),
        unusual=unusual(words),
        names=np.array([word in names for word in words], bool),
    )


def asked(question: str) -> list[str]:
    """The question's words, each once, without stop words."""
    return list(dict.fromkeys(terms(question)))


def likeness(words: Sequence[str], texts: Sequence[str]) -> Floats:
    """How much the word in each text that is most like an asked word is like it; shape (texts, words).

    Dice's coefficient of the words' trigrams: 1 for the same word, much for another form of it or a misspelling.

    >>> likeness(["tides"], ["The tide rises.", "The moon."]).round(2).tolist()
    [[0.67], [0.0]]
    """
    found = [frozenset(terms(text)) for text in texts]
    vocabulary = sorted({word for own in found for word in own})
    return _best(_alike(words, vocabulary), vocabulary, found)


def rarity(forms: Floats) -> Floats:
    """Weights of the words, which sum to one: the fewer texts say a word, the more it tells; shape (words,)."""
    if not forms.shape[1]:
        return np.zeros(0)
    seen = (forms >= SAME).sum(axis=0)
    weights = np.log1p((len(forms) - seen + 0.5) / (seen + 0.5)) + 0.2
    return weights / weights.sum()


def _alike(words: Sequence[str], vocabulary: Sequence[str]) -> Floats:
    """Of each asked word and each word that is said; shape (words, vocabulary)."""
    grams = [_grams(word) for word in vocabulary]
    rows = [[_dice(own, other) for other in grams] for own in map(_grams, words)]
    return np.array(rows, np.float64).reshape(len(words), len(vocabulary))


def _best(alike: Floats, vocabulary: Sequence[str], found: Sequence[Iterable[str]]) -> Floats:
    """Of each text the most that one of its words has; 0 where it has none. Shape (texts, words)."""
    at = {word: i for i, word in enumerate(vocabulary)}
    rows = [alike[:, [at[word] for word in own]].max(axis=1, initial=0.0) for own in found]
    return np.array(rows, np.float64).reshape(len(found), len(alike))


def _dice(a: frozenset[str], b: frozenset[str]) -> float:
    shared = len(a & b)
    return 2 * shared / (len(a) + len(b)) if shared else 0.0


def _grams(word: str) -> frozenset[str]:
    padded = f" {word} "
    return frozenset(padded[i : i + _GRAM] for i in range(max(1, len(padded) - _GRAM + 1)))
