"""From a question to evidence by retrieval trees: documents first, then the nodes of those documents, exactly.

A document that has no tree of the asked builder yet, or one of another version, gets it now; it is stored.

Source: DISRetrieval section 3.3 for one document; documents first for a corpus.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from discorag.discourse.parse.units import but_parsers
from discorag.ingest.segment.headings import build_hierarchy
from discorag.models.protocol import Encoder
from discorag.retrieval.builder import Builder, Source
from discorag.retrieval.builders.discourse import DiscourseBuilt
from discorag.retrieval.forest import Forest
from discorag.retrieval.scores import Floats, NodeScores, Scores
from discorag.retrieval.selectors.algorithm1 import leaves_below
from discorag.retrieval.selectors.evidence import within
from discorag.retrieval.vectors import node_vectors
from discorag.schema.document import Scope
from discorag.schema.errors import NotFoundError, StoreError
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.schema.span import Span
from discorag.schema.usage import Usage
from discorag.schema.vectors import Vectors
from discorag.store.outline import Outline, node_id
from discorag.store.ranking import RRF_K
from discorag.store.records import Hit, SearchQuery
from discorag.store.retrieval import Distinct, distinct
from discorag.store.store import Store
from discorag.text.bm25 import Bm25, TermCounts

Evidence = Mapping[str, Sequence[Span]]
"""Document id -> what of it is evidence."""
Inside = dict[str, list[Span]]
"""Chunk id -> what of it is evidence."""
BEST_CHUNKS = 20
"""Chunks whose documents are searched too."""
ATTEMPTS = 10
"""How often nodes are scored anew where their trees were being replaced."""


@dataclass
class Effort:
    """What building trees took.

    Args:
        built: Trees that were missing.
        parsed: Parses that this took, of paragraphs and of what lies above them.
        reused: Parses that were known from earlier builds: of a changed document, all but the changed paragraphs'.
        usage: Tokens of the language model.
        failures: What a model could not do; extractive text stands there.

    Example:
        >>> from discorag.retrieval.index import Effort
        >>> Effort(built=2, parsed=5).reused
        0
    """

    built: int = 0
    parsed: int = 0
    reused: int = 0
    usage: Usage = field(default_factory=Usage)
    failures: list[str] = field(default_factory=list[str])


class TreeIndex:
    """The trees of one builder over the stored documents of one scope.

    Args:
        store: Holds documents and trees.
        scope: Whose.
        encoder: Of nodes and questions.
        builder: Makes the trees.
        vectors: Of inner nodes: their texts', or the mean of the leaves below.

    Example:
        >>> from discorag.retrieval.builders.headings import HeadingBuilder
        >>> from discorag.retrieval.index import TreeIndex
        >>> _ = rag.ingest(notes, parser="rules")
        >>> doc_ids = [manifest.doc_id for manifest in rag.documents()]
        >>> index = TreeIndex(rag.backends.store, rag.scope(), encoder, HeadingBuilder(encoder.tokens), "mean")
        >>> asyncio.run(index.ensure(doc_ids))
        >>> index.effort.built, asyncio.run(index.tree(doc_ids[0])).leaves
        (2, 1)
    """

    def __init__(
        self, store: Store, scope: Scope, encoder: Encoder, builder: Builder, vectors: Literal["mean", "text"]
    ) -> None:
        self._store, self._scope, self._encoder = store, scope, encoder
        self._builder = builder
        self._how: Literal["mean", "text"] = vectors
        self.effort = Effort()

    @property
    def version(self) -> str:
        """The builder's, and how nodes are encoded."""
        return f"{self._builder.version}|{self._how}"

    async def documents(self, query: SearchQuery, limit: int) -> Distinct[str]:
        """The documents nearest to the question and those of its best chunks by hybrid search, one of each content.

        Both rankings are fused by reciprocal rank where there are more documents than ``limit``.
        """

        def find(n: int) -> list[tuple[str, str]]:
            near = [doc_id for doc_id, _ in self._store.search_documents(self._scope, query, n)]
            found = near if len(near) < n else _fused_rankings(near, self._of_best_chunks(query))[:n]
            return [(doc_id, doc_id) for doc_id in found]

        return await asyncio.to_thread(distinct, self._store, self._scope, find, limit)

    def _of_best_chunks(self, query: SearchQuery) -> list[str]:
        """The documents of the best chunks by hybrid search, best first: one may hold an exact term in one place."""
        wanted = query.model_copy(update={"retrieval": "hybrid", "top_k": BEST_CHUNKS})
        hits = self._store.search(self._scope, wanted)
        owners = {c.id: c.doc_id for c in self._store.chunks(self._scope, [hit.chunk_id for hit in hits])}
        return list(dict.fromkeys(owners[hit.chunk_id] for hit in hits if hit.chunk_id in owners))

    async def ensure(self, doc_ids: Sequence[str], *, by_any_parser: bool = False) -> None:
        """Build and store the trees that are missing or of another version.

        Args:
            doc_ids: Whose.
            by_any_parser: Whether trees that another parser's parses went into will do, so that a question takes what
                an ingest made.

        Raises:
            NotFoundError: A document is not stored.
            ModelError: The encoder's endpoint failed.
        """
        known = await asyncio.to_thread(self._store.tree_versions, self._scope, self._builder.name, doc_ids)
        told = but_parsers if by_any_parser else str
        for doc_id in doc_ids:
            if doc_id not in known or told(known[doc_id]) != told(self.version):
                await self._build(doc_id)

    async def _build(self, doc_id: str) -> None:
        document = await asyncio.to_thread(self._store.document, self._scope, doc_id)
        hierarchy = await asyncio.to_thread(build_hierarchy, document)
        built = await self._builder.build(Source(document, hierarchy))
        vectors = await node_vectors(built.tree, self._encoder, self._how)
        await asyncio.to_thread(self._store.put_tree, self._scope, doc_id, built.tree, vectors, version=self.version)
        self.effort.built += 1
        if isinstance(built, DiscourseBuilt):
            self.effort.parsed += built.parsed
            self.effort.reused += built.reused
        self.effort.usage += built.usage
        self.effort.failures += built.failures

    async def scores(self, asked: SearchQuery, doc_ids: Sequence[str], *, by: NodeScores, texts: bool) -> Scores:
        """All nodes of these documents, which have their trees.

        Args:
            asked: The question: its ``vector``, and its ``text`` for BM25.
            doc_ids: In the order in which they are read.
            by: How nodes are scored.
            texts: Whether nodes' texts, headings and inner nodes' spans will be asked for, which take much longer to
                read; without them they are missing.

        Raises:
            StoreError: Trees are replaced faster than they can be read.
        """
        return await asyncio.to_thread(self._scores, asked, doc_ids, by, texts)

    def _scores(self, asked: SearchQuery, doc_ids: Sequence[str], by: NodeScores, texts: bool) -> Scores:
        for _ in range(ATTEMPTS):
            if scores := self._one_state(asked, doc_ids, by, texts):
                return scores
        raise StoreError(
            f"Trees of {len(doc_ids)} documents by {self._builder.name!r} are missing, or are being replaced.",
            hint="Ask again.",
        )

    def _one_state(self, asked: SearchQuery, doc_ids: Sequence[str], by: NodeScores, texts: bool) -> Scores | None:
        """None if a tree was replaced while it was read, or none is there."""
        outlines = self._store.outlines(self._scope, self._builder.name, doc_ids)
        cosines = dict[str, Vectors]()
        if by != "bm25":
            cosines.update(self._store.node_scores(self._scope, outlines, asked.vector))
        if not outlines or (by != "bm25" and cosines.keys() != outlines.keys()):
            return None
        try:
            trees = {d: self._tree(outlines[d], texts) for d in doc_ids if d in outlines}
        except NotFoundError:
            return None
        forest = Forest(trees)
        bm25 = partial(_bm25, asked.text, forest, [outlines[d] for d in trees])
        nodes = fused(by, lambda: forest.together([cosines[d] for d in trees]), bm25)
        return Scores(forest, nodes, forest.words, tuple(outlines[d].key for d in trees))

    def _tree(self, outline: Outline, texts: bool) -> RetrievalTree:
        return self._store.tree_of(self._scope, outline) if texts else outline.tree

    async def tree(self, doc_id: str) -> RetrievalTree:
        """The stored tree of a document. Raises `NotFoundError`."""
        return await asyncio.to_thread(self._store.tree, self._scope, doc_id, self._builder.name)


