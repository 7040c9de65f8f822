"""Every builder by name, with parts that cost next to nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discorag.discourse.parse.rules import RuleParser
from discorag.retrieval.builders.base import Builder
from discorag.retrieval.builders.baselines import BisectionBuilder, FlatChunkBuilder, FlatSentenceBuilder, WindowBuilder
from discorag.retrieval.builders.clusters import ClusterBuilder, ClusterSizes
from discorag.retrieval.builders.discourse import DiscourseBuilder, ParagraphBuilder, UnifiedBuilder
from discorag.retrieval.builders.headings import HeadingBuilder
from discorag.retrieval.builders.node_text import Concat, NodeText, Tau
from discorag.retrieval.builders.sections import SectionBuilder
from discorag.retrieval.builders.summaries import Summariser, Summary
from discorag.retrieval.builders.tree_windows import TreeWindowBuilder
from discorag.schema.values import first_words
from tests.retrieval.hashing import HashingEncoder

OVERLAPPING = frozenset({"clusters", "snapped"})
"""Builders that put a node under several parents: soft clusters, and windows."""
GAPPED = frozenset({"clusters"})
"""Builders whose nodes may stand for text with gaps."""
ONE_ROOT = frozenset({"bisection", "windows", "discourse", "unified", "headings", "paragraphs"})
SUMMARISING = ("bisection", "windows", "discourse", "unified", "paragraphs", "clusters", "sections")


class Heads:
    """A summariser whose text is the beginning of what it is given."""

    version = "heads"

    async def summarise(self, texts: Sequence[str], *, words: int) -> Summary:
        return Summary(first_words(texts, words))


def every_builder(summariser: Summariser | None = None, *, chunk_tokens: int = 100) -> Mapping[str, Builder]:
    """All of them; inner nodes hold all text below, or follow eq. 2 with ``summariser`` where one is given."""
    encoder = HashingEncoder()
    text: NodeText = Tau(summariser, tau=0, words=20) if summariser else Concat()
    summaries = summariser or Heads()
    discourse = DiscourseBuilder(RuleParser(), text)
    builders: list[Builder] = [
        FlatSentenceBuilder(),
        FlatChunkBuilder(),
        BisectionBuilder(text),
        WindowBuilder(text),
        TreeWindowBuilder(discourse),
        discourse,
        UnifiedBuilder(RuleParser(), text),
        ParagraphBuilder(text),
        SectionBuilder(encoder, summaries),
        HeadingBuilder(encoder.tokens),
        ClusterBuilder(encoder, summaries, ClusterSizes(chunk_tokens=chunk_tokens)),
    ]
    return {builder.name: builder for builder in builders}
