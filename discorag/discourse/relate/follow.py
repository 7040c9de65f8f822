"""Relation-filtered retrieval: a question that names a relation also gets what hangs on its best chunks by it.

"What causes X", "evidence against Y": the search finds chunks about X or Y; the answer may stand in a chunk that is
less similar to the question, but is a cause of, or at odds with, what was found. Links are the graph's edges between
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
"""How many times as many chunks are searched for as are wanted."""


@dataclass(frozen=True)
class Wanted:
    """Relations that a question asks for.

    Args:
        name: What it asks for.
        between: Relations between chunks, read in either direction.
        inside: Relations in a chunk's tree.
    """

    name: str
    between: frozenset[ChunkRelation]
    inside: frozenset[Relation]


_CAUSES = frozenset({_C.CAUSES, _C.RESULTS_FROM, _C.ENABLES, _C.PREVENTS, _C.MOTIVATES, _C.JUSTIFIES})
_CAUSAL = frozenset({_R.CAUSE, _R.RESULT, _R.CONSEQUENCE, _R.EXPLANATION, _R.PURPOSE})
_ASKED = (
    (
        Wanted(
            "evidence against",
            frozenset({_C.CONTRADICTS, _C.CONTRASTS_WITH}),
            frozenset({_R.CONTRAST, _R.CONCESSION, _R.ANTITHESIS}),
        ),
        r"\b(?:evidence|arguments?|speaks?|case|objections?) (?:against|to)\b"
        r"|\b(?:contradict|disagree|disput|refut|disprov|criticis|criticiz)\w*|反对|矛盾|质疑",
    ),
    (
        Wanted("evidence for", frozenset({_C.SUPPORTS, _C.JUSTIFIES}), frozenset({_R.EVIDENCE, _R.EXPLANATION})),
        r"\bevidence (?:for|that|of)\b|\bproofs? (?:of|that)\b|\bhow do we know\b|\bwhat supports\b|证据",
    ),
    (
        Wanted("condition", frozenset({_C.ENABLES, _C.PREVENTS}), frozenset({_R.CONDITION, _R.CIRCUMSTANCE})),
        r"\bunder (?:what|which) (?:conditions?|circumstances)\b|\b(?:in which|in what) cases\b"
        r"|\bwhat (?:is|are|does it) (?:required|needed|take)\b|条件",
    ),
    (
        Wanted("cause", _CAUSES, _CAUSAL),
        r"\bwhy\b|\bhow come\b|\bwhat (?:causes?|caused|leads? to|led to|makes?|made)\b"
        r"|\b(?:causes?|reasons?) (?:of|for|why)\b|\b(?:effects?|consequences?|results?|impact) of\b"
        r"|\bwhat happen(?:s|ed) (?:if|when|because|after)\b|为什么|原因|后果",
    ),
)
_PATTERNS = tuple((wanted, re.compile(pattern, re.IGNORECASE)) for wanted, pattern in _ASKED)


def wanted(question: str) -> Wanted | None:
    """The relations that a question asks for by its words; None if it asks for none."""
    return next((found for found, pattern in _PATTERNS if pattern.search(question)), None)


def followed(chunks: Sequence[Chunk], graph: RhetoricalGraph, asked: Wanted, top_k: int) -> list[int]:
    """Which of the retrieved chunks to keep: the best, and what hangs on them by a wanted relation.

    At most a third of the places goes to chunks that search ranked lower: those that an edge of a wanted relation joins
    to one of the best ``top_k``, the surest edge first, if their own tree holds a wanted relation too.

    Args:
        chunks: Best first, more than are wanted.
        graph: Over all of them.
        asked: By `wanted`.
        top_k: How many to keep.

    Returns:
        Indices into ``chunks``, best first; what was followed comes last.
    """
    linked = _linked(chunks, graph, asked, top_k)[: top_k // 3]
    return [*range(min(top_k, len(chunks)) - len(linked)), *linked]


def _linked(chunks: Sequence[Chunk], graph: RhetoricalGraph, asked: Wanted, top_k: int) -> list[int]:
    index = {c.id: i for i, c in enumerate(chunks)}
    surest: dict[int, float] = {}
    for edge in graph.edges:
        a, b = sorted((index[edge.source], index[edge.target]))
        if edge.relation in asked.between and a < top_k <= b and _holds(chunks[b], asked):
            surest[b] = max(surest.get(b, 0.0), edge.confidence or 0.0)
    return sorted(surest, key=lambda i: (-surest[i], i))


def _holds(chunk: Chunk, asked: Wanted) -> bool:
    return chunk.tree is not None and any(s.relation in asked.inside for s in chunk.tree.splits)
