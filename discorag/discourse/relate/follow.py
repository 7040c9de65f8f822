"""Relation-filtered retrieval: a question that names a relation also gets chunks so related to the best ones.

"What causes X", "evidence against Y": the search finds chunks about X or Y; the answer may stand in a chunk that is
less similar to the question, but is a cause of, or contradicts, what was found. Links are the graph's edges between
chunks and the trees' relations inside them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from discorag.schema.discourse import ChunkRelation, Relation, RhetoricalGraph
from discorag.schema.document import Chunk

_C, _R = ChunkRelation, Relation
WIDER = 3
"""How many times as many chunks are searched for as are returned."""


@dataclass(frozen=True)
class RelationFilter:
    """Relations that a question asks for by some words: between chunks, in either direction, and in a chunk's tree."""

    name: str
    pattern: re.Pattern[str]
    between: frozenset[ChunkRelation]
    inside: frozenset[Relation]


_FILTERS = (
    RelationFilter(
        "evidence against",
        re.compile(
            r"\b(?:evidence|arguments?|speaks?|case|objections?) (?:against|to)\b"
            r"|\b(?:contradict|disagree|disput|refut|disprov|criticis|criticiz)\w*|反对|矛盾|质疑",
            re.IGNORECASE,
        ),
        between=frozenset({_C.CONTRADICTS, _C.CONTRASTS_WITH}),
        inside=frozenset({_R.CONTRAST, _R.CONCESSION, _R.ANTITHESIS}),
    ),
    RelationFilter(
        "evidence for",
        re.compile(
            r"\bevidence (?:for|that|of)\b|\bproofs? (?:of|that)\b|\bhow do we know\b|\bwhat supports\b|证据",
            re.IGNORECASE,
        ),
        between=frozenset({_C.SUPPORTS, _C.JUSTIFIES}),
        inside=frozenset({_R.EVIDENCE, _R.EXPLANATION}),
    ),
    RelationFilter(
        "condition",
        re.compile(
            r"\bunder (?:what|which) (?:conditions?|circumstances)\b|\b(?:in which|in what) cases\b"
            r"|\bwhat (?:is|are|does it) (?:required|needed|take)\b|条件",
            re.IGNORECASE,
        ),
        between=frozenset({_C.ENABLES, _C.PREVENTS}),
        inside=frozenset({_R.CONDITION, _R.CIRCUMSTANCE}),
    ),
    RelationFilter(
        "cause",
        re.compile(
            r"\bwhy\b|\bhow come\b|\bwhat (?:causes?|caused|leads? to|led to|makes?|made)\b"
            r"|\b(?:causes?|reasons?) (?:of|for|why)\b|\b(?:effects?|consequences?|results?|impact) of\b"
            r"|\bwhat happen(?:s|ed) (?:if|when|because|after)\b|为什么|原因|后果",
            re.IGNORECASE,
        ),
        between=frozenset({_C.CAUSES, _C.RESULTS_FROM, _C.ENABLES, _C.PREVENTS, _C.MOTIVATES, _C.JUSTIFIES}),
        inside=frozenset({_R.CAUSE, _R.RESULT, _R.CONSEQUENCE, _R.EXPLANATION, _R.PURPOSE}),
    ),
)


def relation_filter(question: str) -> RelationFilter | None:
    """The relations that a question asks for by its words; None if it asks for none."""
    return next((known for known in _FILTERS if known.pattern.search(question)), None)


def follow_relations(
    chunks: Sequence[Chunk], graph: RhetoricalGraph, relations: RelationFilter, top_k: int
) -> list[int]:
    """Which of the retrieved chunks to keep: the best ones, and some that are related to them.

    At most a third of the ``top_k`` places goes to chunks that search ranked lower: those that an edge of these
    relations joins to one of the best ``top_k``, conflicts first, if their own tree holds one of the relations too.
    There are more chunks than are kept, best first, and the graph is over all of them.

    Returns:
        Indices into ``chunks``, best first, related chunks last.
    """
    index = {c.id: i for i, c in enumerate(chunks)}
    is_conflict: dict[int, bool] = {}
    for edge in graph.edges:
        a, b = sorted((index[edge.source], index[edge.target]))
        inside = {s.relation for s in tree.splits} if (tree := chunks[b].tree) else set[Relation]()
        if edge.relation in relations.between and a < top_k <= b and inside & relations.inside:
            is_conflict[b] = is_conflict.get(b, False) or bool(edge.reason)
    related = sorted(is_conflict, key=lambda i: (not is_conflict[i], i))[: top_k // 3]
    return [*range(min(top_k, len(chunks)) - len(related)), *related]
