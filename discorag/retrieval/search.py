"""From a question to evidence: what the retrieving nodes of the answer graph call.

Source: DISRetrieval section 3.3 for the trees of one document. To search for documents first is ours.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discorag.models.protocol import Encoder
from discorag.retrieval.forest import NodeScores, Scores, in_tokens
from discorag.retrieval.index import TreeIndex
from discorag.retrieval.registry import RETRIEVERS, ChunkRetriever, SelectedNodes, TreeQuery, TreeRetriever, TreeTools
from discorag.retrieval.retrievers import DENSE
from discorag.retrieval.routers.prompted import router_of
from discorag.retrieval.selectors import within_budget
from discorag.schema.document import Chunk, Scope
from discorag.schema.metadata import Filters
from discorag.schema.values import Span
from discorag.store.outline import node_id
from discorag.store.records import Distinct, Hit, SearchQuery
from discorag.store.retrieval import ATTEMPTS
from discorag.store.store import Store

EvidencePlaces = Mapping[str, Sequence[Span]]
"""Document id -> the spans of it that are evidence."""
Inside = dict[str, list[Span]]
"""Chunk id -> the spans of it that are evidence."""


@dataclass(frozen=True)
class TreeOptions:
    """What a question sets for retrievers over trees; ``k`` and ``unfold`` as in `TreeQuery`.

    The nearest ``documents`` are searched. The ``budget`` is in words, or in tokens of the encoder if ``in_tokens``.
    With ``own_texts`` the reader gets the selected nodes' own texts, including summaries, instead of source text only.
    """

    documents: int
    scored_by: NodeScores
    budget: int
    in_tokens: bool
    own_texts: bool
    k: int | None
    unfold: int


async def search_chunks(
    store: Store, encoder: Encoder, scope: Scope, question: str, retriever: str, *, top_k: int, filters: Filters
) -> tuple[Distinct, dict[str, Chunk]]:
    """The ``top_k`` best chunks, each text once, and the chunks by id. Raises as `Encoder.encode_query`.

    A retriever over trees, or of everything, is replaced by ``dense``. What is deleted or replaced between the search
    and the reading is searched for again, and at last left out.
    """
    found = RETRIEVERS[retriever]
    search = (found.search if isinstance(found, ChunkRetriever) else None) or DENSE.search
    assert search is not None
    query = SearchQuery(vector=await encoder.encode_query(question), text=question, filters=filters)

    def find(attempts: int = ATTEMPTS) -> tuple[Distinct, dict[str, Chunk]]:
        hits = store.take(scope, lambda n: search(store, scope, query, n), top_k, each_text_once=True)
        read = store.stored_chunks(scope, [hit.chunk_id for hit in hits.best])
        if len(read) < len(hits.best) and attempts > 1:
            return find(attempts - 1)
        return replace(hits, best=[hit for hit in hits.best if hit.chunk_id in read]), read

    return await asyncio.to_thread(find)


def tree_index(retriever: TreeRetriever, tools: TreeTools, store: Store, scope: Scope) -> TreeIndex:
    """The trees of a retriever's builder; summaries by a language model are encoded, too. Blocks."""
    vectors = "text" if tools.backends.model_for("summariser") and retriever.summaries else retriever.vectors
    return TreeIndex(store, scope, tools.backends.encoder, retriever.build(tools), vectors)


@dataclass(frozen=True)
class TreeSearch:
    """A question over the trees of the nearest documents; ``query`` is None if no document was found."""

    index: TreeIndex
    query: TreeQuery | None
    copies: Mapping[str, list[str]]


async def search_trees(
    retriever: TreeRetriever,
    tools: TreeTools,
    store: Store,
    scope: Scope,
    question: str,
    filters: Filters,
    options: TreeOptions,
) -> TreeSearch:
    """Search for documents, then score the nodes of their trees; missing trees are built.

    Raises:
        QueryError: The question is longer than the encoder's window.
        NotFoundError: A document was deleted or replaced meanwhile.
        ReadOnlyStoreError: Trees are missing and cannot be stored.
        ConfigError: The retriever routes, and no language model is configured.
    """
    backends, index = tools.backends, await asyncio.to_thread(tree_index, retriever, tools, store, scope)
    router = router_of(backends) if retriever.routed else None
    query = SearchQuery(vector=await backends.encoder.encode_query(question), text=question, filters=filters)
    near = await index.documents(query, options.documents)
    if not near.best:
        return TreeSearch(index, None, {})
    doc_ids = [hit.chunk_id for hit in near.best]
    await index.ensure(doc_ids, by_any_parser=True)
    texts = retriever.reads or options.in_tokens
    scores = await index.scores(query, doc_ids, by=options.scored_by, texts=texts)
    if options.in_tokens:
        scores = await asyncio.to_thread(in_tokens, scores, backends.encoder.tokens)
    tree_query = TreeQuery(
        question, scores, options.budget, backends.reranker, router, options.k, unfold=options.unfold
    )
    return TreeSearch(index, tree_query, near.copies)


