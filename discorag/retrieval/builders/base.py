"""What builders share: their protocol, leaves, inner nodes, chunks of sentences, and vectors of long texts."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from discorag.ingest.segment.sentence_table import within_window
from discorag.models.protocol import Encoder, TokenCounter
from discorag.schema.document import Document, Hierarchy, Kind, Node, UnitKind
from discorag.schema.errors import InputError, Usage
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import Span, Vectors, count_words

NO_LIMIT = float("inf")


@dataclass(frozen=True)
class Source:
    """A document as builders see it: its canonical text, and its sections, paragraphs and sentences."""

    document: Document
    hierarchy: Hierarchy


@dataclass(frozen=True)
class Built:
    """A tree and what building it cost; ``failures`` say why nodes have extractive text instead of a model's."""

    tree: RetrievalTree
    usage: Usage = field(default_factory=Usage)
    failures: tuple[str, ...] = ()


class Builder(Protocol):
    """Makes a retrieval tree of a document. Leaf ``i`` has exactly the text ``document.text[span.start:span.end]``."""

    @property
    def name(self) -> str:
        """The name under which its trees are stored."""
        ...

    @property
    def version(self) -> str:
        """Names everything that shapes its nodes; if it changes, trees are built again."""
        ...

    async def build(self, source: Source) -> Built:
        """The tree of a document.

        Raises:
            InputError: The document holds no sentence.
            ModelError: The encoder's endpoint failed. What a summariser cannot do is in the result's ``failures``.
        """
        ...


def inner(
    nodes: Sequence[RetrievalNode], children: Sequence[int], text: str, *, heading: str = "", gaps: bool = True
) -> RetrievalNode:
    """A node above ``children`` (indices into ``nodes``).

    Its spans are those of the children, merged where they touch or overlap. Without ``gaps``, one span covers all of
    them and the white space between.
    """
    spans: list[Span] = []
    for span in sorted((s for c in children for s in nodes[c].spans), key=lambda s: s.start):
        if spans and (span.start <= spans[-1].end or not gaps):
            spans[-1] = Span(start=spans[-1].start, end=max(span.end, spans[-1].end))
        else:
            spans.append(span)
    return RetrievalNode(
        text=text,
        spans=tuple(spans),
        children=tuple(sorted(children)),
        layer=1 + max(nodes[c].layer for c in children),
        heading=heading,
    )


def sentence_leaves(source: Source) -> tuple[RetrievalNode, ...]:
    """Every sentence (headings, rows and lines of code too) in text order. Raises `InputError` if there is none."""
    text, title, hierarchy = source.document.text, source.document.title, source.hierarchy
    leaves: list[RetrievalNode] = []
    for i, node in _sentences(source):
        headings = dict.fromkeys(filter(None, (title, *hierarchy.headings(i))))
        leaves.append(RetrievalNode(text=node.span.of(text), spans=(node.span,), context=" > ".join(headings)))
    return tuple(leaves)


def _sentences(source: Source) -> tuple[tuple[int, Node], ...]:
    sentences = source.hierarchy.of_kind(Kind.SENTENCE)
    if not sentences:
        raise InputError(f"{source.document.uri} holds no sentence.", hint="Leave blank documents out.")
    return sentences


def paragraph_leaves(source: Source) -> list[range]:
    """The sentence leaves of every paragraph, in text order; a heading counts as a paragraph."""
    paragraphs: list[range] = []
    leaf = 0
    for node in source.hierarchy.nodes:
        if node.kind is Kind.PARAGRAPH:
            paragraphs.append(range(leaf, leaf))
        elif node.kind is Kind.SENTENCE:
            leaf += 1
            paragraphs[-1] = range(paragraphs[-1].start, leaf)
    return paragraphs


@dataclass(frozen=True)
class Unit:
    """A sentence, or a piece of one that the encoder could not read whole.

    ``tokens`` do not include special ones, and are 0 where they were not counted. ``section`` is the index in the
    hierarchy of the section, or the document, that it stands directly in; ``heading``: it is that section's heading.
    """

    span: Span
    words: int
    tokens: int
    section: int
    heading: bool


def units_of(
    source: Source, counter: TokenCounter | None = None, sentences: Sequence[tuple[int, Node]] = ()
) -> list[Unit]:
    """The document's sentences in text order, or the given units. Raises `InputError` if there are none.

    With a counter, a sentence that exceeds its window is cut into pieces that do not.
    """
    text, hierarchy, sentences = source.document.text, source.hierarchy, sentences or _sentences(source)
    counted: list[list[tuple[int, int]]] = [[]] * len(sentences)
    if counter:
        counted = counter.token_offsets([node.span.of(text) for _, node in sentences])
    limit = room(counter) if counter else 0
    units: list[Unit] = []
    for (_, node), tokens in zip(sentences, counted, strict=True):
        section = hierarchy.nodes[node.parent or 0].parent or 0
        heading = node.unit is UnitKind.HEADING
        for span, count in _pieces(node.span, tokens, limit):
            units.append(Unit(span, count_words(span.of(text)), count, section, heading))
    return units


def _pieces(span: Span, tokens: Sequence[tuple[int, int]], limit: int) -> Iterator[tuple[Span, int]]:
    """``span``, or pieces of half the limit, since a cut inside a word can add tokens (a hundred at most)."""
    if len(tokens) <= limit:
        yield span, len(tokens)
        return
    step = limit // 2
    for i in range(0, len(tokens), step):
        part = tokens[i : i + step]
        yield Span(start=span.start + part[0][0], end=span.start + part[-1][1]), len(part)


def chunk_leaves(
    source: Source, units: Sequence[Unit], *, tokens: float = NO_LIMIT, words: float = NO_LIMIT
) -> list[RetrievalNode]:
    """Chunks of whole units, each as long as it may be; a unit that is longer is a chunk by itself.

    Source: RAPTOR section 3, HTSIR section "HTSIR Tree Construction": a sentence that exceeds the limit goes into the
    next chunk as a whole. DISRetrieval section 4.1, "Flatten-chunk" (100 words).
    """
    chunks: list[Span] = []
    used_tokens, used_words = 0, 0
    for unit in units:
        used_tokens, used_words = used_tokens + unit.tokens, used_words + unit.words
        if not chunks or used_tokens > tokens or used_words > words:
            chunks.append(unit.span)
            used_tokens, used_words = unit.tokens, unit.words
        else:
            chunks[-1] = Span(start=chunks[-1].start, end=unit.span.end)
    return [RetrievalNode(text=span.of(source.document.text), spans=(span,)) for span in chunks]


def room(counter: TokenCounter) -> int:
    """How many tokens of one text the encoder sees, without special ones."""
    return counter.max_tokens - counter.special_tokens


async def encode_cut(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    """Unit vectors of the texts, each cut to the encoder's window, shape (len(texts), d)."""
    return await encoder.encode_documents(await asyncio.to_thread(within_window, list(texts), encoder))
