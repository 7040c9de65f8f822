"""What a query over trees reads: only what its scores need, in one state; and what chosen nodes say."""

import asyncio
from pathlib import Path

import pytest

from discorag.config import StoreSettings
from discorag.retrieval.builders.baselines import BisectionBuilder
from discorag.retrieval.builders.node_text import Concat
from discorag.retrieval.index import TreeIndex
from discorag.retrieval.search import evidence_of
from discorag.schema.errors import StoreError
from discorag.store.records import SearchQuery
from discorag.store.store import Store, open_store
from tests.retrieval.topics import DIMENSION, SCOPE, TopicEncoder, made_document, put_whole

ENCODER = TopicEncoder()
WORDS = 10_000


async def opened(store: Store, *numbers: int) -> tuple[TreeIndex, list[str]]:
    documents = [made_document(i) for i in numbers]
    ids = [put_whole(store, d, await ENCODER.encode_query(d.title)) for d in documents]
    index = TreeIndex(store, SCOPE, ENCODER, BisectionBuilder(Concat()), "mean")
    await index.ensure(ids)
    return index, ids


async def asked(text: str) -> SearchQuery:
    return SearchQuery(vector=await ENCODER.encode_query(text), text=text)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(StoreSettings(path=tmp_path), (ENCODER.version, DIMENSION))


async def test_texts_are_read_where_they_are_asked_for(store: Store) -> None:
    index, ids = await opened(store, 0, 1)
    for by in ("dense", "bm25", "hybrid"):
        whole = await index.scores(await asked("Topic0"), ids, by=by, texts=True)
        lean = await index.scores(await asked("Topic0"), ids, by=by, texts=False)
        assert whole.forest.documents == lean.forest.documents == tuple(ids)
        assert whole.nodes.tolist() == lean.nodes.tolist()
        assert whole.forest.tree.nodes[-1].text
        inner = range(whole.forest.tree.leaves, len(whole.nodes), 7)
        assert evidence_of(whole, inner, WORDS) == evidence_of(lean, inner, WORDS)


async def test_an_inner_node_says_its_best_leaves_whatever_the_scale_of_scores(store: Store) -> None:
    index, ids = await opened(store, 0)
    word = made_document(0).text.split()[5]
    for by in ("bm25", "hybrid"):
        scores = await index.scores(await asked(word), ids, by=by, texts=True)
        tree = scores.forest.tree
        root = len(tree.nodes) - 1
        best = max(tree.leaves_of[root], key=lambda leaf: scores.nodes[leaf])
        [leaf] = tree.nodes[best].spans
        assert leaf in evidence_of(scores, [root], WORDS)[ids[0]]


async def test_scores_without_any_tree_are_refused(store: Store) -> None:
    index, ids = await opened(store, 0)
    await asyncio.to_thread(store.delete, SCOPE, ids[0])
    with pytest.raises(StoreError, match="1 documents by 'bisection'"):
        await index.scores(await asked("Topic0"), ids, by="dense", texts=False)
