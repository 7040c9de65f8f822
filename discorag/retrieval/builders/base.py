"""What builders share: their protocols, leaves, chunks of sentences, and vectors of long texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from discorag.ingest.segment.headings import is_heading
from discorag.models.protocol import Encoder
from discorag.schema.document import Document, Hierarchy, Kind
from discorag.schema.errors import EmptyDocumentError, Usage
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import Span, Vectors, count_words
from discorag.text.tokens import TokenCounter


@dataclass(frozen=True)
class Source:
    """A document as builders see it: its canonical text, and its sections, paragraphs and sentences."""

    document: Document
    hierarchy: Hierarchy


@dataclass(frozen=True)
class Built:
    """What a builder made, and what it cost.

    Args:
        tree: The nodes.
        usage: Tokens of the language model, if one was asked.
        failures: What a model could not do; the node then has extractive text instead, and the build went on.
        parsed: Parses that it took: paragraphs of several sentences, and what lies above the paragraphs.
        reused: Parses that came from the cache instead.
    """

    tree: RetrievalTree
    usage: Usage = field(default_factory=Usage)
    failures: tuple[str, ...] = ()
    parsed: int = 0
    reused: int = 0


class Builder(Protocol):
    """Makes a retrieval tree of a document. Leaf ``i``'s text is exactly ``document.text[span.start:span.end]``."""

    @property
    def name(self) -> str:
        """Stored with the nodes."""
        ...

    @property
    def version(self) -> str:
        """Everything that shapes its nodes; a change builds again."""
        ...

    async def build(self, source: Source) -> Built:
        """The tree of a document with at least one sentence."""
        ...


@dataclass(frozen=True)
class Summary:
    """A text that stands for others; ``failure`` says why a model's was replaced by an extractive one."""

    text: str
    usage: Usage = field(default_factory=Usage)
    failure: str = ""


class Summariser(Protocol):
    """Makes one text of several."""

    @property
    def version(self) -> str:
        """Model and prompt."""
        ...

    async def summarise(self, texts: Sequence[str], *, words: int) -> Summary:
        """A text of at most about ``words`` words that stands for ``texts``, which are in reading order.

        Never raises for what a model does: a failure is told in the result, whose text is then extractive.
        """
        ...


def inner(
    nodes: Sequence[RetrievalNode], children: Sequence[int], text: str, *, heading: str = "", relation: str = ""
) -> RetrievalNode:
    """A node above ``children`` (indices into ``nodes``): its spans are theirs, merged where they touch or overlap."""
    spans: list[Span] = []
    for span in sorted((s for c in children for s in nodes[c].spans), key=lambda s: s.start):
        if spans and span.start <= spans[-1].end:
            spans[-1] = Span(start=spans[-1].start, end=max(span.end, spans[-1].end))
        else:
            spans.append(span)
    layer = 1 + max(nodes[c].layer for c in children)
    ordered = tuple(sorted(children))
    return RetrievalNode(
        text=text, spans=tuple(spans), children=ordered, layer=layer, heading=heading, relation=relation
    )


def sentence_leaves(source: Source) -> tuple[RetrievalNode, ...]:
    """Every sentence of the document under its headings, in text order; headings, rows and lines of code are some.

    Raises:
        EmptyDocumentError: There is none.
    """
    text, hierarchy = source.document.text, source.hierarchy
    leaves = [
        RetrievalNode(text=node.span.of(text), spans=(node.span,), context=_context(source, i))
        for i, node in hierarchy.of_kind(Kind.SENTENCE)
    ]
    if not leaves:
        raise EmptyDocumentError(f"{source.document.uri} holds no sentence.", hint="Leave blank documents out.")
    return tuple(leaves)


def _context(source: Source, index: int) -> str:
    """The title of the document and the headings above a node of its hierarchy, each once."""
    path = (source.document.title, *source.hierarchy.headings(index))
    return " > ".join(dict.fromkeys(filter(None, path)))


def chunk_leaves(source: Source, words: int) -> tuple[RetrievalNode, ...]:
    """Chunks of whole sentences, greedily, up to ``words`` words each; a longer sentence is a chunk alone.

    Raises:
        EmptyDocumentError: The document holds no sentence.

    Source: DISRetrieval section 4.1, "Flatten-chunk" (100 words); RAPTOR section 3 (100 tokens).
    """
    chunks: list[list[RetrievalNode]] = []
    taken = 0
    for sentence in sentence_leaves(source):
        size = count_words(sentence.text)
        taken += size
        if not chunks or taken > words:
            chunks.append([])
            taken = size
        chunks[-1].append(sentence)
    spans = (around(chunk) for chunk in chunks)
    return tuple(RetrievalNode(text=span.of(source.document.text), spans=(span,)) for span in spans)


def paragraph_leaves(source: Source) -> list[range]:
    """For each paragraph (a heading is one) the sentence leaves in it, in text order."""
    paragraphs: list[range] = []
    leaf = 0
    for node in source.hierarchy.nodes:
        if node.kind is Kind.PARAGRAPH:
            paragraphs.append(range(leaf, leaf))
        elif node.kind is Kind.SENTENCE:
            leaf += 1
            paragraphs[-1] = range(paragraphs[-1].start, leaf)
    return paragraphs


def around(nodes: Sequence[RetrievalNode]) -> Span:
    """The one span from the start of the first node to the end of the last, white space between them included."""
    return Span(start=nodes[0].spans[0].start, end=nodes[-1].spans[-1].end)


@dataclass(frozen=True)
class Unit:
    """A sentence, or a piece of one that the encoder could not read whole.

    Args:
        span: Its characters in the document.
        words: How many words; Chinese and Japanese characters count one each.
        tokens: How many tokens, special ones left out.
        section: Index in the hierarchy of the section (or the document) whose own text it is.
        heading: Whether it is that section's heading.
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
