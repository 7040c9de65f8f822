"""What the learned graph engine sees of chunks and of pairs of them: numbers, as one matrix for all pairs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discorag.conflicts.claims import cues
from discorag.conflicts.claims.effects import stems
from discorag.discourse.parse.rules import opening
from discorag.schema.discourse import Relation
from discorag.schema.values import Vectors

Floats = NDArray[np.float32]
Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]

_RELATIONS = tuple(Relation)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_YEAR = re.compile(r"\b(?:1[0-9]{3}|20[0-9]{2})\b")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][\w-]{2,}")
_POINTING = re.compile(r"^[\W_]*(?:this|that|these|those|such|it|its|he|she|they|his|her|their|这|那|它|他|她)", re.I)
_FIRST_PERSON = re.compile(r"\b(?:I|we|my|our|us)\b|我们?")
_NEIGHBOUR = 5  # characters between two passages that follow each other
_NEAR_GAP = 1000.0


@dataclass(frozen=True)
class Passage:
    """A stretch of a document: a chunk, or one side of a relation in a corpus.

    Args:
        sentences: Its sentences, headings included, at least one.
        vectors: Their unit vectors, shape (n, d).
        document: Which document it is from.
        start: First character in the document.
        end: Behind its last character.

    Example:
        >>> from discorag.discourse.relate.passages import Passage
        >>> vectors = asyncio.run(encoder.encode_documents(["In 1969 it landed.", "Apollo 11 did."]))
        >>> passage = Passage(("In 1969 it landed.", "Apollo 11 did."), vectors, document="moon.md", start=0, end=33)
        >>> passage.years, sorted(passage.numbers)
        ((1969,), ['11', '1969'])
    """

    sentences: tuple[str, ...]
    vectors: Vectors
    document: str
    start: int
    end: int

    @cached_property
    def text(self) -> str:
        """Its sentences on one line."""
        return " ".join(self.sentences)

    @cached_property
    def first(self) -> int:
        """Index of its first sentence that is no heading (0 if all are)."""
        return next((i for i, s in enumerate(self.sentences) if not s.startswith("#")), 0)

    @cached_property
    def mean(self) -> Floats:
        """Unit vector of the whole, shape (d,)."""
        total = self.vectors.sum(axis=0)
        return (total / max(float(np.linalg.norm(total)), 1e-9)).astype(np.float32)

    @cached_property
    def sentence_stems(self) -> tuple[frozenset[str], ...]:
        """Rough stems of each sentence's content words."""
        return tuple(map(stems, self.sentences))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The same of all its sentences."""
        return frozenset(stem for found in self.sentence_stems for stem in found)

    @cached_property
    def names(self) -> frozenset[str]:
        """Capitalised words inside its sentences."""
        return frozenset(_NAME.findall(self.text))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its numbers as written."""
        return frozenset(_NUMBER.findall(self.text))

    @cached_property
    def years(self) -> tuple[int, ...]:
        """The years that it mentions, ascending."""
        return tuple(sorted({int(y) for y in _YEAR.findall(self.text)}))

    @cached_property
    def alone(self) -> Floats:
        """What can be said of it without another: how it opens, what kind of words it has, how long it is."""
        return np.array([*self._opens(), *self._has()], dtype=np.float32)

    def _opens(self) -> Iterator[float]:
        head = self.sentences[self.first]
        marker = opening(head)
        for relation in _RELATIONS:
            yield float(marker is not None and marker.relation is relation)
        yield float(marker is None)
        yield float(bool(_POINTING.match(head)))
        yield float(self.first > 0)
        yield float(bool(cues.DEFINITION.search(head)))
        yield float(bool(_YEAR.search(head)))
        yield float(head.rstrip().endswith(("?", "？")))

    def _has(self) -> Iterator[float]:
        n, words = len(self.sentences), len(self.text.split())
        yield float(np.log(n))
        yield float(np.log1p(words))
        for pattern in (cues.NEGATION, cues.HYPOTHETICAL, cues.UNIVERSAL, cues.ATTRIBUTION, _NUMBER, _FIRST_PERSON):
            yield len(pattern.findall(self.text)) / n
        yield float("?" in self.text)
        yield float('"' in self.text or "“" in self.text)
        yield float(bool(self.years))


