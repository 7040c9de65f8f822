"""What every builder and summariser does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from discorag.schema.document import Document
from discorag.schema.hierarchy import Hierarchy
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.span import Span
from discorag.schema.usage import Usage


@dataclass(frozen=True)
class Source:
    """A document as builders see it: its canonical text, and its sections, paragraphs and sentences.

    Example:
        >>> from discorag.ingest.segment.headings import build_hierarchy
        >>> from discorag.retrieval.builder import Source
        >>> Source(document, build_hierarchy(document)).hierarchy.nodes[0].kind.value
        'document'
    """

    document: Document
    hierarchy: Hierarchy


@dataclass(frozen=True)
class Built:
    """What a builder made, and what it cost.

    Args:
        tree: The nodes.
        usage: Tokens of the language model, if one was asked.
        failures: What a model could not do; the node then has extractive text instead, and the build went on.

    Example:
        >>> from discorag.retrieval.builders.flat import FlatSentenceBuilder
        >>> built = asyncio.run(FlatSentenceBuilder().build(source))
        >>> built.tree.leaves, built.usage.calls, built.failures
        (6, 0, ())
    """

    tree: RetrievalTree
    usage: Usage = field(default_factory=Usage)
    failures: tuple[str, ...] = ()


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
    """A text that stands for others; ``failure`` says why a model's was replaced by an extractive one.

    Example:
        >>> from discorag.retrieval.summarise import ExtractiveSummariser
        >>> summary = asyncio.run(ExtractiveSummariser().summarise(["Tides rise.", "They fall."], words=4))
        >>> summary.text, summary.failure
        ('Tides rise. They fall.', '')
    """

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
