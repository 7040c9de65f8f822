"""Rankings that do not depend on the order in which points were written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from discorag.schema.document import Scope
from discorag.schema.vectors import Vectors
from discorag.store.index import Searcher
from discorag.store.records import Hit, SearchQuery
from discorag.text.terms import SparseVector, sparse_query

FUSION_DEPTH = 100
"""How deep each ranking is read for fusion (deeper if more hits are wanted)."""
RRF_K = 60
DIGITS = 5
"""Decimals kept of a score: equal vectors get scores that differ in the seventh, depending on where they lie."""


def best(query: SearchQuery, searcher: Searcher, scope: Scope) -> list[Hit]:
    """The ``top_k`` chunks that a query finds in a scope."""

    def ranking(vector: Vectors | SparseVector, depth: int) -> list[Hit]:
        return ranked(lambda limit: searcher.nearest(scope, vector, query.filters, limit), depth)

    if query.retrieval == "dense":
        return ranking(query.vector, query.top_k)
    depth = max(query.top_k, FUSION_DEPTH)
    terms = sparse_query(query.text)
    vectors: list[Vectors | SparseVector] = [query.vector, terms] if terms[0] else [query.vector]
    return fused([ranking(vector, depth) for vector in vectors])[: query.top_k]


def nearest_documents(query: SearchQuery, searcher: Searcher, scope: Scope, count: int) -> list[Hit]:
    """The documents of a scope that are nearest to a query's vector, as many as ``count``."""
    return ranked(lambda limit: searcher.nearest_documents(scope, query.vector, query.filters, limit), count)


def ordered(hits: Sequence[Hit]) -> list[Hit]:
    """Best first, equal scores by chunk id."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))


def ranked(fetch: Callable[[int], list[Hit]], depth: int) -> list[Hit]:
    """The first ``depth`` hits by score, rounded, and chunk id.

    ``fetch`` returns up to so many hits, best first, equal scores in any order. It is asked for more until no hit left
    out can tie with one kept.
    """
    limit = depth + 1
    hits = _rounded(fetch(limit))
    while len(hits) == limit and hits[-1].score == hits[depth - 1].score:
        limit *= 2
        hits = _rounded(fetch(limit))
    return ordered(hits)[:depth]


def _rounded(hits: Sequence[Hit]) -> list[Hit]:
    return [Hit(hit.chunk_id, round(hit.score, DIGITS)) for hit in hits]


def fused(rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Reciprocal rank fusion: the score of a chunk is the sum of 1 / (60 + rank), ranks from 1.

    Qdrant's own fusion is not used: it ranks equal scores (duplicated chunks have them) in the order of writing.

    Source: Cormack, Clarke and Büttcher, SIGIR 2009.
    """
    scores: defaultdict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, hit in enumerate(ranking, start=1):
            scores[hit.chunk_id] += 1 / (RRF_K + rank)
    return ordered([Hit(chunk_id=chunk_id, score=score) for chunk_id, score in scores.items()])
