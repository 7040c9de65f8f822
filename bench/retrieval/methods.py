"""The rows of the retrieval benchmark: what is built, how nodes are scored, how evidence is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from bench.retrieval.controls import RandomBranchingBuilder, RandomUnits, RightBranchingBuilder
from bench.retrieval.forest_scores import Scored
from bench.retrieval.kin import kin, related
from bench.retrieval.nuclear import Nuclear
from bench.retrieval.windows import by_windows
from discorag.models.protocol import Encoder
from discorag.rst.rules import RuleParser
from discorag.rst.trained.parser import TrainedParser
from discorag.trees.builder import Builder
from discorag.trees.builders.bisection import BisectionBuilder
from discorag.trees.builders.borders import snapped_windows
from discorag.trees.builders.clusters import ClusterBuilder
from discorag.trees.builders.discourse import DiscourseBuilder
from discorag.trees.builders.flat import FlatChunkBuilder, FlatSentenceBuilder
from discorag.trees.builders.headings import HeadingBuilder
from discorag.trees.builders.node_text import Concat
from discorag.trees.builders.sections import SectionBuilder
from discorag.trees.builders.unified import ParagraphBuilder, UnifiedBuilder
from discorag.trees.builders.windows import WindowBuilder
from discorag.trees.choose.algorithm1 import Variant, algorithm1
from discorag.trees.choose.evidence import Evidence
from discorag.trees.choose.neighbours import expand, smoothed
from discorag.trees.summarise import ExtractiveSummariser

Vectors: TypeAlias = Literal["mean", "text"]
Choose: TypeAlias = Callable[[Scored, int], Evidence]


@dataclass(frozen=True)
class Method:
    """A row.

    Args:
        builder: Key of `builders`.
        choose: Evidence within a number of words; or the retriever of `RETRIEVERS` that chooses it.
        vectors: Of inner nodes: the mean of the leaves below, or the text's own.
    """

    builder: str
    choose: Choose | str
    vectors: Vectors = "mean"


def builders(encoder: Encoder) -> dict[str, Builder]:
    """Every builder that a row needs; parses are shared between the discourse builders."""
    parser, rules, parses = TrainedParser(), RuleParser(), dict[str, Any]()
    extract = ExtractiveSummariser(rules)
    return {
        "flat_sentence": FlatSentenceBuilder(),
        "flat_chunk": FlatChunkBuilder(100),
        "bisection": BisectionBuilder(Concat()),
        "random": RandomBranchingBuilder(Concat()),
        "right_branching": RightBranchingBuilder(Concat()),
        "windows7": WindowBuilder(Concat(), size=7, chunk_words=1),
        "discourse": DiscourseBuilder(parser, Concat(), cache=parses),
        "discourse_nuclear": DiscourseBuilder(parser, Nuclear(100), cache=parses),
        "discourse_rules": DiscourseBuilder(rules, Concat()),
        "unified": UnifiedBuilder(parser, Concat(), cache=parses),
        "unified_random": UnifiedBuilder(RandomUnits(), Concat()),
        "paragraphs": ParagraphBuilder(Concat()),
        "raptor": ClusterBuilder(encoder, extract, encoder.tokens),
        "htsir": SectionBuilder(encoder, extract),
        "headings": HeadingBuilder(encoder.tokens),
    }


def _alg1(scored: Scored, words: int) -> Evidence:
    return algorithm1(scored.tree, scored.nodes, scored.words, words)


def _variant(scored: Scored, words: int, variant: Variant) -> Evidence:
    return algorithm1(scored.tree, scored.nodes, scored.words, words, variant=variant)


_flat = partial(_variant, variant=Variant.LEAVES)


def _smoothed(scored: Scored, words: int, radius: int) -> Evidence:
    return smoothed(scored.tree, scored.nodes, scored.words, words, radius=radius, owners=scored.owners)


def _expand(scored: Scored, words: int, radius: int) -> Evidence:
    return expand(scored.tree, scored.nodes, scored.words, words, radius=radius, owners=scored.owners)


def _slide(scored: Scored, words: int, widest: int) -> Evidence:
    scores = scored.windows(widest)
    return by_windows(scored.tree, scores, np.isfinite(scores), scored.words, words)


def _snapped(scored: Scored, words: int, widest: int) -> Evidence:
    scores = scored.windows(widest)
    follows = scored.remember(f"snapped{widest}", lambda: snapped_windows(scored.tree, widest))
    return by_windows(scored.tree, scores, np.isfinite(scores) & follows, scored.words, words)


def _kin(scored: Scored, words: int, widest: int) -> Evidence:
    return kin(scored.tree, scored.nodes, scored.words, words, widest=widest)


def _related(scored: Scored, words: int, widest: int) -> Evidence:
    return kin(scored.tree, scored.nodes, scored.words, words, widest=widest, follow=related)


METHODS: Mapping[str, Method] = {
    "flat_sentence": Method("flat_sentence", _flat),
    "flat_chunk": Method("flat_chunk", _flat),
    **{f"smoothed_{r}": Method("flat_sentence", partial(_smoothed, radius=r)) for r in (1, 2, 4)},
    **{f"expand_{r}": Method("flat_sentence", partial(_expand, radius=r)) for r in (1, 2, 4, 8)},
    **{f"slide_{w}": Method("flat_sentence", partial(_slide, widest=w)) for w in (4, 16, 64)},
    "bisection": Method("bisection", _alg1),
    "random": Method("random", _alg1),
    "right_branching": Method("right_branching", _alg1),
    "windows7": Method("windows7", _alg1),
    "discourse": Method("discourse", _alg1),
    "discourse_rules": Method("discourse_rules", _alg1),
    "discourse_concat": Method("discourse", _alg1, "text"),
    "discourse_nuclear": Method("discourse_nuclear", _alg1, "text"),
    "bisection_concat": Method("bisection", _alg1, "text"),
    "discourse_all_leaves": Method("discourse", partial(_variant, variant=Variant.ALL_LEAVES)),
    "discourse_summaries": Method("discourse", partial(_variant, variant=Variant.SUMMARIES), "text"),
    "unified": Method("unified", _alg1),
    **{f"snapped_{w}": Method("discourse", partial(_snapped, widest=w)) for w in (4, 16, 64)},
    "snapped_unified_16": Method("unified", partial(_snapped, widest=16)),
    "snapped_random_16": Method("unified_random", partial(_snapped, widest=16)),
    "snapped_paragraphs_16": Method("paragraphs", partial(_snapped, widest=16)),
    "snapped_bisection_16": Method("bisection", partial(_snapped, widest=16)),
    **{f"kin_{w}": Method("unified", partial(_kin, widest=w)) for w in (4, 16)},
    **{f"kin_random_{w}": Method("unified_random", partial(_kin, widest=w)) for w in (4, 16)},
    "related_16": Method("unified", partial(_related, widest=16)),
    "raptor": Method("raptor", "raptor", "text"),
    "raptor_traversal": Method("raptor", "raptor-traversal", "text"),
    "htsir": Method("htsir", "htsir", "text"),
    "rdr2": Method("headings", "rdr2", "text"),
    "headings": Method("headings", _flat),
}
"""``_1``, ``_4`` ... are radius or width in sentences; ``_concat`` and ``_nuclear`` are the texts of inner nodes.

``_all_leaves`` and ``_summaries`` are rows of DISRetrieval's figure 4; its ranking order finds what the original order
does. ``_random_16`` has the author's headings and paragraphs, as ``_unified_16`` and ``kin``, and random trees inside.
"""

SUMMARISED = frozenset({"raptor", "raptor_traversal", "htsir", "rdr2"})
"""Rows that summarise, cluster or route: measured on the sets of long documents only."""

SLOW = frozenset(
    {"discourse_concat", "discourse_nuclear", "bisection_concat", "discourse_all_leaves", "discourse_summaries"}
)
"""Rows that encode the text of every inner node, or are ablations: measured when asked for."""
