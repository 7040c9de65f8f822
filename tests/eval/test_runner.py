"""Runs over a toy benchmark: every answer once, resumable, and never a stand-in's answer for a model's."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from discorag.schema.errors import ModelUnavailableError
from eval.errors import NotScorableError
from eval.metrics.base import Given
from eval.running.record import Record
from tests.conftest import Pipelines
from tests.eval.helpers import answer_toy, toy
from tests.graphs.scripts import model, turn_of
from tests.servers.scripted import Body, Scripted, ScriptedServer

ABLATIONS = ["written", "written-no-relations", "written-no-plan", "written-standard"]
LOCAL = ["verbatim", "verbatim~random-trees", "standard", "lead"]
QUESTIONS = ("Does vitamin D prevent influenza?", "Did other trials see an effect of vitamin D?", "Who took vitamin D?")
DOWN = Scripted("The model is gone.", status=503)


class Length:
    """Words of the answer; one that names the moon cannot be scored; a question with "Who" does not apply."""

    name = "length"

    async def score(self, given: Given) -> float | None:
        if "Who" in given.sample.query:
            return None
        if "moon" in given.answer:
            raise NotScorableError("It names the moon.")
        return len(given.answer.split()) / 3


class Mortal:
    """A model that answers ``left`` calls and then fails."""

    def __init__(self, left: int) -> None:
        self.left = left
        self._alive = model()

    def __call__(self, body: Body) -> Scripted | str:
        self.left -= 1
        return self._alive(body) if self.left >= 0 else DOWN


def pairs(records: tuple[Record, ...]) -> list[tuple[str, str]]:
    return [(r.sample, r.system) for r in records]


def lines(home: Path) -> bytes:
    return (home / "run" / "samples.jsonl").read_bytes()


def turns(server: ScriptedServer) -> list[str]:
    return [turn_of(r) for r in server.requests]


# --- every answer once ----------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_every_system_answers_every_question_once(pipeline: Pipelines, tmp_path: Path, concurrency: int) -> None:
    names = ["verbatim~random-trees", "lead", "verbatim", "standard", "standard-hybrid", "full-context"]
    records = await answer_toy(pipeline(), tmp_path, toy(*QUESTIONS), names, concurrency=concurrency)
    assert Counter(pairs(records)) == Counter((f"q{i}", n) for i in (1, 2, 3) for n in names)
    assert [pairs((r,)) for r in records if r.error or not r.answer] == []


async def test_the_switches_of_a_system_reach_the_graph(pipeline: Pipelines, tmp_path: Path) -> None:
    names = [*ABLATIONS, "standard", "full-context", "verbatim"]
    with ScriptedServer(model()) as server:
        rag = pipeline(llm=server.base_url)
        found = {r.system: r for r in await answer_toy(rag, tmp_path, toy(QUESTIONS[0]), names)}
    engines = {n: {s.stage: s.engine for s in r.ledger.stages} for n, r in found.items()}
    plain = {"written-standard", "standard", "full-context"}
    assert {n for n, e in engines.items() if e.get("relate") == "off"} == plain
    assert {n for n, r in found.items() if r.plan} == {"written", "written-no-relations", "verbatim"}
    # Its own documents in their order, and nothing else.
    assert [p.doc for p in found["full-context"].evidence] == ["trial", "survey"]
    assert {p.doc for p in found["standard"].evidence} == {"trial", "survey", "tides"}
    # What switches a part off reads the passages of the whole system.
    assert len({found[name].evidence for name in ABLATIONS}) == 1


@pytest.mark.parametrize(("top_k", "read"), [(None, 3), (2, 2)])
async def test_passages_are_as_many_as_users_get_or_as_the_suite_says(
    pipeline: Pipelines, tmp_path: Path, top_k: int | None, read: int
) -> None:
    with ScriptedServer(model()) as server:
        rag, names = pipeline(llm=server.base_url), ["written", "written+top_k=1"]
        written, one = await answer_toy(rag, tmp_path, toy(QUESTIONS[0]), names, top_k=top_k)
    assert (len(written.evidence), len(one.evidence)) == (read, 1)
    counts = next(stage.counts for stage in written.ledger.stages if stage.stage == "rerank")
    assert counts == ({} if top_k else {"candidates": 3, "kept": 3})  # of up to 40, the best 20


async def test_lead_is_the_first_sentences_of_the_own_documents_without_headings(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    (record,) = await answer_toy(pipeline(), tmp_path, toy(QUESTIONS[0]), ["lead"])
    assert record.answer == (
        "Daily vitamin D lowered the incidence of influenza by 12 % in schoolchildren. "
        "However, other trials saw no effect of vitamin D on influenza at all."
    )
    assert [p.doc for p in record.used] == ["trial", "survey"]


# --- scores ---------------------------------------------------------------------------------------


async def test_an_unscorable_answer_is_counted_and_a_metric_that_does_not_apply_is_absent(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    script = model({"answer": "It is the moon [1]."})
    with ScriptedServer(script) as server:
        rag = pipeline(llm=server.base_url)
        records = await answer_toy(rag, tmp_path, toy(*QUESTIONS[::2]), ["standard", "lead"], metrics=[Length()])
    found = {(r.sample, r.system): r for r in records}
    assert found["q1", "standard"].scores == {}
    assert found["q1", "standard"].unscored == {"length": "It names the moon."}
    # Lead: 13 + 13 words; 26 / 3 = 8.6667.
    assert found["q1", "lead"].scores == {"length": 8.6667}
    assert all(r.scores == {} and r.unscored == {} for key, r in found.items() if key[0] == "q2")


# --- errors of one question -----------------------------------------------------------------------


async def test_a_question_that_cannot_be_asked_becomes_a_record_and_the_others_go_on(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    benchmark = toy("Does vitamin D " * 200 + "prevent flu?", QUESTIONS[0])
    records = await answer_toy(pipeline(), tmp_path, benchmark, LOCAL, metrics=[Length()])
    assert len(records) == 8
    failed = [r for r in records if r.error]
    assert Counter(pairs(tuple(failed))) == Counter(("q1", n) for n in LOCAL if n != "lead")
    assert all(r.error.startswith("QueryError: ") and r.answer == "" for r in failed)
    assert {r.scores["length"] for r in failed} == {0.0}  # no answer is a wrong answer, not a missing one


# --- the endpoint dies ----------------------------------------------------------------------------


@pytest.mark.parametrize("after", [0, 2, 4])
async def test_after_the_endpoints_death_the_same_run_goes_on(pipeline: Pipelines, tmp_path: Path, after: int) -> None:
    # One call for each system but the lead: six over both questions.
    names = ["written", "written-no-plan", "standard", "lead"]
    benchmark, mortal = toy(*QUESTIONS[:2]), Mortal(after)
    with ScriptedServer(mortal) as server:
        rag = pipeline(llm=server.base_url)
        with pytest.raises(ModelUnavailableError, match="run the same command again"):
            await answer_toy(rag, tmp_path, benchmark, names)
        before = lines(tmp_path)
        mortal.left = 100
        records = await answer_toy(rag, tmp_path, benchmark, names)
    assert lines(tmp_path).startswith(before)
    assert Counter(pairs(records)) == Counter((q, n) for q in ("q1", "q2") for n in names)
    assert not [f for r in records for f in r.ledger.failures]
    assert {s.engine for r in records for s in r.ledger.stages if s.stage == "generate"} == {"llm"}


@pytest.mark.parametrize(
    ("stage", "failure", "said"),
    [
        ("statements", DOWN, "unavailable"),
        ("statements", Scripted("Slow down.", status=429), "429 to the end"),
        ("answer", Scripted("No such key.", status=401), "refused the request"),
    ],
)
async def test_a_stand_ins_answer_is_never_recorded(
    pipeline: Pipelines, tmp_path: Path, stage: str, failure: Scripted, said: str
) -> None:
    with ScriptedServer(model({stage: failure})) as server, pytest.raises(ModelUnavailableError, match=said):
        await answer_toy(pipeline(llm=server.base_url), tmp_path, toy(QUESTIONS[0]), ABLATIONS)
    assert lines(tmp_path) == b""


# --- cancelled ------------------------------------------------------------------------------------


async def test_a_cancelled_run_goes_on_where_it_stopped(pipeline: Pipelines, tmp_path: Path) -> None:
    rag, benchmark, names = pipeline(), toy(*QUESTIONS), LOCAL
    task = asyncio.create_task(answer_toy(rag, tmp_path, benchmark, names, concurrency=2))
    while not (tmp_path / "run" / "samples.jsonl").is_file() or not lines(tmp_path):
        await asyncio.sleep(0.002)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    before = lines(tmp_path)
    assert 0 < before.count(b"\n") < 12
    records = await answer_toy(rag, tmp_path, benchmark, names)
    assert lines(tmp_path).startswith(before)
    assert Counter(pairs(records)) == Counter((f"q{i}", n) for i in (1, 2, 3) for n in names)


# --- one graph for all ablations ------------------------------------------------------------------


@pytest.mark.parametrize("cached", [False, True])
async def test_ablations_share_one_run_also_when_an_earlier_session_recorded_it(
    pipeline: Pipelines, tmp_path: Path, cached: bool
) -> None:
    mortal = Mortal(2)
    with ScriptedServer(mortal) as server:
        rag = pipeline(llm=server.base_url, cache=tmp_path / "cache" if cached else None)
        with pytest.raises(ModelUnavailableError):
            await answer_toy(rag, tmp_path, toy(QUESTIONS[0]), ABLATIONS)
        before = lines(tmp_path)
        assert before.count(b"\n") == 2
        server.requests.clear()
        mortal.left = 100
        records = await answer_toy(rag, tmp_path, toy(QUESTIONS[0]), ABLATIONS)
        # With a cache of replies, what was asked is not asked again; without one the whole system runs once more.
        paid = {"both": 1, "answer": 1} if cached else {"both": 2, "answer": 1}
        assert Counter(turns(server)) == Counter(paid)
    assert lines(tmp_path).startswith(before)
    assert pairs(records) == [("q1", n) for n in ABLATIONS]


async def test_a_question_without_documents_is_not_answered_from_those_of_others(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    benchmark = toy(QUESTIONS[0])
    bare = benchmark.model_copy(update={"samples": (benchmark.samples[0].model_copy(update={"documents": ()}),)})
    (record,) = await answer_toy(pipeline(), tmp_path, bare, ["full-context"])
    assert "no documents of its own" in record.error
