"""What the figures of a query over trees mean, and that the made store is what it says."""

from itertools import product
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import bench.query
from bench.query import (
    DIMENSION,
    MODELS,
    PER_TOPIC,
    RAW_TOP_K,
    SENTENCES,
    TARGET_NODES,
    TopicEncoder,
    fill,
    indices,
    made_document,
    measured,
    node_shard,
    percentiles,
    questions,
    raw,
    result,
    row,
)
from discorag.settings import StoreSettings
from discorag.store.protocol import SearchQuery
from discorag.store.store import open_store
from discorag.trees.registry import RETRIEVERS
from discorag.trees.scores import NodeScores

QUIET = Console(quiet=True)


def test_excess_is_what_the_median_is_above_one_and_a_half_searches_and_five_milliseconds() -> None:
    assert row(10, "sentences", "dense", p50=30.0, p95=40.0, raw=10.0).excess_ms == 10.0
    assert row(10, "sentences", "dense", p50=12.0, p95=40.0, raw=10.0).excess_ms == -8.0


def test_the_worst_excess_is_of_the_largest_store_alone() -> None:
    rows = [
        row(n, "sentences", "dense", p50, 99.0, 2.0)
        for n, p50 in ((10, 90.0), (TARGET_NODES, 9.0), (TARGET_NODES, 20.0))
    ]
    assert result(rows, {})["worst_excess_ms_500k"] == 12.0
    assert result(rows[:1], {})["worst_excess_ms_500k"] is None


def test_percentiles_are_those_of_the_values() -> None:
    assert percentiles([float(n) for n in range(101)]) == pytest.approx((50, 95))


@given(st.text(min_size=1).filter(str.strip))
async def test_vectors_have_length_one_and_depend_on_the_text_alone(text: str) -> None:
    first, again = await TopicEncoder().encode_documents([text, text])
    assert first.shape == (DIMENSION,)
    assert np.linalg.norm(first) == pytest.approx(1, abs=1e-5)
    assert (first == again).all()


async def test_sentences_of_one_topic_are_alike_and_of_two_are_not() -> None:
    one, same, other = await TopicEncoder().encode_documents(["Topic1 a b.", "Topic1 c d.", "Topic2 a b."])
    assert one @ same > 0.3 > one @ other


async def test_the_store_holds_as_many_nodes_as_asked_in_trees_of_two_shapes(tmp_path: Path) -> None:
    with open_store(StoreSettings(path=tmp_path), ("topics", DIMENSION)) as store:
        documents, speed = await fill(store, 500, QUIET)
        trees = indices(store)
        ids = (await trees[True].documents(SearchQuery(vector=await TopicEncoder().encode_query("Topic0 x")), 9)).found
        sizes = {flat: [len((await index.tree(i)).nodes) for i in ids] for flat, index in trees.items()}
    assert documents == len(ids) == 2
    assert sizes == {True: [SENTENCES] * 2, False: [2 * SENTENCES - 1] * 2}
    assert speed > 0


async def test_a_question_finds_the_documents_of_its_topic_first(tmp_path: Path) -> None:
    with open_store(StoreSettings(path=tmp_path), ("topics", DIMENSION)) as store:
        await fill(store, 299 * (PER_TOPIC + 2), QUIET)
        vector = await TopicEncoder().encode_query("Topic1 question")
        found = (await indices(store)[True].documents(SearchQuery(vector=vector), 2)).found
        assert {store.document(bench.query.SCOPE, i).title for i in found} == {"Topic1"}


async def test_the_floor_finds_the_best_nodes_of_the_trees_that_are_compared_with_it(tmp_path: Path) -> None:
    with open_store(StoreSettings(path=tmp_path), ("topics", DIMENSION)) as store:
        await fill(store, 500, QUIET)
        vector = await TopicEncoder().encode_query("Topic0 x")
        for flat, index in indices(store).items():
            ids = (await index.documents(SearchQuery(vector=vector), 9)).found
            scores = await index.scores(SearchQuery(vector=vector), ids, by="dense", texts=False)
            shard = node_shard(store, tmp_path / f"floor-{flat}", flat)
            found = await raw(shard, {"Topic0 x": vector})("Topic0 x")
            best = np.sort(scores.nodes)[::-1][:RAW_TOP_K]
            assert [score for _, score in found] == pytest.approx(best, abs=1e-3)


async def test_every_retriever_that_needs_no_model_is_measured_with_all_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.query, "QUESTIONS", 3)
    rows, _ = await measured(300, QUIET)
    expected = product(set(RETRIEVERS) - MODELS, get_args(NodeScores))
    assert {(r.retriever, r.node_scores) for r in rows} == set(expected)
    assert all(0 < r.p50_ms <= r.p95_ms and r.raw_p50_ms > 0 for r in rows)


def test_documents_and_questions_are_the_same_in_every_run() -> None:
    assert made_document(3) == made_document(3)
    assert made_document(3).text != made_document(4).text
    assert questions(5, 9) == questions(5, 9)
