"""Leaves of retrieval trees: sentences, or chunks of whole sentences."""

from __future__ import annotations

from collections.abc import Sequence

from discorag.retrieval.builder import Source
from discorag.schema.errors import EmptyDocumentError
from discorag.schema.hierarchy import Kind
from discorag.schema.retrieval_tree import RetrievalNode
from discorag.schema.span import Span
from discorag.schema.words import count_words


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
