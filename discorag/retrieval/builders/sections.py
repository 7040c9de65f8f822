"""The HTSIR tree: chunks, summaries of a few chunks each, and a summary of every section.

Source: Chen et al. (2026), "Improving Long-Context Summarization with Multi-Granularity Retrieval Optimization",
called HTSIR: algorithm 1 and section "Experiment Settings".
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from discorag.ingest.segment.chunks import SPLITTER_VERSION
from discorag.models.protocol import Encoder
from discorag.retrieval.builders.base import Built, Source, Unit, chunk_leaves, encode_cut, room, units_of
from discorag.retrieval.builders.node_text import Branch, Growth, Tau
from discorag.retrieval.builders.summaries import Summariser
from discorag.schema.document import Kind
from discorag.schema.retrieval_tree import RetrievalNode
from discorag.schema.values import Vectors

# Below this a section's own summary is the only one: one of its parts would say the same again.
_MIN_GROUPED_WORDS = 200
# How many themes long a text must be to be cut into themes.
_THEMED_FROM = 1.5
# What a section of no words or of twice the wanted words costs, in squared distances of sentences from their centroid.
# With it 21 of the 24 joints between fairy tales of 600 to 1,400 words are found within two sentences, by 37 cuts.
_LENGTH_WEIGHT = 4.0
_ABSTRACT = re.compile(r"[\W\d]*(abstract|摘\s*要)[\W\d]*", re.IGNORECASE)


@dataclass(frozen=True)
class SectionSizes:
    """How a section tree is cut, by default as in the paper.

    ``chunk_words`` is the paper's l; ``group`` its r in sections, ``theme_group`` in themes (2 to 5).

    Source: HTSIR section "Experiment Settings"; r = 4 is the best of table 8.
    """

    chunk_words: int = 100
    group: int = 2
    theme_group: int = 4
    theme_words: int = 1000
    summary_words: int = 100


class SectionBuilder:
    """Makes a tree of the author's own sections, and of themes where the author made none.

    Each section's own text is cut into chunks; every r chunks (the last ones may be fewer) get a summary, and the
    section gets one of all its chunks and of its subsections' summaries. A section under 200 words has no groups; an
    abstract has no summaries at all. Text that is longer than one and a half themes, under one heading or under none,
    is first cut into themes, which are then like sections without a heading. A heading that nothing follows but a
    subsection goes into that one's first chunk. The encoder finds themes, and its tokenizer keeps chunks within its
    window.

    Source: HTSIR algorithm 1. Sections inside sections, and themes found without a language model, are ours.
    """

    name = "sections"

    def __init__(self, encoder: Encoder, summariser: Summariser, sizes: SectionSizes | None = None) -> None:
        self._encoder, self._summariser, self._sizes = encoder, summariser, sizes or SectionSizes()
        cut = "/".join(str(value) for value in vars(self._sizes).values())
        self.version = f"1/{cut}:{encoder.version}:{summariser.version}:{SPLITTER_VERSION}"

    async def build(self, source: Source) -> Built:
        """See `Builder.build`."""
        layout = _Layout(source, self._encoder, self._sizes)
        await layout.cut()
        growth = Growth(layout.leaves, Tau(self._summariser, 0, self._sizes.summary_words), gaps=True)
        await growth.add(layout.branches())
        return await growth.finish(self.name)


class _Layout:
    """Cuts one document into ``leaves``, and draws the nodes above them.

    How many leaves there are is not known while nodes are drawn: they are numbered -1, -2, ... until all are there.
    """

    def __init__(self, source: Source, encoder: Encoder, sizes: SectionSizes) -> None:
        self.leaves: list[RetrievalNode] = []
        self._source, self._encoder, self._sizes = source, encoder, sizes
        self._drawn: list[Branch] = []
        self._units: defaultdict[int, list[Unit]] = defaultdict(list)
        self._sections: defaultdict[int, list[int]] = defaultdict(list)
        self._carried: list[Unit] = []  # headings above the text that comes next

    def branches(self) -> list[Branch]:
        """The nodes above the leaves, children before parents."""

        def numbered(nodes: Sequence[int]) -> tuple[int, ...]:
            return tuple(n if n >= 0 else len(self.leaves) - 1 - n for n in nodes)

        return [Branch(numbered(b.children), heading=b.heading, sources=numbered(b.sources)) for b in self._drawn]

    async def cut(self) -> None:
        """The whole document, which gets no node: the paper's root nodes are its sections."""
        for unit in await asyncio.to_thread(units_of, self._source, self._encoder.tokens):
            self._units[unit.section].append(unit)
        for i, node in self._source.hierarchy.of_kind(Kind.SECTION):
            self._sections[node.parent or 0].append(i)
        if preamble := self._units[0]:
            children, sources = await self._text(preamble)
            if not self._is_long(preamble):
                self._draw(children, sources)
        for section in self._sections[0]:
            await self._section(section)

    async def _section(self, index: int) -> list[int]:
        """Cut a section; returns the nodes that become children of what is above it."""
        heading, subsections = self._source.hierarchy.nodes[index].heading, self._sections[index]
        if _ABSTRACT.fullmatch(heading):
            return self._leaves_of(index)
        units = [*self._carried, *self._units[index]]
        is_bare = bool(subsections) and all(unit.heading for unit in units)
        self._carried = units if is_bare else []
        children, sources = await self._text([] if is_bare else units)
        below = [node for section in subsections for node in await self._section(section)]
        return [self._draw([*children, *below], [*sources, *below], heading)]

    def _leaves_of(self, index: int) -> list[int]:
        """The chunks of a section that gets no summary, and of those in it."""
        units, self._carried = [*self._carried, *self._units[index]], []
        return [*self._chunks(units), *(leaf for section in self._sections[index] for leaf in self._leaves_of(section))]

    async def _text(self, units: Sequence[Unit]) -> tuple[list[int], list[int]]:
        """Text without headings in between: the nodes below the one that stands for it, and those it summarises."""
        if not self._is_long(units):
            return self._group(units, self._sizes.group)
        vectors = await encode_cut(self._encoder, [unit.span.of(self._source.document.text) for unit in units])
        words = [unit.words for unit in units]
        starts = await asyncio.to_thread(theme_starts, vectors, words, target=self._sizes.theme_words)
        parts = [units[a:b] for a, b in pairwise([*starts, len(units)])]
        themes = [self._draw(*self._group(part, self._sizes.theme_group)) for part in parts]
        return themes, themes

    def _is_long(self, units: Sequence[Unit]) -> bool:
        """Whether text is cut into themes."""
        return sum(unit.words for unit in units) > _THEMED_FROM * self._sizes.theme_words

    def _group(self, units: Sequence[Unit], size: int) -> tuple[list[int], list[int]]:
        """As `_text`, of text that is not cut into themes: its chunks, or groups of ``size`` of them."""
        chunks = self._chunks(units)
        if sum(unit.words for unit in units) < _MIN_GROUPED_WORDS:
            return chunks, chunks
        groups = [chunks[i : i + size] for i in range(0, len(chunks), size)]
        return [self._draw(group, group) for group in groups], chunks

    def _chunks(self, units: Sequence[Unit]) -> list[int]:
        first, limit = len(self.leaves), room(self._encoder.tokens)
        self.leaves += chunk_leaves(self._source, units, tokens=limit, words=self._sizes.chunk_words)
        return list(range(first, len(self.leaves)))

    def _draw(self, children: Sequence[int], sources: Sequence[int], heading: str = "") -> int:
        self._drawn.append(Branch(tuple(children), heading=heading, sources=tuple(sources)))
        return -len(self._drawn)


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
    path = [int(starts[-1])]
    while path[-1]:
        path.append(int(starts[path[-1]]))
    return path[::-1]