def _fused_rankings(*rankings: Sequence[str]) -> list[str]:
    scores: dict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, doc_id in enumerate(ranking, start=1):
            scores[doc_id] += 1 / (RRF_K + rank)
    return sorted(scores, key=lambda doc_id: -scores[doc_id])


def fused(by: NodeScores, dense: Callable[[], Floats], bm25: Callable[[], Floats]) -> Floats:
    """One kind of scores, or the reciprocal ranks of both added up, k = 60, equal scores ranked in order.

    Args:
        by: Which; the other is not computed.
        dense: Gives the cosines of n things, shape (n,).
        bm25: Gives their BM25, in the same order.

    Source: Cormack, Clarke and Büttcher, SIGIR 2009.
    """
    if by == "hybrid":
        return _reciprocal(dense()) + _reciprocal(bm25())
    return dense() if by == "dense" else bm25()


def _reciprocal(scores: Floats) -> Floats:
    found = np.empty(len(scores))
    found[np.argsort(-scores, kind="stable")] = 1 / (RRF_K + 1 + np.arange(len(scores)))
    return found


def _bm25(question: str, forest: Forest, outlines: Sequence[Outline]) -> Floats:
    """Of every node, from the terms of the leaves below it and of what stands above these."""
    terms = TermCounts.joined([outline.terms for outline in outlines])
    return Bm25(terms).scores(question, forest.shape.groups)


