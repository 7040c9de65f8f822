"""Search over retrieval trees: first for documents, then over all nodes of their trees, without approximation.

Source: DISRetrieval section 3.3, which searches one document.
"""

import asyncio
from collections.abc import Sequence
from functools import partial

import numpy as np

from discorag.discourse.parse.parser import without_parsers
from discorag.ingest.segment.headings import build_hierarchy
from discorag.models.protocol import Encoder
from discorag.retrieval.builders.base import Builder, Built, Source
from discorag.retrieval.forest import Forest, NodeScores, NodeVectors, Scores, node_vectors
from discorag.retrieval.selectors import Floats
from discorag.schema.document import Scope
from discorag.store.database import no_document
from discorag.store.records import Distinct, Hit, SearchQuery
from discorag.store.search import reciprocal_ranks, reciprocal_ranks_of
from discorag.store.store import Store
from discorag.text.bm25 import TermCounts

BEST_CHUNKS = 20
"""Chunks whose documents are searched too."""


class TreeIndex:
    """The trees of one builder over the stored documents of one scope."""

    def __init__(self, store: Store, scope: Scope, encoder: Encoder, builder: Builder, vectors: NodeVectors) -> None:
        self._store, self._scope = store, scope
        self._encoder, self._builder = encoder, builder
        self._vectors: NodeVectors = vectors
        self.built = list[Built]()
        """Trees that were missing and were built, with their cost."""

    @property
    def version(self) -> str:
        """The builder's version, and how nodes are encoded."""
        return f"{self._builder.version}|{self._vectors}"

    async def documents(self, query: SearchQuery, limit: int) -> Distinct:
        """The documents nearest to the question, each text once; the hits' ids are those of documents.

        If there are more than ``limit``, their ranking is fused with that of the documents of the best chunks by hybrid
        search (reciprocal rank).
        """
        take = partial(self._store.take, of_documents=True, each_text_once=True)
        return await asyncio.to_thread(take, self._scope, partial(self._rank, query), limit)

    def _rank(self, query: SearchQuery, n: int) -> list[Hit]:
        near = self._store.rank_documents(self._scope, query, n)
        if len(near) < n:
            return near
        scores = reciprocal_ranks(([hit.chunk_id for hit in near], self._of_best_chunks(query)))
        return [Hit(doc_id, scores[doc_id]) for doc_id in sorted(scores, key=lambda doc_id: -scores[doc_id])[:n]]

    def _of_best_chunks(self, query: SearchQuery) -> list[str]:
        """The documents of the best chunks by hybrid search, best first: an exact term may stand in one chunk only."""
        hits = self._store.rank(self._scope, query.model_copy(update={"retrieval": "hybrid"}), BEST_CHUNKS)
        owners = self._store.owners(self._scope, [hit.chunk_id for hit in hits])
        return list(dict.fromkeys(owners[hit.chunk_id].doc_id for hit in hits if hit.chunk_id in owners))

    async def ensure(self, doc_ids: Sequence[str], *, by_any_parser: bool = False) -> None:
        """Build and store the trees that are missing or of another version.

        ``by_any_parser`` accepts trees that were built with another parser, so that a question uses those of an ingest.

        Raises:
            NotFoundError: A document is not stored.
            ModelError: The encoder's endpoint failed.
        """
        known = await asyncio.to_thread(self._store.tree_versions, self._scope, self._builder.name, doc_ids)
        comparable = without_parsers if by_any_parser else str
        for doc_id in doc_ids:
            if doc_id not in known or comparable(known[doc_id]) != comparable(self.version):
                await self._build(doc_id)

    async def _build(self, doc_id: str) -> None:
        document = await asyncio.to_thread(self._store.document, self._scope, doc_id)
        built = await self._builder.build(Source(document, await asyncio.to_thread(build_hierarchy, document)))
        vectors = await node_vectors(built.tree, self._encoder, self._vectors)
        await asyncio.to_thread(self._store.put_tree, self._scope, doc_id, built.tree, vectors, version=self.version)
        self.built.append(built)

    async def scores(self, query: SearchQuery, doc_ids: Sequence[str], *, by: NodeScores, texts: bool) -> Scores:
        """The scores of all nodes of these documents, whose trees exist, in the order in which they are read.

        ``texts``: also read the nodes' texts, which takes much longer.

        Raises:
            NotFoundError: A document has no tree: it was deleted or replaced meanwhile.
        """
        return await asyncio.to_thread(self._scores, query, doc_ids, by, texts)

    def _scores(self, query: SearchQuery, doc_ids: Sequence[str], by: NodeScores, texts: bool) -> Scores:
        with self._store.database.read():  # one state of all trees
            outlines = self._store.outlines(self._scope, self._builder.name, doc_ids)
            if missing := set(doc_ids) - outlines.keys():
                raise no_document(self._scope, min(missing))
            cosines = {} if by == "bm25" else self._store.node_scores(self._scope, outlines, query.vector)
            whole = {d: self._store.tree_of(self._scope, outlines[d]) for d in doc_ids} if texts else None
        forest = Forest({d: outlines[d].arrays for d in doc_ids}, whole)
        nodes = forest.join([cosines[d] for d in doc_ids]) if cosines else np.zeros(0)
        if by != "dense":
            terms = TermCounts.join([outlines[d].terms for d in doc_ids])
            bm25 = terms.bm25(query.text, forest.tree.groups)
            nodes = fuse_scores(nodes, bm25) if by == "hybrid" else bm25
        return Scores(forest, nodes, forest.tree.words, tuple(outlines[d].key for d in doc_ids))


def fuse_scores(dense: Floats, bm25: Floats) -> Floats:
    """The reciprocal ranks of both added up, k = 60, ties in order; all of shape (n,).

    Source: Cormack, Clarke and Büttcher, SIGIR 2009.
    """
    return reciprocal_ranks_of(dense) + reciprocal_ranks_of(bm25)
