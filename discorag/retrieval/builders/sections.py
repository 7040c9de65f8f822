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

# Shorter sections have one summary: summaries of their parts would say the same again.
_MIN_GROUPED_WORDS = 200
# A text is cut into themes if it is longer than this many of them.
_THEMED_FROM = 1.5
# The cost of a theme with no words, or with twice the wanted words, in squared distances from the centroid.
# With it 37 cuts find 21 of the 24 joints between fairy tales of 600 to 1,400 words, within two sentences.
_LENGTH_WEIGHT = 4.0
_ABSTRACT = re.compile(r"[\W\d]*(abstract|摘\s*要)[\W\d]*", re.IGNORECASE)


@dataclass(frozen=True)
class SectionSizes:
    """How a section tree is cut, by default as in the paper.

    ``chunk_words`` is the paper's l. ``group`` is its r in sections, ``theme_group`` its r in themes (2 to 5).

    Source: HTSIR section "Experiment Settings"; r = 4 is the best of table 8.
    """

    chunk_words: int = 100
    group: int = 2
    theme_group: int = 4
    theme_words: int = 1000
    summary_words: int = 100


class SectionBuilder:
    """Makes a tree of the author's own sections, and of themes where the author made none.

    Each section's own text is cut into chunks. Every r chunks get a summary (the last ones may be fewer), and the
    section gets a summary of all its chunks and of the summaries of its subsections. A section below 200 words has no
    groups; an abstract has no summaries. Text under one heading, or without any, that is longer than one and a half
    themes is first cut into themes, which are then like sections without a heading. A heading directly above a
    subsection goes into the first chunk of that subsection. The encoder finds themes; its tokenizer keeps chunks within
    its window.

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

    Drawn nodes are numbered -1, -2, ... until the number of leaves is known.
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
        """Cut the whole document. It gets no node of its own: the root nodes of the paper are its sections."""
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
        """Cut a section; returns the nodes that become children of the section above it."""
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
        """The chunks of a section that gets no summary, and of its subsections."""
        units, self._carried = [*self._carried, *self._units[index]], []
        return [*self._chunks(units), *(leaf for section in self._sections[index] for leaf in self._leaves_of(section))]

    async def _text(self, units: Sequence[Unit]) -> tuple[list[int], list[int]]:
        """Cut text without headings; returns the children of the node above it, and the nodes that this summarises."""
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
        """The same for text that is not cut into themes: its chunks, or groups of ``size`` chunks."""
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

    They minimise the squared distances of sentences from the centroids of their themes, plus a charge for themes much
    shorter or longer than ``target``. No theme of several sentences has more than twice ``target`` words. The time is
    linear in the number of sentences.

    Args:
        vectors: Unit vectors of the sentences in text order, shape (n, d), n > 0.
        words: Their lengths.
        target: Words that a theme should have.

    Source: HTSIR section "Text Data Without a Clear Hierarchical Structure". There a language model cuts the text, here
    dynamic programming over sentence vectors, as in Utiyama and Isahara (2001).
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