def similarities(passages: Sequence[Passage]) -> tuple[Floats, Floats]:
    """Of every ordered pair: the closest two sentences' cosine, and how well the second covers the first's sentences.

    Shapes (n, n); the second is the mean over the row passage's sentences of the cosine to their closest one.
    """
    vectors = np.concatenate([p.vectors for p in passages])
    starts = np.cumsum([0, *(len(p.vectors) for p in passages)])[:-1]
    best: Floats = np.maximum.reduceat(vectors @ vectors.T, starts, axis=1)  # sentence x passage
    counts = np.array([len(p.vectors) for p in passages], dtype=np.float32)
    cover = np.add.reduceat(best, starts, axis=0) / counts[:, None]
    return np.maximum.reduceat(best, starts, axis=0), cover.astype(np.float32)


def pair_features(passages: Sequence[Passage], pairs: Pairs, same: NDArray[np.bool_]) -> Floats:
    """Features of ordered pairs, shape (pairs, f). Where ``same`` is false, place in the document is not looked at.

    Args:
        passages: The passages.
        pairs: Indices of the first and of the second of each pair.
        same: For each pair, whether the two count as parts of one document.
    """
    a, b = pairs
    closest, cover = similarities(passages)
    mean = np.stack([p.mean for p in passages])
    head = np.stack([p.vectors[p.first] for p in passages])
    tail = np.stack([p.vectors[-1] for p in passages])
    columns = [
        np.einsum("ij,ij->i", mean[a], mean[b]), closest[a, b], cover[a, b], cover[b, a],
        np.einsum("ij,ij->i", head[a], mean[b]), np.einsum("ij,ij->i", head[b], mean[a]),
        np.einsum("ij,ij->i", head[a], head[b]),
        np.einsum("ij,ij->i", head[a], tail[b]) * same, np.einsum("ij,ij->i", head[b], tail[a]) * same,
    ]  # fmt: skip
    shared = _shared(passages, a, b)
    return np.column_stack([*columns, shared, _places(passages, a, b, same)]).astype(np.float32)


def _shared(passages: Sequence[Passage], a: NDArray[np.int64], b: NDArray[np.int64]) -> Floats:
    """Words, names, numbers and years in common, shape (pairs, 9)."""
    rarity = _rarity(passages)
    weighed = _overlaps([p.stems for p in passages], lambda common: sum(rarity[s] for s in sorted(common)))
    common, names, numbers = (
        _overlaps(sets, len)[a, b]
        for sets in ([p.stems for p in passages], [p.names for p in passages], [p.numbers for p in passages])
    )
    own, total = np.array([len(p.stems) for p in passages]), weighed.diagonal()
    dated = np.array([bool(p.years) for p in passages])
    year = np.array([p.years[0] if p.years else 0 for p in passages])
    both = dated[a] & dated[b]
    columns = [
        weighed[a, b] / np.maximum(1.0, np.sqrt(total[a] * total[b])),
        common / np.maximum(1, own[a] + own[b] - common),
        common / np.maximum(1, own[a]), common / np.maximum(1, own[b]),
        np.log1p(names), np.log1p(numbers), both, both & (year[a] < year[b]), both & (year[a] > year[b]),
    ]  # fmt: skip
    return np.column_stack(columns).astype(np.float32)


def _overlaps(sets: Sequence[frozenset[str]], measure: Callable[[frozenset[str]], float]) -> NDArray[np.float64]:
    """What every two have in common, shape (n, n)."""
    found = np.zeros((len(sets), len(sets)))
    for i, one in enumerate(sets):
        for j, other in enumerate(sets[: i + 1]):
            found[i, j] = found[j, i] = measure(one & other)
    return found


def _rarity(passages: Sequence[Passage]) -> dict[str, float]:
    """For each stem ``log(1 + n / passages that have it)``: what all results of a query share says little."""
    count = Counter(s for p in passages for s in p.stems)
    return {s: math.log(1 + len(passages) / c) for s, c in count.items()}


def _places(
    passages: Sequence[Passage], a: NDArray[np.int64], b: NDArray[np.int64], same: NDArray[np.bool_]
) -> NDArray[np.floating]:
    """Order and distance within one document, shape (pairs, 6); zeros for two documents."""
    starts, ends = np.array([p.start for p in passages]), np.array([p.end for p in passages])
    gap = np.maximum(starts[a], starts[b]) - np.minimum(ends[a], ends[b])
    before, next_to = starts[a] < starts[b], gap <= _NEIGHBOUR
    far = np.log1p(np.maximum(gap, 0) / _NEAR_GAP)
    found = np.column_stack([np.ones(len(a)), before, ~before, before & next_to, ~before & next_to, far])
    return found * same[:, None]
