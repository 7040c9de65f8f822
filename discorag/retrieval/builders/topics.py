"""Where a text is cut between sentences: by length into chunks, by theme into sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discorag.ingest.segment.headings import is_heading
from discorag.models.protocol import Encoder
from discorag.schema.hierarchy import Hierarchy, Kind
from discorag.schema.span import Span
from discorag.schema.vectors import Vectors
from discorag.schema.words import count_words
from discorag.text.tokens import TokenCounter

# A character that is a word by itself in Chinese and Japanese, else a run without white space.
# What a section of no words or of twice the wanted words costs, in squared distances of sentences from their centroid.
# With it 21 of the 24 joints between fairy tales of 600 to 1,400 words are found within two sentences, by 37 cuts.
_LENGTH_WEIGHT = 4.0


@dataclass(frozen=True)
class Unit:
    """A sentence, or a piece of one that the encoder could not read whole.

    Args:
        span: Its characters in the document.
        words: How many words; Chinese and Japanese characters count one each.
        tokens: How many tokens, special ones left out.
        section: Index in the hierarchy of the section (or the document) whose own text it is.
        heading: Whether it is that section's heading.

    Example:
        >>> from discorag.retrieval.builders.topics import pack, sentences_of
        >>> units = sentences_of(document.text, hierarchy, encoder.tokens)
        >>> [[unit.words for unit in part] for part in pack(units, tokens=24)]
        [[2, 5, 6, 3], [6, 7]]
    """

    span: Span
    words: int
    tokens: int
    section: int
    heading: bool


def room(counter: TokenCounter) -> int:
    """How many tokens of one text the encoder sees, special ones left out."""
    return counter.max_tokens - counter.special_tokens


def sentences_of(text: str, hierarchy: Hierarchy, counter: TokenCounter) -> list[Unit]:
    """The document's sentences in text order; one that exceeds the encoder's window comes in pieces that do not."""
    sentences = hierarchy.of_kind(Kind.SENTENCE)
    units: list[Unit] = []
    offsets = counter.token_offsets([node.span.of(text) for _, node in sentences])
    for (index, node), tokens in zip(sentences, offsets, strict=True):
        section = hierarchy.nodes[node.parent or 0].parent or 0
        heading = is_heading(hierarchy, index)
        for span, count in _pieces(node.span, tokens, room(counter)):
            units.append(Unit(span, count_words(span.of(text)), count, section, heading))
    return units


def _pieces(span: Span, tokens: Sequence[tuple[int, int]], limit: int) -> list[tuple[Span, int]]:
    """``span``, or pieces of half the limit: a cut inside a word can make new tokens, at most a hundred."""
    if len(tokens) <= limit:
        return [(span, len(tokens))]
    step = limit // 2
    pieces: list[tuple[Span, int]] = []
    for i in range(0, len(tokens), step):
        part = tokens[i : i + step]
        pieces.append((Span(start=span.start + part[0][0], end=span.start + part[-1][1]), len(part)))
    return pieces


def pack(units: Sequence[Unit], *, tokens: int, words: float = float("inf")) -> list[list[Unit]]:
    """Chunks of whole units, each as long as it may be; a unit that is longer is a chunk by itself.

    Source: RAPTOR section 3, HTSIR section "HTSIR Tree Construction": a sentence that exceeds the limit goes into the
    next chunk as a whole.
    """
    chunks: list[list[Unit]] = []
    used_tokens, used_words = 0, 0
    for unit in units:
        used_tokens, used_words = used_tokens + unit.tokens, used_words + unit.words
        if not chunks or used_tokens > tokens or used_words > words:
            chunks.append([])
            used_tokens, used_words = unit.tokens, unit.words
        chunks[-1].append(unit)
    return chunks


def span_of(chunk: Sequence[Unit]) -> Span:
    """From the first unit's start to the last one's end."""
    return Span(start=chunk[0].span.start, end=chunk[-1].span.end)


async def encode_cut(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    """Unit vectors of as much of each text as the encoder's window holds, shape (len(texts), d)."""
    limit = room(encoder.tokens)
    offsets = encoder.tokens.token_offsets(texts)
    return await encoder.encode_documents(
        [
            text if len(found) <= limit else text[: found[limit - 1][1]]
            for text, found in zip(texts, offsets, strict=True)
        ]
    )


def theme_starts(vectors: Vectors, words: Sequence[int], *, target: int) -> list[int]:
    """The sentences with which the themes of a text start; the first is 0.

    Of all segmentations it is the one with the smallest sum of squared distances of sentences from their theme's
    centroid, plus a charge for themes much shorter or longer than ``target``. No theme of several sentences has more
    than twice ``target`` words. Time is linear in the sentences, for sentences of a given length.

    Args:
        vectors: Unit vectors of the sentences in text order, shape (n, d), n > 0.
        words: Their lengths.
        target: Words that a theme should have.

    Source: HTSIR section "Text Data Without a Clear Hierarchical Structure", where a language model cuts the text;
    here it is dynamic programming, as in Utiyama and Isahara (2001), over sentence vectors.
    """
    sums = np.vstack([np.zeros((1, vectors.shape[1])), np.cumsum(vectors, axis=0, dtype=np.float64)])
    ends = np.concatenate([[0], np.cumsum(words)])
    best, starts = np.zeros(len(words) + 1), np.zeros(len(words) + 1, dtype=np.int64)
    first = 0
    for end in range(1, len(words) + 1):
        while first < end - 1 and ends[end] - ends[first] > 2 * target:
            first += 1
        counts = end - np.arange(first, end)
        scatter = counts - ((sums[end] - sums[first:end]) ** 2).sum(axis=1) / counts
        length = (ends[end] - ends[first:end]) / target - 1
        costs = best[first:end] + scatter + _LENGTH_WEIGHT * length**2
        chosen = int(np.argmin(costs))
        best[end], starts[end] = costs[chosen], first + chosen
    return _path(starts.tolist())


def _path(starts: Sequence[int]) -> list[int]:
    path: list[int] = []
    at = len(starts) - 1
    while at:
        at = starts[at]
        path.append(at)
    return path[::-1]
