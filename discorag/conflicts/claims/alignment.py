"""Which words of the evidence stand for the words of a sentence: by their form, their meaning and their neighbours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load

from discorag.models.tokens import pieces

Floats = NDArray[np.float32]
Indices = NDArray[np.int64]
WORDS = Path(__file__).parent / "weights" / "words.safetensors"
_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:[-'’][^\W\d_]+)*|[^\w\s]")
_STOP = re.compile(r"[.!?]$")
FIRST_WORD = 1996  # of the vocabulary, which goes on by frequency
_REACH = 4  # words of the evidence on either side among which a neighbour is looked for
_NEAR = 3  # neighbours on either side
_MOST = 160  # words of evidence that are read


@dataclass(frozen=True)
class Text:
    """The words of a text, with their static vectors.

    Args:
        words: As written.
        vectors: Unit rows, shape (words, 96).
        rare: From 0, the most frequent words, to 1; shape (words,).
        sentence: Number of each word's sentence; shape (words,).

    Example:
        >>> from discorag.conflicts.claims.alignment import text_of
        >>> text_of("Tides rise. Bees dance.").sentence.tolist()
        [0, 0, 0, 1, 1, 1]
    """

    words: tuple[str, ...]
    vectors: Floats
    rare: Floats
    sentence: Indices

    @cached_property
    def lower(self) -> tuple[str, ...]:
        """In lower case."""
        return tuple(w.lower() for w in self.words)

    @cached_property
    def number(self) -> NDArray[np.bool_]:
        """Which have a digit."""
        return np.array([w[0].isdigit() for w in self.words], bool)

    @cached_property
    def mark(self) -> NDArray[np.bool_]:
        """Which are punctuation."""
        return np.array([not w[0].isalnum() for w in self.words], bool)

    @cached_property
    def name(self) -> NDArray[np.bool_]:
        """Which have a capital and do not open a sentence."""
        opens = np.r_[True, self.sentence[1:] != self.sentence[:-1]]
        return np.array([w[0].isupper() and w != "I" for w in self.words], bool) & ~opens[: len(self.words)]

    @cached_property
    def content(self) -> NDArray[np.bool_]:
        """Which say more than how others hang together."""
        return (self.rare > 0.35) | self.number | self.name


@lru_cache(maxsize=4096)
def text_of(text: str, most: int = _MOST) -> Text:
    """The words of ``text``, ``most`` at most."""
    words = tuple(m[0].replace("’", "'") for m in _TOKEN.finditer(text))[:most] or (".",)
    ends = np.array([bool(_STOP.match(w)) for w in words])
    sentence = np.r_[0, np.cumsum(ends)[:-1]].astype(np.int64)
    rows = [_word(w.lower()) for w in words]
    return Text(words, np.stack([v for v, _ in rows]), np.array([r for _, r in rows], np.float32), sentence)


@lru_cache(maxsize=32768)
def _word(word: str) -> tuple[Floats, float]:
    """Its vector, the mean of its pieces', and how rare it is."""
    table, ids = _table(), pieces(word)
    if not ids:
        return np.zeros(len(table[0]), np.float32), 1.0
    vector: Floats = np.asarray(table[ids].mean(axis=0), np.float32)
    first = max(ids[0] - FIRST_WORD, 1) if len(ids) == 1 else len(table)
    length = max(float(np.linalg.norm(vector)), 1e-6)
    return np.asarray(vector / length, np.float32), float(np.log(first) / np.log(len(table)))


@cache
def _table() -> Floats:
    rows = load(WORDS.read_bytes())["vectors"].astype(np.float32)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)


@dataclass(frozen=True)
class Alignment:
    """How each word of one text is said by another.

    Args:
        alike: Of each pair of words, 0 to 1; shape (words, other words).
        at: The word that stands for each, shape (words,).
        around: How far its neighbours are said around that word, 0 to 1; shape (words,).

    Example:
        >>> from discorag.conflicts.claims.alignment import aligned, text_of
        >>> aligned(text_of("It rose."), text_of("In May it rose.")).at.tolist()
        [2, 3, 4]
    """

    alike: Floats
    at: Indices
    around: Floats

    @cached_property
    def best(self) -> Floats:
        """How alike each word and the one that stands for it are."""
        return self.alike[np.arange(len(self.at)), self.at]


def aligned(said: Text, there: Text) -> Alignment:
    """The words of ``said`` in ``there``."""
    alike = likeness(said, there)
    around = _context(alike, said)
    at = (alike + 0.35 * around).argmax(axis=1)
    return Alignment(alike, at, around[np.arange(len(at)), at])


def likeness(said: Text, there: Text) -> Floats:
    """Of each pair of words: 1 for the same, much for other forms of it, else the cosine of their static vectors."""
    alike = np.clip(said.vectors @ there.vectors.T, 0, 0.95)
    alike[said.number] = 0
    alike[:, there.number] = 0
    alike[said.mark[:, None] != there.mark[None, :]] = 0
    index: dict[str, list[int]] = {}
    for j, word in enumerate(there.lower):
        index.setdefault(word, []).append(j)
    for i, word in enumerate(said.lower):
        for other, places in index.items():
            if other == word:
                alike[i, places] = 1
            elif word[:3] == other[:3] and len(word) > 3 and word[0].isalpha():
                alike[i, places] = np.maximum(alike[i, places], form(word, other))
    return alike


@lru_cache(maxsize=65536)
def form(a: str, b: str) -> float:
    """How far two words share their beginning: 0.6 to 0.97 for forms of one word, 0 for others."""
    shared = next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    share = shared / max(len(a), len(b))
    return 0.97 * share**0.5 if (shared >= 4 and share >= 0.55) or (shared >= 3 and share >= 0.7) else 0.0


def _context(alike: Floats, said: Text) -> Floats:
    """For each pair how far the neighbours of the one are said around the other, rare ones weighing more."""
    n, m = alike.shape
    padded = np.pad(alike, ((0, 0), (_REACH, _REACH)))
    near = np.max([padded[:, k : k + m] for k in range(2 * _REACH + 1)], axis=0)
    weight = np.where(said.mark, 0, 0.1 + said.rare)
    total, norm = np.zeros_like(alike), np.zeros(n, np.float32)
    for step in range(1, _NEAR + 1):
        for a, b in ((slice(step, None), slice(None, -step)), (slice(None, -step), slice(step, None))):
            total[a] += weight[b, None] * near[b]
            norm[a] += weight[b]
    return (total / np.maximum(norm, 1e-6)[:, None]).astype(np.float32)
