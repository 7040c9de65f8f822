"""The dry run: the real prompts, counted; no request is sent (no endpoint is configured, and the network is closed)."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from discorag import DiscoRAG
from discorag.answering.collect import collect_statements
from discorag.answering.reader import ReaderModel
from discorag.config import LlmSettings, RerankerSettings
from discorag.models.tokens import PackagedTokens
from eval.running.bill import Bill, CountingModel, write_bills
from tests.answering.test_collect import many
from tests.conftest import Pipelines
from tests.eval.helpers import session, suite
from tests.graphs.scripts import model
from tests.servers.scripted import ScriptedServer


@pytest.fixture
def rag(pipeline: Pipelines) -> DiscoRAG:
    return pipeline()


async def bills(rag: DiscoRAG, home: Path, *names: str) -> dict[str, Bill]:
    wanted = suite("lay-summaries", systems=names)
    return {b.system: b for b in await session(rag, home, wanted).bill()}


async def test_calls_are_those_that_a_model_would_get(rag: DiscoRAG, tmp_path: Path) -> None:
    once = ("written", "written-no-relations", "written-no-plan", "written-standard", "standard")
    twice = ("written~two-calls", "written~relations-permuted")  # statements with an answer, then another answer
    found = await bills(rag, tmp_path, *once, *twice, "lead", "verbatim")
    calls = {**dict.fromkeys(once, 1), **dict.fromkeys(twice, 2), "verbatim": 0}
    assert {n: b.calls / b.questions for n, b in found.items()} == calls  # nothing is asked for the lead
    assert {b.questions for b in found.values()} == {3}
    assert not (tmp_path / "run").exists()
    read = [found[name].tokens_in for name in ("written", "written-no-relations", "written-standard")]
    assert read == sorted(read, reverse=True)  # what is switched off is not asked for


async def test_assumed_replies_are_counted_as_output(rag: DiscoRAG, tmp_path: Path) -> None:
    found = await bills(rag, tmp_path, "written", "standard")
    assert found["written"].tokens_out == 3 * 900
    assert found["standard"].tokens_out == 3 * 260


async def test_what_the_paper_prints_is_counted_call_by_call(rag: DiscoRAG, tmp_path: Path) -> None:
    names = ("paper", "paper-standard", "retrieve-and-plan", "plan-and-retrieve", "markers", "paper-full-context")
    found = await bills(rag, tmp_path, *names)
    # plan-and-retrieve: queries, answer; markers: markers, answer; the others but paper: one call
    calls = {"paper-standard": 1, "retrieve-and-plan": 1, "plan-and-retrieve": 2, "markers": 2, "paper-full-context": 1}
    assert {name: found[name].calls / found[name].questions for name in calls} == calls
    assert found["paper"].calls == 3 * 3  # graph, plan and answer
    assert found["trees of the retrieved chunks"].calls > 3
    stages = found["paper"].stages
    assert list(stages) == ["relate", "plan", "generate"]
    spent = (found["paper"].tokens_in, found["paper"].tokens_out)
    assert tuple(map(sum, zip(*stages.values(), strict=True))) == spent
    assert found["paper"].tokens_in > 2 * found["paper-standard"].tokens_in


class Unasked:
    """A reranker that nothing may ask."""

    version = "unasked"

    def __init__(self, settings: RerankerSettings) -> None:
        pass

    async def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        raise AssertionError(query)


async def test_a_bill_encodes_no_sentences_and_asks_no_reranker_to_check_its_assumed_answers(
    rag: DiscoRAG, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nodes.backends.reranker_from", Unasked)
    counted = session(rag, tmp_path, suite("lay-summaries", systems=("paper", "paper-full-context"), parser="none"))
    assert all(bill.calls for bill in await counted.bill())
    corpus, store = await counted.corpus(rag), rag.backends.store
    chunks = [c for doc in corpus.known for c in store.chunks_of(rag.scope(corpus=corpus.name), doc)]
    assert chunks
    assert {chunk.unit_vectors for chunk in chunks} == {""}


BILL = Bill(
    system="written", questions=4, calls=12, tokens_in=1000, cached=600, tokens_out=330, stages={"relate": (1000, 330)}
)


def test_a_bill_scales_to_another_number_of_questions() -> None:
    # 10 / 4 = 2.5 times: 30, 2500, 1500, 825.
    scaled = {"calls": 30, "tokens_in": 2500, "cached": 1500, "tokens_out": 825, "stages": {"relate": (2500, 825)}}
    assert BILL.for_questions(10) == BILL.model_copy(update={"questions": 10, **scaled})
    assert BILL.for_questions(4) == BILL


def test_the_written_bill_holds_the_count_and_the_official_size(tmp_path: Path) -> None:
    write_bills(tmp_path / "new", "lay-summaries/1", [BILL], 8)
    written = json.loads((tmp_path / "new" / "bill.json").read_text("utf-8"))
    assert written["counted"] == [BILL.model_dump(mode="json")]
    assert written["official"] == [BILL.for_questions(8).model_dump(mode="json")]
    write_bills(tmp_path / "new", "lay-summaries/1", [BILL])
    assert json.loads((tmp_path / "new" / "bill.json").read_text("utf-8"))["official"] == []


async def test_the_trees_of_the_documents_are_billed_once_and_the_papers_question_takes_three_calls(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    with ScriptedServer(model()) as server:
        wanted = suite("lay-summaries", systems=("paper", "paper-standard"), parser="paper")
        counted = session(pipeline(llm=server.base_url), tmp_path, wanted)
        trees, paper, standard = await counted.bill()
        again = await counted.bill()
    assert again == [trees, paper, standard]
    assert server.requests == []
    assert (trees.system, trees.questions) == ("trees of the documents", 0)
    assert trees.calls > 3
    assert trees.for_questions(1000) == trees
    assert (paper.calls, standard.calls) == (3 * 3, 3)
    assert paper.tokens_in < 6 * standard.tokens_in


async def test_a_correction_is_billed_as_if_every_answer_needed_one(rag: DiscoRAG, tmp_path: Path) -> None:
    found = await bills(rag, tmp_path, "written", "written+correct=true")
    assert {name: (bill.calls, bill.at_most) for name, bill in found.items()} == {
        "written": (3, False),
        "written+correct=true": (6, True),
    }


async def test_batches_and_the_calls_that_merge_them_are_in_the_bill() -> None:
    counted = CountingModel(PackagedTokens(), LlmSettings(context_tokens=4096))
    outcome = await collect_statements(many(40), ReaderModel(model=counted, counter=PackagedTokens()))
    assert outcome.usage.calls > outcome.counts["batches"] > 1
    assert outcome.usage.tokens_out > 900
    assert outcome.failures == ()
