"""How hits are ranked, and the search that needs no index because it compares everything."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select

from discorag.schema.document import Scope
from discorag.schema.errors import StoreDamagedError, StoreError
from discorag.schema.metadata import Filters, accepts
from discorag.schema.values import Vectors
from discorag.store import tables
from discorag.store.database import Database, is_in
from discorag.store.documents import indexed_documents
from discorag.store.index import DENSE, DOCUMENT, IndexedDocument, Searcher
from discorag.store.records import Distinct, Hit, Manifest, SearchQuery
from discorag.store.tables import DAMAGED
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
    return fuse_rankings([ranking(vector, depth) for vector in vectors])[: query.top_k]


def ordered(hits: Sequence[Hit]) -> list[Hit]:
    """Hits ordered by score, best first; equal scores by chunk id."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))


def ranked(fetch: Callable[[int], list[Hit]], depth: int) -> list[Hit]:
    """The first ``depth`` hits by score, rounded, and chunk id.

    ``fetch`` returns up to this many hits, best first, equal scores in any order. It is called for more until no hit
    left out can tie with one kept.
    """
    limit = depth + 1
    hits = _rounded(fetch(limit))
    while len(hits) == limit and hits[-1].score == hits[depth - 1].score:
        limit *= 2
        hits = _rounded(fetch(limit))
    return ordered(hits)[:depth]


def drop_copies(hits: Sequence[Hit], owners: Mapping[str, Manifest]) -> Distinct:
    """Keep only the hits of the first document by URI where several have the same text.

    ``owners``: the documents that the hits belong to, by the hits' ids; a hit without one is kept.
    """
    first, copies = dict[str, str](), dict[str, list[str]]()
    for manifest in sorted({m.doc_id: m for m in owners.values()}.values(), key=lambda m: m.uri):
        known = first.setdefault(manifest.text_key, manifest.doc_id)
        if known != manifest.doc_id:
            copies.setdefault(known, []).append(Path(manifest.uri).name)
    kept = [h for h in hits if (m := owners.get(h.chunk_id)) is None or first[m.text_key] == m.doc_id]
    return Distinct(kept, copies)


def _rounded(hits: Sequence[Hit]) -> list[Hit]:
    return [Hit(hit.chunk_id, round(hit.score, DIGITS)) for hit in hits]


