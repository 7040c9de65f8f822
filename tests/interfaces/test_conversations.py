"""Conversations: a follow-up question is made self-contained, and what earlier answers rest on is read again."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from discorag import AskResult, DiscoRAG
from discorag.models.protocol import Message
from interfaces.http.app import create_app
from tests.conftest import Pipelines
from tests.graphs.scripts import at_odds, in_one_reply, passages_in, prompt_of, write_texts
from tests.inputs import stage_of
from tests.servers.scripted import Body, ScriptedServer

CURIE = "Marie Curie was born in Warsaw in 1867. She won the Nobel Prize in 1911."
TRIALS = {f"trial-{n}.txt": f"Trial {n} of vitamin D lowered the risk of flu by {n} per cent." for n in range(1, 46)}
BORN = "When was Marie Curie born?"
ALONE = {
    "And what did she win?": "What did Marie Curie win?",
    "And the trials?": "Which trial of vitamin D lowered the risk of flu most?",
    "试验呢？": "哪个试验最能降低流感风险？",
}
"""Follow-up questions as the model rewrites them."""


def respond(body: Body) -> str:
    """A model that understands `ALONE`, and tells of Curie if it reads of her."""
    if "<conversation>" in prompt_of(body):
        follow_up = prompt_of(body).rpartition("<question>\n")[2].partition("\n")[0]
        return json.dumps({"question": ALONE[follow_up]}, ensure_ascii=False)
    curie = [n for n, text in passages_in(body).items() if text == CURIE]
    said = f"Marie Curie was born in Warsaw in 1867 [{curie[0]}]." if curie else "Trial 3 lowered it by 3 per cent [1]."
    reply = in_one_reply(at_odds(body), said)
    assert isinstance(reply, str)
    return reply


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_texts(tmp_path_factory.mktemp("texts") / "texts", {"curie.txt": CURIE, **TRIALS})


def opened(pipeline: Pipelines, server: ScriptedServer, texts: Path) -> DiscoRAG:
    rag = pipeline(llm=server.base_url)
    rag.ingest(texts, parser="rules", retriever="dense")
    return rag


def candidates(result: AskResult) -> tuple[int, int]:
    """How many chunks were reranked, and how many of them only because earlier answers rest on them."""
    retrieve, rerank = (stage_of(result.ledger, name).counts for name in ("retrieve", "rerank"))
    return rerank["candidates"], retrieve.get("from earlier answers", 0)


def test_what_an_earlier_answer_rests_on_is_a_candidate_again_until_its_document_is_deleted(
    pipeline: Pipelines, texts: Path
) -> None:
    with ScriptedServer(respond) as server:
        rag = opened(pipeline, server, texts)
        first = rag.ask(BORN)
        assert first.answer.text == "Marie Curie was born in Warsaw in 1867."
        again = rag.ask("And what did she win?", history=[first])
        asked, answered = server.requests[-2:]
        assert f"user: {BORN}\nassistant: {first.answer.text}" in prompt_of(asked)
        assert "What did Marie Curie win?" in prompt_of(answered)
        assert (again.answer.query, candidates(again)) == ("What did Marie Curie win?", (40, 0))
        assert candidates(rag.ask("And the trials?", history=[first, again])) == (41, 1)
        assert candidates(rag.ask("And the trials?", history=[Message(role="user", content=BORN)])) == (40, 0)
        (curie,) = (m for m in rag.documents() if m.title == "curie")
        rag.delete(curie.doc_id)
        assert candidates(rag.ask("And the trials?", history=[first])) == (40, 0)
        assert "Warsaw" not in "".join(map(prompt_of, server.requests[-2:]))


def test_where_the_reranker_cannot_judge_it_is_read_again(pipeline: Pipelines, texts: Path) -> None:
    with ScriptedServer(respond) as server:
        rag = opened(pipeline, server, texts)
        first = rag.ask(BORN)
        result = rag.ask("试验呢？", history=[first])
        assert CURIE in passages_in(server.requests[-1]).values()
    assert result.answer.statements is not None
    quoted = {q.text for s in result.answer.statements.statements for q in s.quotations}
    assert "Marie Curie was born in Warsaw in 1867." in quoted


def test_a_thread_over_http_remembers_what_was_said_until_its_source_is_deleted(
    pipeline: Pipelines, texts: Path
) -> None:
    with ScriptedServer(respond) as server:
        rag = opened(pipeline, server, texts)
        with TestClient(create_app(rag=rag), base_url="http://127.0.0.1") as client:
            thread = client.post("/threads", json={}).json()["id"]

            def ask(query: str) -> Any:
                return client.post("/ask", json={"query": query, "thread": thread}).json()

            ask(BORN)
            second = ask("And what did she win?")
            assert second["answer"]["query"] == "What did Marie Curie win?"
            assert f"user: {BORN}\nassistant: Marie Curie was born in Warsaw" in prompt_of(server.requests[-2])
            third = AskResult.model_validate(ask("And the trials?"))
            assert candidates(third) == (41, 1)
            (curie,) = (m for m in rag.documents() if m.title == "curie")
            assert client.delete(f"/documents/{curie.doc_id}").is_success
            asked_before = len(server.requests)
            ask("And the trials?")
            assert "Warsaw" not in "".join(map(prompt_of, server.requests[asked_before:]))
