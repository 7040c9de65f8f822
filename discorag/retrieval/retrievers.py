"""The retrievers over trees: which builder's tree, and how evidence is chosen from it. Their names: `registry`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from discorag.retrieval.builder import Summariser
from discorag.retrieval.builders.bisection import BisectionBuilder
from discorag.retrieval.builders.clusters import ClusterBuilder
from discorag.retrieval.builders.discourse import DiscourseBuilder
from discorag.retrieval.builders.flat import FlatChunkBuilder, FlatSentenceBuilder
from discorag.retrieval.builders.headings import HeadingBuilder
from discorag.retrieval.builders.node_text import Concat, NodeText, Tau
from discorag.retrieval.builders.sections import SectionBuilder, SectionSizes
from discorag.retrieval.builders.slide import SlideBuilder, SnappedBuilder
from discorag.retrieval.builders.unified import ParagraphBuilder, UnifiedBuilder
from discorag.retrieval.builders.windows import WindowBuilder
from discorag.retrieval.registry import Choose, SelectedNodes, TreeQuery, TreeRetriever, TreeTools
from discorag.retrieval.rounds import Rounds
from discorag.retrieval.selectors.algorithm1 import Variant, algorithm1
from discorag.retrieval.selectors.collapsed import collapsed_set, collapsed_tree, traversal
from discorag.retrieval.selectors.evidence import Evidence, within
from discorag.retrieval.selectors.neighbours import expand, smoothed
from discorag.retrieval.summarise import ExtractiveSummariser, LlmSummariser
from discorag.schema.errors import ModelError
from discorag.schema.ledger import Failure

LEAVES_OF_A_NODE = 5
"""DISRetrieval section 4.1 and appendix E.2."""
NODES_OF_A_LAYER = 5
"""RAPTOR figure 3 tries several and settles on none."""
RERANKED = 10
"""HTSIR, "Experiment Settings"."""


async def _selected(asked: TreeQuery, selector: Callable[..., Evidence], k: int | None = None) -> SelectedNodes:
    """By a selector; ``k`` is its paper's, of one that has any."""
    s, own = asked.scores, {} if k is None else {"k": asked.k or k}
    return SelectedNodes(selector(s.forest.tree, s.nodes, s.sizes, asked.words, **own).nodes)


async def _beside(asked: TreeQuery, selector: Callable[..., Evidence]) -> SelectedNodes:
    """By a selector that looks at neighbours, which are of the same document."""
    s = asked.scores
    return SelectedNodes(selector(s.forest.tree, s.nodes, s.sizes, asked.words, owners=s.forest.owners).nodes)


async def _reranked(asked: TreeQuery) -> SelectedNodes:
    """HTSIR section 4: of a pool of the best nodes of all layers the k that a reranker puts first, as far as they fit.

    Where the reranker fails, the pool's order is that of similarity, and that is told.
    """
    s, k = asked.scores, asked.k or RERANKED
    pool = max(k, asked.pool)
    found = collapsed_set(s.forest.tree, s.nodes, s.sizes, max(1, int(s.sizes.sum())), k=pool).nodes
    try:
        ranks = await asked.reranker.scores(asked.question, [s.forest.tree.nodes[n].text for n in found])
    except ModelError as error:
        told = Failure.of("retrieve", error, fallback="the order by similarity")
        return SelectedNodes(within(found[:k], s.sizes, asked.words), failures=(told,))
    best: list[int] = np.argsort(-np.array(ranks), kind="stable").tolist()
    return SelectedNodes(within((found[i] for i in best[:k]), s.sizes, asked.words))


async def _routed(asked: TreeQuery) -> SelectedNodes:
    """RDR²: all rounds at once."""
    rounds = Rounds.begun(asked)
    while not rounds.over:
        rounds = await rounds.next(asked)
    return rounds.chosen(asked)


def _unified(tools: TreeTools, text: NodeText) -> UnifiedBuilder:
    return UnifiedBuilder(tools.parser, text, cache=tools.parses)


def _clusters(tools: TreeTools) -> ClusterBuilder:
    return ClusterBuilder(tools.box.encoder, summariser_of(tools), tools.box.encoder.tokens)


def _sections(tools: TreeTools) -> SectionBuilder:
    cut = tools.box.settings.trees
    sizes = SectionSizes(chunk_words=cut.chunk_words, group=cut.group, theme_group=cut.theme_group)
    return SectionBuilder(tools.box.encoder, summariser_of(tools), sizes)


_ALGORITHM_1: Choose = partial(_selected, selector=algorithm1, k=LEAVES_OF_A_NODE)
_LEAVES: Choose = partial(_selected, selector=partial(algorithm1, variant=Variant.LEAVES))

SENTENCES = TreeRetriever("flat-sentences", lambda _: FlatSentenceBuilder(), _LEAVES)
CHUNKS = TreeRetriever("flat-chunks", lambda _: FlatChunkBuilder(), _LEAVES)
SMOOTHED = TreeRetriever("flat-sentences", lambda _: FlatSentenceBuilder(), partial(_beside, selector=smoothed))
EXPAND = TreeRetriever("flat-sentences", lambda _: FlatSentenceBuilder(), partial(_beside, selector=expand))
SLIDE = TreeRetriever("slide", lambda _: SlideBuilder(), _ALGORITHM_1)
SNAPPED = TreeRetriever("snapped", lambda _: SnappedBuilder(ParagraphBuilder(Concat())), _ALGORITHM_1)
BISECTION = TreeRetriever("bisection", lambda tools: BisectionBuilder(text_of(tools)), _ALGORITHM_1, summaries=True)
WINDOWS = TreeRetriever("windows", lambda tools: WindowBuilder(text_of(tools)), _ALGORITHM_1, summaries=True)
DISCOURSE = TreeRetriever(
    "discourse",
    lambda tools: DiscourseBuilder(tools.parser, text_of(tools), cache=tools.parses),
    _ALGORITHM_1,
    summaries=True,
)
UNIFIED = TreeRetriever("unified", lambda tools: _unified(tools, text_of(tools)), _ALGORITHM_1, summaries=True)
RAPTOR = TreeRetriever("clusters", _clusters, partial(_selected, selector=collapsed_tree), "text", True)
RAPTOR_TRAVERSAL = TreeRetriever(
    "clusters", _clusters, partial(_selected, selector=traversal, k=NODES_OF_A_LAYER), "text", True
)
HTSIR = TreeRetriever(
    "sections",
    _sections,
    _reranked,
    "text",
    summaries=True,
    reads=True,
)
RDR2 = TreeRetriever(
    "headings", lambda tools: HeadingBuilder(tools.box.encoder.tokens), _routed, "text", reads=True, rounds=True
)
"""Controls: sentences, chunks, smoothed, expand, slide, bisection, windows. Ours: snapped, unified."""


def text_of(tools: TreeTools) -> NodeText:
    """The rule of DISRetrieval's eq. 2 where a model summarises, else all that lies below."""
    return Tau(summariser_of(tools), tools.box.settings.trees.tau) if tools.box.model else Concat()


def summariser_of(tools: TreeTools) -> Summariser:
    """The language model if there is one, else the most nuclear sentences."""
    box, extractive = tools.box, ExtractiveSummariser(tools.parser)
    return LlmSummariser(box.model, box.template("summary"), extractive) if box.model else extractive
