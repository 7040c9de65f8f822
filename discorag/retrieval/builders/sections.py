"""The HTSIR tree: chunks, summaries of a few chunks each, and a summary of every section.

Source: Chen et al. (2026), "Improving Long-Context Summarization with Multi-Granularity Retrieval Optimization",
called HTSIR: algorithm 1 and section "Experiment Settings".
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from discorag.ingest.segment.chunks import SPLITTER_VERSION
from discorag.models.protocol import Encoder
from discorag.retrieval.builders.base import (
    Built,
    Source,
    Summariser,
    Summary,
    Unit,
    encode_cut,
    inner,
    pack,
    room,
    sentences_of,
    span_of,
)
from discorag.schema.document import Kind
from discorag.schema.errors import ConfigError, Usage
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
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
    """How a section tree is cut; the defaults are the paper's.

    Args:
        chunk_words: The paper's l.
        group: The paper's r, in sections.
        theme_group: The paper's r, in themes: 2 to 5.
        theme_words: Words that a theme should have.
        summary_words: Words that a summary may have.

    Raises:
        ConfigError: One of them is below 1.

    Source: HTSIR section "Experiment Settings"; r = 4 is the best of table 8.
    """

    chunk_words: int = 100
    group: int = 2
    theme_group: int = 4
    theme_words: int = 1000
    summary_words: int = 100

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise ConfigError(f"{name} of a section tree is {value}.", hint="Set it to 1 or more.")

    @property
    def version(self) -> str:
        """All of them."""
        return "/".join(str(value) for value in vars(self).values())


@dataclass(frozen=True)
class _Part:
    """A section or a theme before it has nodes.

    Args:
        chunks: Its own leaves.
        groups: The same, as they are summarised together; empty if they are not.
        parts: Subsections or themes below it.
        heading: The section's.
        summarised: Whether it gets a node.
    """

    chunks: range
    groups: tuple[range, ...] = ()
    parts: tuple[_Part, ...] = ()
    heading: str = ""
    summarised: bool = True


@dataclass(frozen=True)
class _Inner:
    """A node before it has a text: its children, and the nodes whose texts it stands for."""

    children: tuple[int, ...]
    sources: tuple[int, ...]
    heading: str = ""


class SectionBuilder:
    """Makes a tree of the author's own sections, and of themes where the author made none.

    Each section's own text is cut into chunks; every r chunks (the last ones may be fewer) get a summary, and the
    section gets one of all its chunks and of its subsections' summaries. A section under 200 words has no groups; an
    abstract has no summaries at all. Text that is longer than one and a half themes, under one heading or under none,
    is first cut into themes, which are then like sections without a heading. A heading that nothing follows but a
    subsection goes into that one's first chunk.

    Args:
        encoder: Finds themes; its tokenizer keeps chunks within its window.
        summariser: Writes the summaries.
        sizes: Of everything.

    Source: HTSIR algorithm 1. Sections inside sections, and themes found without a language model, are ours.

    Example:
        >>> from discorag.retrieval.builders.sections import SectionBuilder
        >>> from discorag.retrieval.builders.node_text import ExtractiveSummariser
        >>> tree = asyncio.run(SectionBuilder(encoder, ExtractiveSummariser()).build(source)).tree
        >>> [node.heading for node in tree.nodes[tree.leaves :]]
        ['Spring tides', 'Tides']
    """

    name = "sections"

    def __init__(self, encoder: Encoder, summariser: Summariser, sizes: SectionSizes | None = None) -> None:
        self._encoder = encoder
        self._summariser = summariser
        self._sizes = sizes or SectionSizes()

    @property
    def version(self) -> str:
        """The sizes, and the versions of encoder, summariser and sentence splitter."""
        return f"1/{self._sizes.version}:{self._encoder.version}:{self._summariser.version}:{SPLITTER_VERSION}"

    async def build(self, source: Source) -> Built:
        """The tree of a document with at least one sentence.

        Raises:
            ModelError: The encoder's endpoint failed. What the summariser cannot do is told in the result.
        """
        layout = _Layout(source, self._encoder, self._sizes)
        whole = await layout.document()
        inners: list[_Inner] = []
        _tops(whole, len(layout.leaves), inners)
        return await self._summarised(layout.leaves, inners)

    async def _summarised(self, leaves: Sequence[RetrievalNode], inners: Sequence[_Inner]) -> Built:
        """Layer upon layer, the summaries of one layer at the same time."""
        texts = [leaf.text for leaf in leaves] + [""] * len(inners)
        layers = _layers(len(leaves), inners)
        usage, failures = Usage(), list[str]()
        for _, layer in groupby(sorted(range(len(leaves), len(texts)), key=layers.__getitem__), key=layers.__getitem__):
            at = list(layer)
            calls = (self._summary([texts[s] for s in inners[i - len(leaves)].sources]) for i in at)
            for i, summary in zip(at, await asyncio.gather(*calls), strict=True):
                texts[i] = summary.text
                usage += summary.usage
                failures += [summary.failure] if summary.failure else []
        nodes = list(leaves)
        for node in inners:
            nodes.append(inner(nodes, node.children, texts[len(nodes)], heading=node.heading))
        return Built(RetrievalTree(builder=self.name, nodes=tuple(nodes)), usage, tuple(failures))

    async def _summary(self, texts: Sequence[str]) -> Summary:
        return await self._summariser.summarise(texts, words=self._sizes.summary_words)


class _Layout:
    """Cuts one document into parts, and their chunks into ``leaves``."""

    def __init__(self, source: Source, encoder: Encoder, sizes: SectionSizes) -> None:
        self.leaves: list[RetrievalNode] = []
        self._text, self._hierarchy = source.document.text, source.hierarchy
        self._encoder, self._sizes = encoder, sizes
        self._units: defaultdict[int, list[Unit]] = defaultdict(list)
        self._sections: defaultdict[int, list[int]] = defaultdict(list)
        self._carried: list[Unit] = []  # headings above the text that comes next

    async def document(self) -> _Part:
        """The document as a part without a node: the paper's root nodes are its sections."""
        for unit in await asyncio.to_thread(sentences_of, self._text, self._hierarchy, self._encoder.tokens):
            self._units[unit.section].append(unit)
        for i, node in self._hierarchy.of_kind(Kind.SECTION):
            self._sections[node.parent or 0].append(i)
        preamble = await self._own(self._units[0])
        parts = preamble.parts or ((preamble,) if preamble.chunks else ())
        below = [await self._section(i) for i in self._sections[0]]
        return _Part(range(0), parts=(*parts, *below), summarised=False)

    async def _section(self, index: int, *, summarised: bool = True) -> _Part:
        heading = self._hierarchy.nodes[index].heading
        summarised = summarised and not _ABSTRACT.fullmatch(heading)
        units = [*self._carried, *self._units[index]]
        bare = summarised and bool(self._sections[index]) and all(unit.heading for unit in units)
        self._carried = units if bare else []
        own = await self._own([] if bare else units) if summarised else self._chunked(units, self._sizes.group)
        below = [await self._section(i, summarised=summarised) for i in self._sections[index]]
        return replace(own, parts=(*own.parts, *below), heading=heading, summarised=summarised)

    async def _own(self, units: Sequence[Unit]) -> _Part:
        """Text without headings in between: as one part, or with its themes as parts."""
        if sum(unit.words for unit in units) <= _THEMED_FROM * self._sizes.theme_words:
            return self._chunked(units, self._sizes.group)
        vectors = await encode_cut(self._encoder, [unit.span.of(self._text) for unit in units])
        words = [unit.words for unit in units]
        starts = await asyncio.to_thread(theme_starts, vectors, words, target=self._sizes.theme_words)
        themes = (units[a:b] for a, b in zip(starts, [*starts[1:], len(units)], strict=True))
        parts = tuple(self._chunked(theme, self._sizes.theme_group) for theme in themes)
        return _Part(range(0), parts=parts)

    def _chunked(self, units: Sequence[Unit], group: int) -> _Part:
        first = len(self.leaves)
        for chunk in pack(units, tokens=room(self._encoder.tokens), words=self._sizes.chunk_words):
            span = span_of(chunk)
            self.leaves.append(RetrievalNode(text=span.of(self._text), spans=(span,)))
        chunks = range(first, len(self.leaves))
        if sum(unit.words for unit in units) < _MIN_GROUPED_WORDS:
            return _Part(chunks)
        return _Part(chunks, groups=tuple(chunks[i : i + group] for i in range(0, len(chunks), group)))


def _tops(part: _Part, leaves: int, inners: list[_Inner]) -> list[int]:
    """Append the nodes of ``part``, children before parents, and return those that hang from what is above it."""
    below = list(part.chunks)
    if part.summarised and part.groups:
        below = [_append(inners, leaves, _Inner(tuple(group), tuple(group))) for group in part.groups]
    parts = [top for p in part.parts for top in _tops(p, leaves, inners)]
    if not part.summarised:
        return [*below, *parts]
    return [_append(inners, leaves, _Inner((*below, *parts), (*part.chunks, *parts), part.heading))]


def _append(inners: list[_Inner], leaves: int, node: _Inner) -> int:
    inners.append(node)
    return leaves + len(inners) - 1


def _layers(leaves: int, inners: Sequence[_Inner]) -> list[int]:
    layers = [0] * leaves
    for node in inners:
        layers.append(1 + max(layers[child] for child in node.children))
    return layers


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
