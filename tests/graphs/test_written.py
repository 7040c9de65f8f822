"""With a language model: what it is given by default, and what a reader gets while it writes and when it fails."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from discorag import DiscoRAG
from discorag.schema.errors import ConfigError, InputError
from discorag.schema.ledger import WITHOUT_MODEL
from interfaces.facade import AskResult
from tests.conftest import EXAMPLES, Pipelines
from tests.graphs.conftest import Opened
from tests.graphs.scripts import ANSWER, model, passages_in, prompt_of, turn_of
from tests.inputs import stage_of
from tests.servers.scripted import Body, Script, Scripted, ScriptedServer

FLU = "Does vitamin D prevent flu?"
QUESTIONS = [
    ("vitamin-d", FLU),
    ("vitamin-d", "Who won the chess championship of 1972?"),
    ("tides", "Why are some tides higher than others?"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    """A strong model, which follows every instruction."""

    def judge(body: Body) -> str:
        said = re.findall(r"^(\d+)\.", body["messages"][-1]["content"].partition("<sentences>\n")[2], re.MULTILINE)
        verdicts = ",".join(f'{{"sentence":{n},"verdict":"supported","passages":[1]}}' for n in said)
        return f'{{"verdicts":[{verdicts}]}}'

    def respond(body: Body) -> Scripted | str:
        return judge(body) if "<sentences>" in body["messages"][-1]["content"] else model()(body)

    with ScriptedServer(respond) as server:
        yield server


@pytest.fixture(scope="module")
def rag(shared_pipeline: Pipelines, server: ScriptedServer) -> DiscoRAG:
    rag = shared_pipeline(llm=server.base_url)
    for corpus in {corpus for corpus, _ in QUESTIONS}:
        rag.ingest(EXAMPLES / corpus, corpus=corpus)
    return rag


def ask(rag: DiscoRAG, server: ScriptedServer, question: str, **options: Any) -> tuple[AskResult, list[Body]]:
    before = len(server.requests)
    result = rag.ask(question, **options)
    return result, server.requests[before:]


@pytest.mark.parametrize(("corpus", "question"), QUESTIONS)
def test_a_strong_model_reads_all_chunks_in_one_call_and_nothing_is_refused_before(
    rag: DiscoRAG, server: ScriptedServer, corpus: str, question: str
) -> None:
    result, requests = ask(rag, server, question, corpus=corpus)
    assert [turn_of(r) for r in requests] == ["both"]
    assert (result.answer.abstained, result.answer.unsure, result.ledger.failures) == ("", False, ())
    assert result.draft == ANSWER
    assert {len(passages_in(r)) for r in requests} == {len(result.hits)}
    once, requests = ask(rag, server, question, corpus=corpus, use_graph=False, use_plan=False)
    assert [turn_of(r) for r in requests] == ["answer"]
    assert 0.6 * result.ledger.usage.tokens_in <= once.ledger.usage.tokens_in < result.ledger.usage.tokens_in


def test_a_language_model_that_verifies_is_one_call_more(rag: DiscoRAG, server: ScriptedServer) -> None:
    result, requests = ask(rag, server, FLU, corpus="vitamin-d", verifier="llm", abstain="never")
    assert len(requests) == 2
    assert result.ledger.failures == ()
    assert stage_of(result.ledger, "verify").usage.calls == 1


def test_each_prompt_holds_each_whole_chunk_once_and_no_marks(rag: DiscoRAG, server: ScriptedServer) -> None:
    result, requests = ask(rag, server, FLU, corpus="vitamin-d")
    chunks = rag.backends.store.chunks(rag.scope(corpus="vitamin-d"), [hit.chunk_id for hit in result.hits])
    for request in requests:
        assert list(passages_in(request).values()) == [c.text for c in chunks]


def test_the_preset_is_chosen_by_whether_there_is_a_model_unless_it_is_given(
    rag: DiscoRAG, server: ScriptedServer, pipeline: Pipelines
) -> None:
    verbatim, requests = ask(rag, server, FLU, corpus="vitamin-d", preset="verbatim")
    assert requests == []
    assert all(s.supported for s in verbatim.answer.sentences)
    fragments, requests = ask(rag, server, FLU, corpus="vitamin-d", evidence_words=60)
    assert "[...]" in prompt_of(requests[0])
    assert fragments.evidence
    with pytest.raises(InputError, match="exclude each other"):
        rag.ask(FLU, corpus="vitamin-d", preset="written", engine="local")
    alone = pipeline()
    alone.ingest(EXAMPLES / "tides")
    with pytest.raises(ConfigError, match="no language model is configured"):
        alone.ask("Why do tides rise?", preset="written")


def test_what_a_small_context_does_not_hold_at_once_is_read_in_several_calls(pipeline: Pipelines) -> None:
    with ScriptedServer(model()) as server:
        rag = pipeline(llm=server.base_url, context_tokens=4096)
        rag.ingest(EXAMPLES / "vitamin-d")
        result = rag.ask(FLU)
        turns = [turn_of(r) for r in server.requests]
        read = {n for r in server.requests if turn_of(r) == "statements" for n in passages_in(r)}
    assert read == set(range(1, len(result.hits) + 1))
    assert turns.count("statements") == stage_of(result.ledger, "relate").counts["batches"] > 1
    assert turns[-1] == "answer"


def test_a_call_that_the_server_refuses_as_too_long_is_made_in_several(pipeline: Pipelines) -> None:
    said = "This model's maximum context length is 4096 tokens. However, you requested 4200 tokens."

    def respond(body: Body) -> Scripted | str:
        is_long = turn_of(body) == "both" or len(passages_in(body)) > 4
        return Scripted(said, status=400) if is_long else model()(body)

    with ScriptedServer(respond) as server:
        rag = pipeline(llm=server.base_url)
        rag.ingest(EXAMPLES / "vitamin-d")
        result = rag.ask(FLU)
        read = [n for r in server.requests if turn_of(r) == "statements" for n in passages_in(r)]
    assert set(read) == set(range(1, len(result.hits) + 1))
    assert (result.ledger.failures, result.model_failed) == ((), False)
    assert result.answer.statements is not None
    assert result.draft.startswith("Daily vitamin D")


# --- while the model writes, and when it fails ------------------------------------------------------------------------


@pytest.fixture
def texts() -> Path:
    return EXAMPLES / "tides"


TIDES = "Why are some tides higher than others?"


FAILING: dict[str, tuple[Script, str]] = {
    "fails": (lambda _: Scripted("broken", status=500), "endpoint is unavailable (500)"),
    "fails at the answer": (model({"answer": Scripted("broken", status=500)}), "endpoint is unavailable (500)"),
    "breaks off": (model({"answer": Scripted("Tides rise " * 40, break_after=3)}), "The endpoint"),
    "says nothing": (model({"answer": "[1][2]."}), "says nothing"),
}


@pytest.mark.parametrize(("script", "why"), FAILING.values(), ids=FAILING)
async def test_a_model_that_fails_leaves_sentences_of_the_sources_and_a_note_that_says_why(
    opened: Opened, script: Script, why: str
) -> None:
    with ScriptedServer(script) as server:
        parts = [part async for part in opened(server).astream(TIDES)]
    result, events = parts[-1], [part for part in parts if not isinstance(part, AskResult)]
    assert isinstance(result, AskResult)
    assert result.model_failed
    assert all(s.supported for s in result.answer.sentences)
    assert any(why in note for note in result.answer.notes)
    assert f"Used instead: {WITHOUT_MODEL}." in result.answer.notes[-1]
    assert all(record.engine == "auto" for record in result.ledger.stages if record.stage == "verify")
    restart = max(i for i, event in enumerate(events) if event["event"] == "restart")
    assert "".join(e["token"] for e in events[restart:] if e["event"] == "token") == result.draft


async def test_where_the_local_engines_refuse_a_model_that_fails_changes_nothing(opened: Opened) -> None:
    question = "Who won the chess championship of 1972?"
    with ScriptedServer(lambda _: Scripted("broken", status=500)) as server:
        rag = opened(server)
        written, verbatim = rag.ask(question).answer, rag.ask(question, preset="verbatim").answer
    assert written.abstained == verbatim.abstained != ""
    assert "Check that the server at DISCO_RAG_MODEL (or --llm) runs." in written.notes[0]


REFUSAL = "The passages do not answer the question; none of them speaks of chess."


@pytest.mark.parametrize("reply", [REFUSAL, f"**{REFUSAL}**", REFUSAL.replace(".", " [1][2].")])
def test_a_model_that_says_that_the_passages_do_not_answer_makes_it_an_abstention(opened: Opened, reply: str) -> None:
    with ScriptedServer(model({"answer": reply})) as server:
        result = opened(server).ask(TIDES)
    assert result.answer.abstained.strip("* ") == REFUSAL
    assert result.answer.nearest
    assert result.ledger.failures == ()


def test_an_answer_to_a_part_of_the_question_is_no_abstention(opened: Opened) -> None:
    partly = "The passages do not say how high the highest tide is. The moon pulls the sea [1]."
    with ScriptedServer(model({"answer": partly})) as server:
        result = opened(server).ask(TIDES)
    assert not result.answer.abstained
    assert result.answer.text == partly.replace(" [1]", "")


@pytest.mark.parametrize("label", ["Answer: ", "**The answer:** ", "Final answer: ", "## Answer:\n"])
def test_a_heading_of_ours_before_a_good_answer_is_removed(opened: Opened, label: str) -> None:
    with ScriptedServer(model({"answer": label + ANSWER})) as server:
        result = opened(server).ask(TIDES, abstain="never")
        assert len(server.requests) == 1
    assert result.draft == ANSWER