def evidence_of(scores: Scores, nodes: Sequence[int], budget: int) -> Evidence:
    """What the chosen nodes say, as characters of the documents; documents in the order of their best chosen node.

    All of it is source text (see `passages_of` for summaries). An inner node that was chosen for its own text, such as
    a summary, stands for the leaves below it that are most like the question, as many as are no longer than that text,
    one at least.

    Args:
        scores: Of all nodes.
        nodes: The chosen ones.
        budget: Of all evidence, in the unit of the sizes; the best leaf is kept even if it is longer.
    """
    places: dict[str, set[Span]] = defaultdict(set)
    below = leaves_below(scores.forest.tree)
    ordered = sorted(nodes, key=lambda n: -scores.nodes[n])
    leaves = (leaf for n in ordered for leaf in _leaves(scores, np.sort(below(n)), int(scores.sizes[n])))
    for leaf in within(list(dict.fromkeys(leaves)), scores.sizes, budget):
        doc_id, spans = scores.forest.place(leaf)
        places[doc_id].update(spans)
    return {doc_id: sorted(spans, key=lambda s: s.start) for doc_id, spans in places.items()}


def _leaves(scores: Scores, below: NDArray[np.integer], size: int) -> Sequence[int]:
    best: list[int] = below[np.argsort(-scores.nodes[below], kind="stable")].tolist()
    return within(best, scores.sizes, max(1, size))


def chunks_with(store: Store, scope: Scope, evidence: Evidence) -> tuple[list[Hit], Inside]:
    """The chunks that evidence stands in, documents in the order of ``evidence``, chunks in text order; blocks.

    Returns:
        The chunks, the earlier document's with the higher score, and the evidence of each by chunk id.
    """
    hits: list[Hit] = []
    inside = Inside()
    for rank, (doc_id, spans) in enumerate(evidence.items()):
        for chunk, own in _holding(store.chunk_spans(scope, doc_id), spans):
            hits.append(Hit(chunk_id=chunk, score=1 / (1 + rank)))
            inside[chunk] = own
    return hits, inside


def _holding(chunks: Sequence[tuple[str, Span]], spans: Sequence[Span]) -> Iterator[tuple[str, list[Span]]]:
    """The chunks in which a part of a span stands, each with these spans."""
    for chunk, place in chunks:
        if own := [s for s in spans if s.start < place.end and place.start < s.end]:
            yield chunk, own


def passages_of(store: Store, scope: Scope, scores: Scores, nodes: Sequence[int]) -> tuple[list[Hit], Inside]:
    """The chosen nodes' own texts, in the order of choice: summaries as they are, leaves as their chunks; blocks.

    Returns:
        Ids of summaries and of chunks (`Store.chunks` knows both), and the chosen leaves of each chunk by its id.
    """
    found, inside = dict[str, float](), defaultdict[str, list[Span]](list)
    for rank, node in enumerate(nodes):
        if node >= scores.forest.tree.leaves:
            found[_stored(scores, node)] = 1 / (1 + rank)
            continue
        doc_id, spans = scores.forest.place(node)
        for chunk, own in _holding(store.chunk_spans(scope, doc_id), spans):
            found.setdefault(chunk, 1 / (1 + rank))
            inside[chunk] += own
    return [Hit(chunk_id, score) for chunk_id, score in found.items()], inside


def _stored(scores: Scores, node: int) -> str:
    """The id under which a node is stored."""
    at = scores.forest.documents.index(scores.forest.document(node))
    return node_id(scores.keys[at], scores.forest.local(node))