def passages_with(
    store: Store, scope: Scope, scores: Scores, selected: SelectedNodes, options: TreeOptions
) -> tuple[list[Hit], Inside]:
    """What the reader gets: the chunks that hold the selected nodes' evidence, or the nodes' own texts. Blocks.

    Raises:
        NotFoundError: A document was deleted or replaced since its tree was scored.
    """
    store.check_trees(scope, scores.keys)
    if options.own_texts:
        return passages_of(store, scope, scores, selected.nodes)
    return chunks_with(store, scope, evidence_of(scores, selected.nodes, options.budget))


def evidence_of(scores: Scores, nodes: Sequence[int], budget: int) -> EvidencePlaces:
    """The evidence of the selected nodes as spans of the documents; the document of the best node comes first.

    Everything is source text (`passages_of` gives summaries). An inner node is replaced by the leaves below it that are
    most similar to the question: as many as fit the length of its text, and at least one. The best leaf is kept even if
    it exceeds the ``budget``.
    """

    def best_leaves(node: int) -> Sequence[int]:
        leaves = scores.forest.tree.leaves_below(node)
        ranked: list[int] = leaves[np.argsort(-scores.nodes[leaves], kind="stable")].tolist()
        return within_budget(ranked, scores.sizes, max(1, int(scores.sizes[node])))

    ordered = sorted(nodes, key=lambda n: -scores.nodes[n])
    leaves = dict.fromkeys(leaf for node in ordered for leaf in best_leaves(node))
    places: dict[str, set[Span]] = defaultdict(set)
    for leaf in within_budget(leaves, scores.sizes, budget):
        doc_id, span = scores.forest.place(leaf)
        places[doc_id].add(span)
    return {doc_id: sorted(spans, key=lambda s: s.start) for doc_id, spans in places.items()}


def chunks_with(store: Store, scope: Scope, evidence: EvidencePlaces) -> tuple[list[Hit], Inside]:
    """The chunks that hold the evidence, and the evidence in each chunk. Blocks.

    Documents are in the order of ``evidence``, their chunks in text order. Chunks of an earlier document have a higher
    score.
    """
    hits: list[Hit] = []
    inside = Inside()
    for rank, (doc_id, spans) in enumerate(evidence.items()):
        for chunk, own in _holding(store.chunk_spans(scope, doc_id), spans):
            hits.append(Hit(chunk_id=chunk, score=1 / (1 + rank)))
            inside[chunk] = own
    return hits, inside


def _holding(chunks: Sequence[tuple[str, Span]], spans: Sequence[Span]) -> Iterator[tuple[str, list[Span]]]:
    """The chunks that overlap one of the spans, each with these spans."""
    for chunk, place in chunks:
        if own := [s for s in spans if s.start < place.end and place.start < s.end]:
            yield chunk, own


def passages_of(store: Store, scope: Scope, scores: Scores, nodes: Sequence[int]) -> tuple[list[Hit], Inside]:
    """The selected nodes' own texts, in the order of selection, and the selected leaves in each chunk. Blocks.

    A summary is a passage of its own, a leaf stands for its chunk. `Store.chunks` knows the ids of both.
    """
    forest, found, inside = scores.forest, dict[str, float](), defaultdict[str, list[Span]](list)
    for rank, node in enumerate(nodes):
        if node >= forest.tree.leaves:
            key = scores.keys[int(forest.owners[node])]
            found[node_id(key, forest.local(node))] = 1 / (1 + rank)
            continue
        doc_id, span = forest.place(node)
        for chunk, own in _holding(store.chunk_spans(scope, doc_id), [span]):
            found.setdefault(chunk, 1 / (1 + rank))
            inside[chunk] += own
    return [Hit(chunk_id, score) for chunk_id, score in found.items()], inside
