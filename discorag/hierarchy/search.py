"""From a question to evidence by retrieval trees: documents first, then the nodes of those documents, exactly.

A document that has no tree of the asked builder yet, or one of another version, gets it now; it is stored.

Source: DISRetrieval section 3.3 for one document; documents first for a corpus.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from discorag.hierarchy.builders.discourse import DiscourseBuilt
from discorag.hierarchy.forest import Forest
from discorag.hierarchy.headings import build_hierarchy
from discorag.hierarchy.retrieval_tree import Builder, RetrievalTree, Source
from discorag.hierarchy.selectors.evidence import within
from discorag.hierarchy.vectors import node_vectors
from discorag.models.protocol import Encoder
from discorag.store.protocol import Hit, SearchQuery, Store, Vectors
from discorag.text.document import Scope
from discorag.text.span import Span
from discorag.usage import Usage

Evidence = Mapping[str, Sequence[Span]]
"""Document id -> what of it is evidence."""


@dataclass
class Effort:
    """What building trees took.

    Args:
        built: Trees that were missing.
        parsed: Parses that this took, of paragraphs and of what lies above them.
        reused: Parses that were known from earlier builds: of a changed document, all but the changed paragraphs'.
        usage: Tokens of the language model.
        failures: What a model could not do; extractive text stands there.
    """

    built: int = 0
    parsed: int = 0
    reused: int = 0
    usage: Usage = field(default_factory=Usage)
    failures: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Scores:
    """The nodes of some documents with their similarity to a question.

    Args:
        forest: The trees.
        nodes: Cosine of every node of ``forest.tree``, shape (nodes,).
        words: Words of every node's text, shape (nodes,).
    """

    forest: Forest
    nodes: NDArray[np.float32]
    words: NDArray[np.int64]


class TreeIndex:
    """The trees of one builder over the stored documents of one scope.

    Args:
        store: Holds documents and trees.
        scope: Whose.
        encoder: Of nodes and questions.
        builder: Makes the trees.
        vectors: Of inner nodes: their texts', or the mean of the leaves below.
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

    async def documents(self, query: SearchQuery, limit: int) -> list[str]:
        """The documents that are most like the question, best first."""
        found = await asyncio.to_thread(self._store.search_documents, self._scope, query, limit)
        return [doc_id for doc_id, _ in found]

    async def ensure(self, doc_ids: Sequence[str]) -> None:
        """Build and store the trees that are missing or of another version.

        Raises:
            NotFoundError: A document is not stored.
            ModelError: The encoder's endpoint failed.
        """
        known = await asyncio.to_thread(self._store.tree_versions, self._scope, self._builder.name)
        for doc_id in doc_ids:
            if known.get(doc_id) != self.version:
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

    async def scores(self, doc_ids: Sequence[str], vector: Vectors) -> Scores:
        """All nodes of these documents, which have their trees. ``vector`` is the question's, shape (d,)."""
        return await asyncio.to_thread(self._scores, doc_ids, vector)

    def _scores(self, doc_ids: Sequence[str], vector: Vectors) -> Scores:
        name = self._builder.name
        found = self._store.node_scores(self._scope, name, doc_ids, vector)
        trees = {doc_id: self._store.tree(self._scope, doc_id, name) for doc_id in doc_ids if doc_id in found}
        forest = Forest(trees)
        return Scores(forest, forest.together([found[doc_id] for doc_id in trees]), forest.words)

    async def tree(self, doc_id: str) -> RetrievalTree:
        """The stored tree of a document. Raises `NotFoundError`."""
        return await asyncio.to_thread(self._store.tree, self._scope, doc_id, self._builder.name)


def evidence_of(scores: Scores, nodes: Sequence[int]) -> Evidence:
    """What the chosen nodes say, as characters of the documents; documents in the order of their best chosen node.

    Evidence is always source text. An inner node that was chosen for its own text, such as a summary, stands for the
    leaves below it that are most like the question, as many as are no longer than that text.
    """
    places: dict[str, set[Span]] = defaultdict(set)
    for node in sorted(nodes, key=lambda n: -scores.nodes[n]):
        for leaf in _leaves(scores, node):
            doc_id, spans = scores.forest.place(leaf)
            places[doc_id].update(spans)
    return {doc_id: sorted(spans, key=lambda s: s.start) for doc_id, spans in places.items()}


def _leaves(scores: Scores, node: int) -> Sequence[int]:
    below = sorted(scores.forest.tree.leaves_of[node], key=lambda leaf: -scores.nodes[leaf])
    return within(below, scores.words, max(1, int(scores.words[node])))


def chunks_with(store: Store, scope: Scope, evidence: Evidence) -> tuple[list[Hit], dict[str, list[Span]]]:
    """The chunks that evidence stands in, documents in the order of ``evidence``, chunks in text order; blocks.

    Returns:
        The chunks, the earlier document's with the higher score, and the evidence of each by chunk id.
    """
    hits: list[Hit] = []
    inside: dict[str, list[Span]] = {}
    for rank, (doc_id, spans) in enumerate(evidence.items()):
        for chunk in store.chunks_of(scope, doc_id):
            own = [s for s in spans if s.start < chunk.span.end and chunk.span.start < s.end]
            if own:
                hits.append(Hit(chunk_id=chunk.id, score=1 / (1 + rank)))
                inside[chunk.id] = own
    return hits, inside
