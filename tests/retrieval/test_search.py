"""What a query over trees reads: only what its scores need, in one state; and what chosen nodes say."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest

from discorag import DiscoRAG
from discorag.retrieval.builders.base import Builder
from discorag.retrieval.builders.baselines import BisectionBuilder, FlatSentenceBuilder, WindowBuilder
from discorag.retrieval.builders.node_text import Concat
from discorag.retrieval.forest import Forest, NodeScores, node_vectors
from discorag.retrieval.index import TreeIndex, fused
from discorag.retrieval.search import evidence_of
from discorag.schema.errors import StoreError
from discorag.store.outline import Outline, leaf_terms
from discorag.store.records import SearchQuery
from discorag.text.bm25 import Bm25
from tests.conftest import EXAMPLES, Pipelines

QUESTION = "Why does a spring tide rise higher?"
WORDS = 10_000
BISECTION = BisectionBuilder(Concat())


@pytest.fixture(scope="module")
def rag(shared_pipeline: Pipelines) -> DiscoRAG:
    rag = shared_pipeline()
    rag.ingest(EXAMPLES / "tides", parser="rules", retriever="dense")
    return rag


async def opened(rag: DiscoRAG, builder: Builder) -> tuple[TreeIndex, list[str], SearchQuery]:
    """The trees of the documents, and the question."""
    index = TreeIndex(rag.backends.store, rag.scope(), rag.backends.encoder, builder, "mean")
    ids = [manifest.doc_id for manifest in rag.documents()]
    await index.ensure(ids)
    return index, ids, SearchQuery(vector=await rag.backends.encoder.encode_query(QUESTION), text=QUESTION)


@pytest.mark.parametrize("builder", [FlatSentenceBuilder(), BISECTION], ids=["flat", "bisection"])
async def test_a_query_over_the_store_ranks_nodes_as_their_vectors_and_terms_do(
    rag: DiscoRAG, builder: Builder
) -> None:
    index, ids, query = await opened(rag, builder)
    trees = {i: rag.backends.store.tree(rag.scope(), i, builder.name) for i in ids}
    forest = Forest(trees)
    leaves = {i: await node_vectors(tree, rag.backends.encoder, "mean") for i, tree in trees.items()}
    cosines = forest.join([Outline.of(trees[i], leaves[i]).cosines(leaves[i] @ query.vector) for i in ids])
    terms = Bm25(leaf_terms(forest.tree)).scores(QUESTION, forest.shape.groups)
    by: NodeScores
    for by, texts in product(get_args(NodeScores), (False, True)):
        found = await index.scores(query, ids, by=by, texts=texts)
        # Ranks of equal cosines may differ: stored vectors are rounded.
        expected = fused(by, lambda: cosines, lambda: terms)
        assert found.forest.documents == tuple(ids)
        assert found.nodes == pytest.approx(expected, abs=1e-3)
        assert found.sizes.tolist() == forest.tree.words.tolist()


async def test_evidence_needs_no_texts_and_an_inner_node_says_its_best_leaves_whatever_the_scale(rag: DiscoRAG) -> None:
    index, ids, query = await opened(rag, BISECTION)
    for by in get_args(NodeScores):
        whole, lean = [await index.scores(query, ids, by=by, texts=texts) for texts in (True, False)]
        tree = whole.forest.tree
        assert tree.nodes[-1].text
        for node in range(tree.leaves, len(tree.nodes), 7):
            evidence = evidence_of(lean, [node], WORDS)
            assert evidence == evidence_of(whole, [node], WORDS)
            best = max(tree.leaves_of[node], key=lambda leaf: whole.nodes[leaf])
            doc_id, [span] = whole.forest.place(best)
            assert span in evidence[doc_id]


async def test_scores_without_any_tree_are_refused(rag: DiscoRAG) -> None:
    _, ids, query = await opened(rag, BISECTION)
    missing = TreeIndex(rag.backends.store, rag.scope(), rag.backends.encoder, WindowBuilder(Concat()), "mean")
    with pytest.raises(StoreError, match=rf"{len(ids)} documents by 'windows'"):
        await missing.scores(query, ids, by="dense", texts=False)
