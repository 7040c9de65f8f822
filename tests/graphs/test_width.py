"""How many chunks a language model reads where nobody counts them, and in which order."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from discorag import DiscoRAG
from discorag.retrieval.width import CANDIDATES, KEPT
from graphs.retrieve import graph
from nodes.backends import Backends
from nodes.context import AnswerContext
from tests.conftest import EXAMPLES, Pipelines
from tests.graphs.scripts import model, passages_in, turn_of, write_texts
from tests.inputs import stage_of
from tests.servers.scripted import ScriptedServer

QUESTION = "Which bicycle was repaired in May?"
NOTES = {f"{n}.txt": f"Bicycle {n} was painted and got a new bell." for n in range(45)} | {
    "may.txt": "Bicycle 77 was repaired in May."
}
CHINESE = {f"{n}.txt": f"第{n}辆自行车在五月修好了，换了新的铃铛和链条。" for n in range(45)}


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(model()) as server:
        yield server


@pytest.fixture(scope="module")
def rag(shared_pipeline: Pipelines, server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> DiscoRAG:
    rag = shared_pipeline(llm=server.base_url)
    home = tmp_path_factory.mktemp("texts")
    folders: dict[str, Path] = {
        "notes": write_texts(home / "notes", NOTES),
        "zh": write_texts(home / "zh", CHINESE),
        "vitamin-d": EXAMPLES / "vitamin-d",
    }
    for corpus, folder in folders.items():
        rag.ingest(folder, corpus=corpus, parser="rules", retriever="dense")
    return rag


def retrieved(rag: DiscoRAG, question: str, **options: Any) -> dict[str, Any]:
    """The state at the end of the retrieval graph."""
    context, keys = rag.context(AnswerContext, options), ["hits", "ledger"]
    ask: Any = graph
    return rag.run(lambda: ask.ainvoke({"query": question}, context=context, output_keys=keys))


def test_the_model_reads_the_best_of_more_candidates_and_the_ledger_counts_both(
    rag: DiscoRAG, server: ScriptedServer
) -> None:
    before = len(server.requests)
    result = rag.ask(QUESTION, corpus="notes")
    [read] = [passages_in(r) for r in server.requests[before:] if turn_of(r) == "both"]
    record = stage_of(result.ledger, "rerank")
    assert record.counts == {"candidates": CANDIDATES, "kept": KEPT}
    assert f"parse: {KEPT} of {CANDIDATES} chunks are read" in record.decisions
    assert len(read) == len(result.hits) == KEPT
    assert read[1] == NOTES["may.txt"]


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({"top_k": 3}, 3),
        ({"top_k": 30, "retriever": "hybrid"}, 30),
        ({"rerank": False}, 10),
        ({"preset": "standard"}, 10),
        ({"preset": "paper"}, 10),
        ({"preset": "verbatim", "retriever": "hybrid"}, 10),
    ],
)
def test_a_number_that_is_given_is_exact_and_other_presets_keep_ten(
    rag: DiscoRAG, options: dict[str, Any], count: int
) -> None:
    assert len(retrieved(rag, QUESTION, corpus="notes", **options)["hits"]) == count


def test_chunks_of_a_document_stand_in_its_order_and_documents_in_that_of_their_best_chunk(rag: DiscoRAG) -> None:
    hits = retrieved(rag, "Does vitamin D prevent flu?", corpus="vitamin-d")["hits"]
    chunks = rag.backends.store.chunks(rag.scope(corpus="vitamin-d"), [hit["chunk_id"] for hit in hits])
    best: dict[str, float] = {}
    for chunk, hit in zip(chunks, hits, strict=True):
        best[chunk.doc_id] = max(hit["score"], best.get(chunk.doc_id, hit["score"]))
    by_best = sorted(best, key=lambda doc_id: -best[doc_id])
    places = [(by_best.index(chunk.doc_id), chunk.order) for chunk in chunks]
    assert places == sorted(places)
    assert len(best) < len(hits)


def test_where_the_reranker_cannot_read_the_language_the_order_of_the_search_stays(rag: DiscoRAG) -> None:
    question = "第七辆自行车换了什么？"
    found = retrieved(rag, question, corpus="zh")
    searched = retrieved(rag, question, corpus="zh", rerank=False, top_k=KEPT, retriever="hybrid")
    assert found["hits"] == searched["hits"]
    assert found["ledger"][-1]["engine"] == "off"


def test_another_reranker_orders_too(rag: DiscoRAG, monkeypatch: pytest.MonkeyPatch) -> None:
    class Longest:
        version = "longest@1"

        async def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
            return tuple(float(len(text)) for text in texts)

    monkeypatch.setattr(Backends, "reranker", Longest())
    found = retrieved(rag, QUESTION, corpus="notes")
    assert len(found["hits"]) == KEPT
    assert found["hits"][0]["score"] == max(len(text) for text in NOTES.values())