def fuse_rankings(rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Reciprocal rank fusion: the score of a chunk is the sum of 1 / (60 + rank), ranks from 1.

    Qdrant's own fusion is not used: it ranks equal scores (duplicated chunks have them) in the order of writing.

    Source: Cormack, Clarke and Büttcher, SIGIR 2009.
    """
    scores = reciprocal_ranks([hit.chunk_id for hit in ranking] for ranking in rankings)
    return ordered([Hit(chunk_id=chunk_id, score=score) for chunk_id, score in scores.items()])


def reciprocal_ranks(rankings: Iterable[Sequence[str]]) -> dict[str, float]:
    """For each id the sum of 1 / (60 + rank) over the rankings, ranks from 1."""
    scores: defaultdict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] += 1 / (RRF_K + rank)
    return scores


def reciprocal_ranks_of(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """1 / (60 + rank) of each of some scores, ranks from 1, equal scores ranked in order."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return 1 / (RRF_K + ranks)


MOST = 200_000
"""Chunks of a scope that are searched without an index."""

D = tables.documents


@dataclass(frozen=True)
class _Corpus:
    """All of a scope as arrays; ``owners``: the document of each chunk, ``term_owners``: the chunk of each term."""

    stamp: tuple[int, int, int]
    documents: Mapping[int, IndexedDocument]
    owners: NDArray[np.int64]
    chunk_ids: Sequence[str]
    vectors: Vectors
    means: Vectors
    ids: NDArray[np.uint32]
    weights: NDArray[np.float32]
    term_owners: NDArray[np.int64]

    @classmethod
    def of(cls, stamp: tuple[int, int, int], documents: Mapping[int, IndexedDocument]) -> Self:
        parts = list(documents.values())
        counts = np.concatenate([d.term_counts for d in parts])
        return cls(
            stamp,
            documents,
            np.repeat(np.arange(len(parts)), [len(d.chunk_ids) for d in parts]),
            [i for d in parts for i in d.chunk_ids],
            np.concatenate([d.vectors for d in parts]),
            np.stack([d.mean for d in parts]),
            np.concatenate([d.term_ids for d in parts]),
            np.concatenate([d.term_weights for d in parts]),
            np.repeat(np.arange(len(counts)), counts),
        )

    def matching(self, filters: Filters) -> NDArray[np.bool_]:
        """Whether each document matches."""
        return np.array([accepts(filters, d.metadata, d.doc_id) for d in self.documents.values()], np.bool_)

    def bm25(self, query: SparseVector) -> NDArray[np.float32]:
        """The score of every chunk: the sum over the query's terms of inverse document frequency times weight."""
        scores, n = np.zeros(len(self.chunk_ids), np.float32), len(self.chunk_ids)
        for term, weight in zip(*query, strict=True):
            found = np.flatnonzero(self.ids == term)
            idf = np.log1p((n - len(found) + 0.5) / (len(found) + 0.5))
            scores[self.term_owners[found]] += weight * idf * self.weights[found]
        return scores


class ExactSearch:
    """Ranks by comparing every vector. It remembers what it has read of a scope until the scope changes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[Scope, _Corpus] = {}
        self._lock = Lock()

    def nearest(
        self, scope: Scope, vector: Vectors | SparseVector, filters: Filters, limit: int, *, space: str = DENSE
    ) -> list[Hit]:
        """See `discorag.store.index.Searcher.nearest`.

        Raises:
            StoreError: The scope has more than `MOST` chunks.
        """
        corpus = self._corpus(scope)
        if corpus is None:
            return []
        wanted = corpus.matching(filters)
        if isinstance(vector, tuple):
            scores = corpus.bm25(vector)
            return _top_hits(corpus.chunk_ids, scores, wanted[corpus.owners] & (scores > 0), limit)
        if space == DOCUMENT:
            return _top_hits([d.doc_id for d in corpus.documents.values()], corpus.means @ vector, wanted, limit)
        return _top_hits(corpus.chunk_ids, corpus.vectors @ vector, wanted[corpus.owners], limit)

    def _corpus(self, scope: Scope) -> _Corpus | None:
        """The scope as it is now, None if it is empty.

        The count, the highest and the sum of its documents' numbers tell whether it changed: numbers are given once,
        but another transaction may commit a lower one later.
        """
        with self._lock, self._database.read() as db:
            counted = (func.count(), func.max(D.c.number), func.sum(D.c.number), func.sum(D.c.chunks))
            *counts, size = db.execute(select(*counted).where(is_in(scope))).one()
            count, stamp = counts[0], (counts[0], counts[1], counts[2])
            known = self._known.get(scope)
            if not count or (known and known.stamp == stamp):
                return known if count else None
            if size > MOST:
                raise StoreError(
                    f"Corpus {scope.corpus!r} has {size} chunks, and no index of them can be used.",
                    hint="Run disco-rag reindex: without an index at most 200,000 are searched.",
                )
            numbers = set(db.scalars(select(D.c.number).where(is_in(scope))))
            found = {n: d for n, d in known.documents.items() if n in numbers} if known else {}
            found |= {d.number: d for d in indexed_documents(self._database, numbers - found.keys())}
            if len(found) < count:
                raise StoreDamagedError(f"Texts of corpus {scope.corpus!r} are missing in the database.", hint=DAMAGED)
            self._known[scope] = _Corpus.of(stamp, dict(sorted(found.items())))
            return self._known[scope]


def _top_hits(ids: Sequence[str], scores: NDArray[np.float32], wanted: NDArray[np.bool_], limit: int) -> list[Hit]:
    """The best of those that are wanted."""
    there = np.flatnonzero(wanted)
    if len(there) > limit:
        there = there[np.argpartition(-scores[there], limit)[:limit]]
    order: list[int] = there[np.argsort(-scores[there], kind="stable")].tolist()
    return [Hit(ids[i], float(scores[i])) for i in order]
