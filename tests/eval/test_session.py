"""Sessions over the fixtures: the run folder, what it may be resumed with, what it says and what it must not say."""

import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from discorag import DiscoRAG
from discorag.schema.errors import ConfigError, MissingPathError
from eval.errors import DataError
from eval.reporting import tables
from eval.reporting.report import report
from eval.running.folder import load_run
from eval.running.nodes import node_statistics
from eval.running.record import Run
from eval.suite import Suite
from tests.conftest import Pipelines
from tests.eval.datasets.official import changed
from tests.eval.helpers import FIXTURES, session, suite
from tests.graphs import paper_scripts
from tests.models.helpers import gateway
from tests.servers.scripted import ScriptedServer

LEAD = suite("lay-summaries", systems=["lead"], metrics=["rougeL"], main=["rougeL"])
LOONG = suite("loong", systems=["lead"], metrics=["judge_score", "document_recall@10"], main=["judge_score"])


@pytest.fixture
def rag(pipeline: Pipelines) -> DiscoRAG:
    return pipeline()


async def run(rag: DiscoRAG, home: Path, wanted: Suite = LEAD, **options: Any) -> Run:
    return await session(rag, home, wanted, **options).run(home / "run", concurrency=2)


# --- a whole run ----------------------------------------------------------------------------------


@pytest.mark.parametrize("top_k", [1, 50])
async def test_a_question_over_its_own_documents_gets_these_and_no_more_chunks_than_wanted(
    rag: DiscoRAG, tmp_path: Path, top_k: int
) -> None:
    wanted = suite("lay-summaries", systems=["standard", "full-context", "lead"], metrics=["rougeL"], top_k=top_k)
    await run(rag, tmp_path, wanted)
    records = load_run(tmp_path / "run")[1]
    assert {p.doc for r in records for p in r.evidence if p.doc != r.sample} == set()  # a paper has its question's id
    chunks = {(r.sample, r.system): len(r.evidence) for r in records}
    for sample in {r.sample for r in records}:
        assert chunks[sample, "full-context"] > 1
        assert chunks[sample, "standard"] == min(top_k, chunks[sample, "full-context"])


async def test_a_published_run_holds_no_path_no_host_and_no_text_of_the_data(
    rag: DiscoRAG, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCO_RAG_DATA", str(FIXTURES))
    wanted = suite("lay-summaries", limit=1, systems=["verbatim", "lead", "paper-standard"])
    models = {m: tmp_path / "models" / m for m in ("bertscore", "summac")}
    done = await run(rag, tmp_path, wanted, **models)
    assert done.systems["verbatim"].missing["bertscore"].startswith("bertscore holds no model")
    published = (tmp_path / "run" / "run.json").read_text("utf-8") + report([tmp_path / "run"])
    for private in (str(tmp_path), str(FIXTURES), str(Path.home()), str(Path.cwd()), socket.gethostname()):
        assert private not in published
    record = next(r for r in load_run(tmp_path / "run")[1] if r.system == "verbatim")
    texts = [*record.answer.split(". "), record.plan[:40], session(rag, tmp_path, wanted).benchmark.samples[0].query]
    assert len(texts) > 3
    assert not [t for t in texts if len(t) < 20 or t in published]


async def test_a_judges_prose_is_counted_and_left_out_of_the_mean(rag: DiscoRAG, tmp_path: Path) -> None:
    with ScriptedServer(["Rating: [[80]]", "A fine answer.", "So be it.", "Rating: [[20]]"]) as server:
        done = await run(rag, tmp_path, LOONG, judge=gateway(server))
        assert len(server.requests) == 4
    # (80 + 20) / 2 = 50; zeros for the prose would make it 25.
    judged = done.systems["lead"].metrics["judge_score"]
    assert (judged.mean, judged.n, judged.unscored) == (50.0, 2, 2)
    assert "not comparable" in done.note
    records = load_run(tmp_path / "run")[1]
    assert sum("prose" in r.unscored.get("judge_score", "") for r in records) == 2


async def test_systems_that_need_a_model_are_run_only_where_there_is_one(pipeline: Pipelines, tmp_path: Path) -> None:
    wanted = suite("lay-summaries", limit=1, systems=["lead", "paper-standard"], metrics=["rougeL"])
    done = await run(pipeline(), tmp_path, wanted)
    assert list(done.systems) == ["lead"]
    assert "DISCO_RAG_MODEL" in done.skipped["paper-standard"]
    assert done.finished
    with ScriptedServer(paper_scripts.model()) as server:
        with_model = await run(pipeline(llm=server.base_url, name="other"), tmp_path / "other", wanted)
    assert list(with_model.systems) == ["lead", "paper-standard"]
    assert with_model.skipped == {}
    assert with_model.systems["paper-standard"].calls == 1
    assert "Write a lay summary of the study" in json.dumps(server.requests[0]["messages"])


# --- resuming -------------------------------------------------------------------------------------


async def test_the_same_run_goes_on_and_adds_up_its_seconds(rag: DiscoRAG, tmp_path: Path) -> None:
    first = await run(rag, tmp_path)
    samples = tmp_path / "run" / "samples.jsonl"
    whole = samples.read_bytes()
    cut = whole[: whole.index(b"\n") + 1]
    samples.write_bytes(cut)
    again = await run(rag, tmp_path)
    assert samples.read_bytes().startswith(cut)
    assert again.systems["lead"].metrics == first.systems["lead"].metrics
    assert again.seconds >= first.seconds
    assert again.key == first.key


async def test_a_run_that_is_cut_off_says_so_and_keeps_what_it_has(pipeline: Pipelines, tmp_path: Path) -> None:
    wanted = suite("lay-summaries", systems=["lead", "standard"], metrics=["rougeL"])
    with ScriptedServer([]) as server, pytest.raises(Exception, match="run the same command again"):
        await session(pipeline(llm=server.base_url), tmp_path, wanted).run(tmp_path / "run", concurrency=1)
    cut, records = load_run(tmp_path / "run")
    assert not cut.finished
    assert [r.system for r in records] == ["lead"]
    assert cut.systems["lead"].metrics["rougeL"].n == 1
    assert cut.systems["standard"].metrics == {}


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"systems": ["standard", "lead"]}, ()),
        ({"metrics": ["rougeL", "sari"]}, ()),
        ({}, (0, "sections", 0, 0)),
        ({}, (0, "summary", 0)),
    ],
)
async def test_another_suite_or_data_is_not_mixed_into_a_folder(
    rag: DiscoRAG, tmp_path: Path, changes: dict[str, Any], place: tuple[str | int, ...]
) -> None:
    done = await run(rag, tmp_path)
    before = (tmp_path / "run" / "samples.jsonl").read_bytes()
    data = tmp_path / "data" if place else FIXTURES
    if place:
        (data / "lay_summaries").mkdir(parents=True)
        changed("lay-summaries", data / "lay_summaries", place, "Other words.")
    with pytest.raises(DataError, match="holds another run"):
        await run(rag, tmp_path, Suite.model_validate({**LEAD.model_dump(), **changes}), data=data)
    assert load_run(tmp_path / "run")[0] == done
    assert (tmp_path / "run" / "samples.jsonl").read_bytes() == before


