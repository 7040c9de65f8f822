"""The answer graph without a language model: answers, the way a question takes, and how it ends without an answer."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from discorag import AskResult, DiscoRAG
from discorag.discourse.parse.rules import RuleParser
from discorag.discourse.parse.trained.parser import TrainedParser
from discorag.schema.errors import ConfigError, DiscoRagError, EmptyCorpusError, InputError, QueryError
from discorag.schema.ledger import STAGES
from graphs.answer import build
from graphs.ingest import PAGE
from interfaces.langchain import DiscoRetriever
from interfaces.results import Documents
from nodes.context import AnswerContext
from tests.conftest import EXAMPLES, Examples, Pipelines
from tests.inputs import stage_of

FLU = "Does vitamin D prevent flu?"


@pytest.fixture
def rag(examples: Examples) -> DiscoRAG:
    return examples("vitamin-d", "tides")


def test_the_disagreement_of_the_vitamin_d_corpus_is_reported_with_both_spans(rag: DiscoRAG) -> None:
    answer = rag.ask(FLU, corpus="vitamin-d").answer
    assert answer.disagreements
    documents = {m.doc_id: Path(m.uri).read_text(encoding="utf-8") for m in rag.documents(corpus="vitamin-d")}
    for d in answer.disagreements:
        assert d.a.doc_id != d.b.doc_id
        for e in (d.a, d.b):
            assert documents[e.doc_id][e.span.start : e.span.end] == e.text
    pairs = {frozenset({d.a.text, d.b.text}) for d in answer.disagreements}
    gold = json.loads((EXAMPLES.parent / "tests/data/disagreements.json").read_text(encoding="utf-8"))["vitamin-d"]
    assert pairs & {frozenset({g["a"]["text"], g["b"]["text"]}) for g in gold}


@pytest.mark.parametrize("query", ["Why are some tides higher than others?", "Why does high tide come later each day?"])
def test_the_concordant_corpus_reports_none(rag: DiscoRAG, query: str) -> None:
    answer = rag.ask(query, corpus="tides").answer
    assert len(answer.sentences) >= 3
    assert answer.disagreements == ()


def test_every_sentence_carries_evidence_and_the_ledger_names_every_stage(rag: DiscoRAG) -> None:
    result = rag.ask(FLU, corpus="vitamin-d")
    assert result.answer.problems == ()
    assert [s.stage for s in result.ledger.stages] == list(STAGES)
    assert result.ledger.failures == ()
    steps = [s.step for s in result.answer.sentences]  # a sentence without one leads to the next
    assert all(a is not None or b is not None for a, b in pairwise([*steps, None]))


def test_all_switches_off_is_standard_rag(rag: DiscoRAG) -> None:
    result = rag.ask(FLU, corpus="vitamin-d", use_tree=False, use_graph=False, use_plan=False)
    assert (result.graph, result.answer.plan, result.answer.disagreements) == (None, None, ())
    assert result.answer.sentences
    off = [s.stage for s in result.ledger.stages if s.engine == "off"]
    assert off == ["rerank", "parse", "relate", "plan"]


def test_sources_of_one_title_are_told_apart_by_their_paths(pipeline: Pipelines, tmp_path: Path) -> None:
    for version, colour in (("v1", "red"), ("v2", "blue")):
        (tmp_path / version).mkdir()
        text = f"# Weld\n\nThe lamp of the welder is {colour} while it is hot."
        (tmp_path / version / "weld.md").write_text(text, "utf-8")
    rag = pipeline()
    rag.ingest(tmp_path)
    question = "Which colour has the lamp of the welder while it is hot?"
    both = {"v1/weld.md: Weld", "v2/weld.md: Weld"}
    assert _titles(rag.ask(question, abstain="never")) == both
    assert {found.metadata["title"] for found in DiscoRetriever(rag=rag, retriever="dense").invoke(question)} == both
    assert {d.title for d in Documents.of(rag.backends.store, rag.scope(), 0, 10).documents} == both
    first, second = rag.documents()
    assert _titles(rag.ask(question, filters={"doc_id": [second.doc_id]}, abstain="never")) == {"v2/weld.md: Weld"}
    rag.delete(first.doc_id)
    assert _titles(rag.ask(question, abstain="never")) == {"Weld"}


def _titles(result: AskResult) -> set[str]:
    return {e.title for s in result.answer.sentences for e in s.evidence}


def test_filters_restrict_what_is_searched(rag: DiscoRAG) -> None:
    one = rag.documents(corpus="vitamin-d")[0]
    result = rag.ask(FLU, corpus="vitamin-d", filters={"doc_id": [one.doc_id]})
    assert {e.doc_id for s in result.answer.sentences for e in s.evidence} == {one.doc_id}


@pytest.mark.parametrize(
    ("query", "options", "error", "message"),
    [
        ("", {}, QueryError, "empty"),
        ("  \n\t", {}, QueryError, "empty"),
        ("tide " * 400, {}, QueryError, "token"),
        (
            FLU,
            {"corpus": "nothing-here"},
            EmptyCorpusError,
            r"Corpora with documents: .*tides \(5 documents\).*Name one of them",
        ),
        (FLU, {"tenant": "somebody-else"}, EmptyCorpusError, "Nothing is stored"),
        (FLU, {"engine": "llm", "corpus": "vitamin-d"}, ConfigError, "DISCO_RAG_MODEL"),
        (FLU, {"top_k": 0}, InputError, "top_k"),
        (FLU, {"use_tree": "perhaps"}, InputError, "use_tree"),
        (FLU, {"engine": "magic"}, InputError, "engine"),
        (FLU, {"topk": 3}, InputError, "topk"),
    ],
)
def test_a_question_that_cannot_be_asked_is_an_error_that_says_why(
    rag: DiscoRAG, query: str, options: dict[str, Any], error: type[DiscoRagError], message: str
) -> None:
    given: dict[str, Any] = {"corpus": "tides", **options}
    with pytest.raises(error, match=message):
        rag.ask(query, **given)


async def test_a_stream_gives_stage_events_tokens_and_at_last_the_result(rag: DiscoRAG) -> None:
    events = [e async for e in rag.astream(FLU, corpus="vitamin-d")]
    result = events.pop()
    assert isinstance(result, AskResult)
    parts = [e for e in events if not isinstance(e, AskResult)]
    assert [e["stage"] for e in parts if e["event"] == "start"] == [s.stage for s in result.ledger.stages]
    assert {e["stage"] for e in parts if e["event"] == "end" and not e["preview"]} == {"rerank"}
    assert "".join(e["token"] for e in parts if e["event"] == "token")


def test_trees_are_made_at_query_time_for_chunks_that_have_none(pipeline: Pipelines) -> None:
    rag = pipeline()
    rag.ingest(EXAMPLES / "tides", parser="none")
    store = rag.backends.store
    assert all(c.tree is None for m in rag.documents() for c in store.chunks_of(rag.scope(), m.doc_id))
    parse = stage_of(rag.ask("Why are some tides higher than others?").ledger, "parse")
    assert (parse.stage, parse.model) == ("parse", TrainedParser().version)


def test_a_plan_without_citations_is_declared_in_the_ledger(rag: DiscoRAG) -> None:
    result = rag.ask("Why are tides late?", corpus="tides", plan="First this, then that.")
    assert result.answer.sentences
    assert [f.fallback for f in result.ledger.failures] == ["sentences by relevance"]


def test_the_full_context_is_every_chunk_of_the_named_documents_in_order_and_obeys_filters(rag: DiscoRAG) -> None:
    scope = rag.scope(corpus="vitamin-d")
    ids = [m.doc_id for m in rag.documents(corpus="vitamin-d")][:2][::-1]
    result = rag.ask(FLU, corpus="vitamin-d", retriever="all", top_k=1, filters={"doc_id": ids})
    expected = [c.id for i in ids for c in rag.backends.store.chunks_of(scope, i)]
    assert [h.chunk_id for h in result.hits] == expected
    nothing: Any = {"corpus": "vitamin-d", "retriever": "all", "filters": {"no-such-key": ["x"]}}
    assert rag.ask(FLU, **nothing).answer.abstained
    with pytest.raises(EmptyCorpusError):
        rag.ask(FLU, **nothing, abstain="never")


QUERY = "Why do spring tides rise higher?"


def test_a_retriever_that_routes_needs_a_language_model(rag: DiscoRAG) -> None:
    with pytest.raises(ConfigError, match="DISCO_RAG_MODEL"):
        rag.ask(QUERY, corpus="tides", preset="rdr2")


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


def test_the_parser_that_a_question_names_makes_its_trees_and_the_ledger_says_who_made_stored_ones(
    examples: Examples,
) -> None:
    rag = examples("tides")

    def parsed(**options: Any) -> tuple[str, str]:
        record = stage_of(rag.ask("What is a neap tide?", corpus="tides", **options).ledger, "parse")
        return record.engine, record.model

    made_at_ingest = TrainedParser().version
    assert parsed() == parsed(parser="local") == ("stored", made_at_ingest)
    assert parsed(parser="rules") == ("local", RuleParser().version)


async def test_a_stopped_run_shows_passages_in_which_the_plan_can_be_looked_up(examples: Examples) -> None:
    graph = build(checkpointer=InMemorySaver(), interrupt_before=["generate"])
    config: Any = {"configurable": {"thread_id": "t"}}
    context = AnswerContext(backends=examples("vitamin-d").backends, corpus="vitamin-d", retriever="dense")
    await graph.ainvoke({"query": FLU}, config, context=context)
    stopped = (await graph.aget_state(config)).values
    passages, plan = stopped["passages"], stopped["plan"]
    assert [passage["number"] for passage in passages] == list(range(1, 11))
    assert all(passage["title"] and passage["tree"] for passage in passages)
    cited = re.findall(r"\[\d+\.\d+\]", plan)
    assert cited
    for reference in cited:
        number = int(reference[1:].partition(".")[0])
        assert f"{reference} " in passages[number - 1]["text"]
    size = sum(len(InMemorySaver().serde.dumps_typed(value)[1]) for value in stopped.values())
    assert size <= 40_000


def test_a_refusal_does_not_say_of_a_stored_word_that_nothing_mentions_it(pipeline: Pipelines, tmp_path: Path) -> None:
    """The word stands in a document whose passages are not among those that were found for the question."""
    rag = pipeline()
    for i in range(14):
        polls = (f"The poll on moving proposal {p} to phase {i} passed in meeting {i}." for p in "ABCDEFGHIJKL")
        (tmp_path / f"m{i:02}.md").write_text(f"# Meeting {i}\n\n" + "\n\n".join(polls), "utf-8")
    remarks = "\n\n".join(f"Remark {i}: the team spent the afternoon on tooling." for i in range(30))
    (tmp_path / "zz.md").write_text(f"# Meeting 99\n\n{remarks}\n\nThe toolchain uses QXTP today.", "utf-8")
    rag.ingest(tmp_path)
    question = "Which salary does the inventor of {} earn in Bergen?"
    stored, unknown = (rag.ask(question.format(word), top_k=3).answer.abstained for word in ("QXTP", "JSPI"))
    assert "Nothing in the text of the 15 documents has the word Bergen." in stored
    assert "QXTP" not in stored or "No passage that was found mentions QXTP." in stored
    assert "Nothing in the text of the 15 documents has the words JSPI, Bergen." in unknown
