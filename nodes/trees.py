"""What retrieval over trees needs of a run's resources: builders, summariser, router."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from discorag.rst.units import EnglishUnits
from discorag.trees.builder import Builder, Summariser
from discorag.trees.builders.bisection import BisectionBuilder
from discorag.trees.builders.clusters import ClusterBuilder
from discorag.trees.builders.discourse import DiscourseBuilder
from discorag.trees.builders.flat import FlatChunkBuilder, FlatSentenceBuilder
from discorag.trees.builders.headings import HeadingBuilder
from discorag.trees.builders.node_text import Concat, NodeText, Tau
from discorag.trees.builders.sections import SectionBuilder
from discorag.trees.builders.slide import SlideBuilder, SnappedBuilder
from discorag.trees.builders.unified import UnifiedBuilder
from discorag.trees.builders.windows import WindowBuilder
from discorag.trees.index import TreeIndex
from discorag.trees.retrievers import BuilderName, TreeRetriever
from discorag.trees.routers.llm import LlmRouter
from discorag.trees.routers.local import LocalRouter
from discorag.trees.routers.walk import Router
from discorag.trees.summarise import ExtractiveSummariser, LlmSummariser
from discorag.types.document import Scope
from discorag.types.ledger import Failure
from nodes.resources import Resources
from nodes.stage import Stage
from prompts import load


def tree_index(retriever: TreeRetriever, deps: Resources, scope: Scope) -> TreeIndex:
    """The trees of a retriever's builder; inner nodes are encoded by their summaries where a model writes them."""
    how = "text" if deps.model and retriever.summaries else retriever.vectors
    return TreeIndex(deps.store, scope, deps.encoder, _BUILDERS[retriever.builder](deps), how)


def noted(stage: Stage, index: TreeIndex) -> None:
    """Put what building trees took, and what failed in it, into the stage's record."""
    made = index.effort
    stage.usage += made.usage
    stage.failures += [
        Failure(stage=stage.name, kind="summary", message=message, fallback="extractive text")
        for message in made.failures
    ]
    stage.counts = {"trees built": made.built, "parses": made.parsed, "parses known": made.reused}


def summariser_of(deps: Resources) -> Summariser:
    """The language model if there is one, else the most nuclear sentences."""
    extractive = ExtractiveSummariser(_parser(deps))
    return LlmSummariser(deps.model, load("summary"), extractive) if deps.model else extractive


def router_of(deps: Resources) -> Router:
    """The language model if there is one, else similarity."""
    return LlmRouter(deps.model, load("route")) if deps.model else LocalRouter(deps.encoder)


def _parser(deps: Resources) -> EnglishUnits:
    return EnglishUnits(deps.trained("fast"))


def _text(deps: Resources) -> NodeText:
    """The rule of DISRetrieval's eq. 2 where a model summarises, else all that lies below."""
    return Tau(summariser_of(deps)) if deps.model else Concat()


def _discourse(deps: Resources) -> DiscourseBuilder:
    return DiscourseBuilder(_parser(deps), _text(deps), cache=deps.parses)


_BUILDERS: Mapping[BuilderName, Callable[[Resources], Builder]] = {
    "flat-sentences": lambda _: FlatSentenceBuilder(),
    "flat-chunks": lambda _: FlatChunkBuilder(),
    "bisection": lambda deps: BisectionBuilder(_text(deps)),
    "windows": lambda deps: WindowBuilder(_text(deps)),
    "slide": lambda _: SlideBuilder(),
    "snapped": lambda deps: SnappedBuilder(UnifiedBuilder(_parser(deps), Concat(), cache=deps.parses)),
    "discourse": _discourse,
    "unified": lambda deps: UnifiedBuilder(_parser(deps), _text(deps), cache=deps.parses),
    "clusters": lambda deps: ClusterBuilder(deps.encoder, summariser_of(deps), deps.encoder.tokens),
    "sections": lambda deps: SectionBuilder(deps.encoder, summariser_of(deps)),
    "headings": lambda deps: HeadingBuilder(deps.encoder.tokens),
}