async def test_a_run_is_not_finished_with_another_model_or_another_judge(pipeline: Pipelines, tmp_path: Path) -> None:
    await run(pipeline(), tmp_path, LOONG)
    with ScriptedServer(lambda body: "Rating: [[1]]") as server:
        with pytest.raises(DataError, match="holds another run"):
            await run(pipeline(name="judged"), tmp_path, LOONG, judge=gateway(server))
        with pytest.raises(DataError, match="holds another run"):
            await run(pipeline(name="modelled", llm=server.base_url), tmp_path, LOONG)


# --- Disco-RAG as printed -------------------------------------------------------------------------

PAPER = suite(
    "lay-summaries", limit=1, parser="paper", systems=["paper-standard", "paper"], metrics=["rougeL"], main=["rougeL"]
)


async def test_a_suite_is_ingested_with_the_papers_parser_and_its_trees_cost_a_question_nothing(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    with ScriptedServer(paper_scripts.model()) as server:
        done = await run(pipeline(llm=server.base_url), tmp_path, PAPER)
        asked = [paper_scripts.name_of(r) for r in server.requests if r["messages"][0]["role"] == "user"]
    assert done.finished
    assert done.versions["parser"].startswith("paper:")
    assert asked.index("graph") > max(i for i, name in enumerate(asked) if name == "tree")
    assert (done.systems["paper"].label, done.systems["paper"].calls, done.note) == ("", 3 * done.n, "")


async def test_a_system_that_the_local_engines_answered_in_part_is_labelled_so_in_its_scores(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    with ScriptedServer(paper_scripts.model({"graph": "No.", "tree": "No."})) as server:
        done = await run(pipeline(llm=server.base_url), tmp_path, PAPER)
    assert done.systems["paper"].stood_in == {"parse": done.n, "relate": done.n}
    assert done.systems["paper"].label.startswith(f"partly local: in {done.n} questions")
    assert re.match(r"At ingest the local parser stood in for \d+ trees\.", done.note)
    console = Console(width=300)
    with console.capture() as printed:
        console.print(tables.run(done, ["rougeL"]))
    assert "paper (partly local)" in printed.get()
    assert "partly local: in" in report([tmp_path / "run"])


async def test_statistics_of_nodes_are_those_of_the_trees_and_of_what_questions_retrieve(
    rag: DiscoRAG, tmp_path: Path
) -> None:
    wanted = session(rag, tmp_path, suite("narrativeqa", limit=2))
    found = await node_statistics(wanted, "bisection", evidence_words=50)
    assert found["children of an inner node"] == 2
    assert found["% of chosen nodes on layer 0"] == 100  # algorithm 1 gives leaves
    assert 0 < found["% of the best 20 nodes above leaves"] < 100
    assert found["words of an inner node"] > found["words of a leaf"]
    with pytest.raises(ConfigError, match="has no trees"):
        await node_statistics(wanted, "dense")


# --- what cannot be run ---------------------------------------------------------------------------


def test_what_cannot_be_run_is_an_error_before_anything_is_written(rag: DiscoRAG, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no metric 'bleu'"):
        session(rag, tmp_path, suite("lay-summaries", metrics=["bleu"]))
    with pytest.raises(ConfigError, match="no loader for 'squad'"):
        session(rag, tmp_path, suite("lay-summaries", dataset="squad"))
    with pytest.raises(MissingPathError, match="python -m eval data"):
        session(rag, tmp_path, suite("lay-summaries"), data=tmp_path)
    with pytest.raises(DataError, match="holds no question"):
        session(rag, tmp_path, suite("loong", only={"type": ["legal"]}, limit=None))
    assert list(tmp_path.iterdir()) == []
