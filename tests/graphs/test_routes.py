"""Which way a question takes through the answer graph, and how it ends where the documents have no answer."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from discorag import DiscoRAG
from discorag.schema.answer import NO_ANSWER
from graphs import answer, chat
from graphs.ingest import PAGE
from nodes.context import AnswerContext
from tests.conftest import Examples, Pipelines
from tests.inputs import stage_of

QUERY = "Why do spring tides rise higher?"
OFF_TOPIC = "Who won the chess championship of 1972?"


@pytest.fixture
def rag(examples: Examples) -> DiscoRAG:
    return examples("vitamin-d", "tides")


def run(graph: Any, asked: Any, rag: DiscoRAG, **switches: Any) -> tuple[list[str], dict[str, Any]]:
    """The nodes that ran, and the state at the end."""

    async def ran() -> tuple[list[str], dict[str, Any]]:
        context, nodes, state = AnswerContext(backends=rag.backends, **switches), list[str](), dict[str, Any]()
        async for mode, part in graph.astream(asked, context=context, stream_mode=["updates", "values"]):
            nodes += part if mode == "updates" else []
            state = part if mode == "values" else state
        return nodes, state

    return asyncio.run(ran())


def test_each_round_of_the_router_is_a_step(rag: DiscoRAG) -> None:
    nodes, state = run(answer.graph, {"query": QUERY}, rag, corpus="tides", preset="rdr2", abstain="never")
    rounds = nodes.count("route_headings")
    assert rounds == max(len(walk["selected"]) for walk in state["walks"])
    assert nodes[rounds + 1 :] == ["rerank", "parse", "assess", "quote", "relate", "plan", "generate", "verify"]
    assert all(walk["ending"] for walk in state["walks"])


def test_a_router_that_refuses_every_document_leads_to_abstention_with_the_nearest_passages(rag: DiscoRAG) -> None:
    result = rag.ask(OFF_TOPIC, corpus="tides", preset="rdr2")
    assert result.answer.text == NO_ANSWER
    assert "refused" in result.answer.abstained
    assert result.answer.nearest
    assert [s.stage for s in result.ledger.stages] == ["prepare", "retrieve", "abstain"]
    documents = {m.doc_id: m for m in rag.documents(corpus="tides")}
    for e in result.answer.nearest:
        source = rag.backends.store.document(rag.scope(corpus="tides"), documents[e.doc_id].doc_id)
        assert source.text[e.span.start : e.span.end] == e.text


def test_a_router_that_refuses_is_overruled_where_something_is_always_answered(rag: DiscoRAG) -> None:
    assert rag.ask(OFF_TOPIC, corpus="tides", preset="rdr2", abstain="never").answer.sentences


def test_what_was_found_can_be_put_into_a_rerankers_order(rag: DiscoRAG) -> None:
    plain = rag.ask(QUERY, corpus="tides", retriever="dense")
    ranked = rag.ask(QUERY, corpus="tides", retriever="dense", rerank=True)
    assert {h.chunk_id for h in ranked.hits} == {h.chunk_id for h in plain.hits}
    assert [h.score for h in ranked.hits] == sorted((h.score for h in ranked.hits), reverse=True)
    assert stage_of(ranked.ledger, "rerank").model.startswith("ms-marco-MiniLM")


def test_a_conversation_keeps_its_history_and_each_question_its_own_ledger(rag: DiscoRAG) -> None:
    async def talked() -> dict[str, Any]:
        graph = chat.build(checkpointer=InMemorySaver())
        context = AnswerContext(backends=rag.backends, corpus="tides")
        state: dict[str, Any] = {}
        for question in (QUERY, "And neap tides?"):
            said: Any = {"messages": [("user", question)]}
            state = await graph.ainvoke(said, {"configurable": {"thread_id": "t"}}, context=context)
        return state

    state = asyncio.run(talked())
    assert [m.type for m in state["messages"]] == ["human", "ai", "human", "ai"]
    last = state["messages"][-1]
    assert isinstance(last, AIMessage)
    assert last.response_metadata["disco_rag"] == state["answer"]
    assert "Sources:" in str(last.text)
    assert [r["stage"] for r in state["ledger"]].count("prepare") == 1
    assert [turn["role"] for turn in state["history"]] == ["user", "assistant"]


def test_more_documents_than_a_page_holds_are_all_read(
    pipeline: Pipelines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphs.ingest.PAGE", 2)
    assert PAGE > 2
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text(f"Note {number} says that tides rise.", encoding="utf-8")
    rag = pipeline(name="pages")
    assert len(rag.ingest(tmp_path, parser="none", retriever="dense").outcomes) == 5
    assert len(rag.documents()) == 5
