"""What a query over trees reads: only what its scores need, in one state; several documents' trees as one."""

from itertools import product

import pytest

from discorag import DiscoRAG
from discorag.retrieval.builders.base import Builder
from discorag.retrieval.builders.baselines import FLAT_SENTENCES, BisectionBuilder
from discorag.retrieval.builders.node_text import Concat
from discorag.retrieval.forest import NodeScores, node_vectors
from discorag.retrieval.index import TreeIndex, fuse_scores
from discorag.retrieval.selectors import Floats
from discorag.store.outline import Outline, leaf_terms
from discorag.store.records import SearchQuery
from discorag.text.bm25 import TermCounts
from tests.conftest import EXAMPLES, Pipelines
from tests.retrieval.builders.checks import joined

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


@pytest.mark.parametrize("builder", [FLAT_SENTENCES, BISECTION], ids=["flat", "bisection"])
async def test_a_query_over_the_store_ranks_nodes_as_their_vectors_and_terms_do(
    rag: DiscoRAG, builder: Builder
) -> None:
    index, ids, query = await opened(rag, builder)
    trees = {i: rag.backends.store.tree(rag.scope(), i, builder.name) for i in ids}
    forest = joined(trees)
    leaves = {i: await node_vectors(tree, rag.backends.encoder, "mean") for i, tree in trees.items()}
    cosines = forest.join([Outline.of(trees[i], leaves[i]).cosines(leaves[i] @ query.vector) for i in ids])
    counts = TermCounts.join([leaf_terms(tree) for tree in trees.values()])
    terms = counts.bm25(QUESTION, forest.tree.groups)
    expected: dict[NodeScores, Floats] = {"dense": cosines, "bm25": terms, "hybrid": fuse_scores(cosines, terms)}
    for by, texts in product(expected, (False, True)):
        found = await index.scores(query, ids, by=by, texts=texts)
        # Ranks of equal cosines may differ: stored vectors are rounded.
        assert found.forest.documents == tuple(ids)
        assert found.nodes == pytest.approx(expected[by], abs=1e-3)
        assert found.sizes.tolist() == forest.tree.words.tolist()
