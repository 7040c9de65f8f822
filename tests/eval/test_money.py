"""Commands that may cost money: what they check, what they ask first, and how they stop; roles of models make a run."""

import json
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from discorag.config import LlmSettings, Settings, read_settings
from discorag.discourse.parse.trained.network import PACKAGED_FOLDER
from discorag.models.protocol import Message, Request
from discorag.schema.errors import ConfigError, MissingPathError, ModelError
from eval.__main__ import app
from eval.errors import BudgetSpentError, DataError
from eval.experiments.definition import OTHERS, load_experiment
from eval.experiments.run import ExperimentRun
from eval.metrics.base import MetricModels
from eval.options import check_models, models_of
from eval.running.bill import CountingModel
from eval.running.budget import Budget, MeteredModel
from eval.running.folder import load_run
from eval.running.runner import find_skipped
from eval.running.session import RETRIEVED_TREES, Place
from nodes.backends import name_model
from tests.conftest import Pipelines
from tests.eval.helpers import FIXTURES, session, suite
from tests.graphs import paper_scripts
from tests.servers.scripted import Body, Scripted, ScriptedServer

RUNNABLE = sorted({path.stem for path in OTHERS.parent.glob("*.yaml")} - {OTHERS.stem})

QUICK = ("disco-rag-table", "disretrieval-table-6", "htsir-table-5", "raptor-table-9", "rdr2")
"""Some of each paper; the others have their bills under ``make test-deep``."""


def respond(body: Body) -> Any:
    """A model that can do what the paper's prompts ask, and says that it is ready."""
    prompt = body["messages"][0]["content"]
    return paper_scripts.model()(body) if prompt.startswith(paper_scripts.HEADS) else "ready"


@pytest.fixture
def server() -> Generator[ScriptedServer]:
    with ScriptedServer(respond) as running:
        yield running


def call(*arguments: str | Path, status: int = 0) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == status, result.output + str(result.exception)
    return result.output


def failure(*arguments: str | Path) -> BaseException:
    """The error that ends a command."""
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exception is not None
    return result.exception


@pytest.fixture
def named(server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedServer:
    """The server, as the model of the settings."""
    monkeypatch.setenv("DISCO_RAG_MODEL", f"{server.base_url}#scripted")
    monkeypatch.setenv("DISCO_RAG_HOME", str(tmp_path / "settings"))
    return server


def answers(server: ScriptedServer) -> int:
    """Calls but those that check whether the model is ready."""
    return sum(r["messages"][0]["content"].startswith(paper_scripts.HEADS) for r in server.requests)


# --- the bill of every experiment -----------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n.startswith(QUICK) else pytest.mark.deep) for n in RUNNABLE],
)
def test_every_experiment_has_a_bill(name: str, bills_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = load_experiment(name)
    for variable in {v for point in found.points for v in point.variables}:
        values = {"PARSER": str(PACKAGED_FOLDER), "DPR": "all-MiniLM-L6-v2 all-MiniLM-L6-v2"}
        monkeypatch.setenv(variable, values.get(variable.partition("_")[0], "http://localhost:9/v1#tuned"))
    sizes = [p.settings.get("reading", {}).get("chunk_tokens", 0) for p in found.points]
    points = tuple(p for p, size in zip(found.points, sizes, strict=True) if size <= 256)  # MiniLM's window
    current = ExperimentRun(
        experiment=found.model_copy(update={"points": points}),
        settings=read_settings(),
        place=Place(data=FIXTURES, home=bills_home),
        models=MetricModels(),
        out=bills_home / "runs" / name,
        console=Console(quiet=True),
        limit=2 if "other-plan" in str(found.rows) else 1,
    )
    bills = current.bill()
    assert all(bill.calls > 0 for bill in bills)
    systems = {s for p in points for s in found.systems_at(p).values()}
    billed = {b.system.partition(" (")[0] for b in bills} - {RETRIEVED_TREES}
    assert billed == systems - find_skipped(list(systems), has_llm=True).keys()


@pytest.fixture(scope="module")
def bills_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents are embedded once for all bills."""
    return tmp_path_factory.mktemp("bills")


async def test_the_bill_has_a_routers_calls(pipeline: Pipelines, tmp_path: Path) -> None:
    wanted = session(pipeline(), tmp_path, suite("asqa-pages", systems=["rdr2"], limit=1))
    (bill,) = await wanted.bill()
    assert bill.calls >= 2  # a step of a router, and the answer


# --- a limit of questions, the pool, calls before the first answer --------------------------------


@pytest.mark.parametrize("name", ["disco-rag-table-1", "disco-rag-table-2", "disco-rag-table-3"])
def test_three_questions_of_the_papers_benchmarks_take_few_calls_which_the_bill_foretells(
    name: str, named: ScriptedServer, tmp_path: Path, record_property: Any
) -> None:
    begun: list[float] = []

    def first(body: Body) -> Any:
        begun.append(time.process_time())
        return respond(body)

    start = time.process_time()
    with ScriptedServer(first) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCO_RAG_MODEL", f"{server.base_url}#scripted")
        where = ("--home", tmp_path, "--data", FIXTURES, "--concurrency", "1")
        said = call("experiment", name, "--limit", "3", "--yes", *where)
        asked = answers(server)
    record_property("CPU seconds before the first call for an answer", begun[1] - start)
    assert asked <= 120
    bill = json.loads((tmp_path / "runs" / name / "bill.json").read_text("utf-8"))
    assert sum(b["calls"] for b in bill["counted"]) == pytest.approx(asked, rel=0.1)
    if name != "disco-rag-table-3":  # a closed set: each question has its own paper
        assert "documents of the questions at hand" in said


def test_the_official_pool_is_searched_if_it_is_named(tmp_path: Path) -> None:
    where = ("--limit", "1", "--system", "lead", "--home", tmp_path, "--data", FIXTURES)
    few, every = (
        " ".join(call("run", "asqa", *where, *p, "--out", tmp_path / "-".join(p)).split())
        for p in ((), ("--pool", "all"))
    )
    assert "documents of the questions at hand" in few
    assert "documents of all questions of the file" in every


# --- what is checked, and who is asked ------------------------------------------------------------


def test_nothing_is_asked_of_a_model_without_consent(named: ScriptedServer, tmp_path: Path) -> None:
    where = ("--limit", "1", "--home", tmp_path, "--data", FIXTURES)
    for command in (("experiment", "disco-rag-table-3"), ("run", "lay-summaries", "--system", "paper-standard")):
        error = failure(*command, *where)
        assert isinstance(error, ConfigError)
        assert "Add --yes" in str(error)
    assert answers(named) == 0
    assert not list(tmp_path.rglob("samples.jsonl"))


def test_a_missing_model_or_missing_data_is_reported_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = ("--yes", "--home", tmp_path / "home")
    error = failure("experiment", "disco-rag-table-3", "--data", FIXTURES, *where)
    assert isinstance(error, ConfigError)
    assert "Every row needs a language model" in str(error)
    (tmp_path / "data").mkdir()
    error = failure("experiment", "disco-rag-table-3", "--data", tmp_path / "data", *where)
    assert isinstance(error, MissingPathError)
    assert "scinews/test.json" in str(error)
    assert "huggingface.co/datasets/dongqi-me/SciNews" in str(error)
    monkeypatch.setenv("DISCO_RAG_DATA", str(tmp_path / "nowhere"))
    assert "is not a folder" in str(failure("experiment", "disco-rag-table-3", *where))
    assert not (tmp_path / "home").exists()


async def test_each_model_is_asked_for_a_word_and_one_that_refuses_is_named(server: ScriptedServer) -> None:
    settings = name_model(read_settings(), f"{server.base_url}#reader")
    router = f"{server.base_url}#router"
    with_router = settings.model_copy(update={"models": settings.models.model_copy(update={"router": router})})
    assert [m.model for m in models_of(with_router)] == ["reader", "router"]
    await check_models(models_of(with_router))
    assert sorted(r["model"] for r in server.requests) == ["reader", "router"]
    with (
        ScriptedServer(lambda _: Scripted("wrong key", status=401)) as refusing,
        pytest.raises(ModelError, match=r"The model judge at .* does not answer"),
    ):
        await check_models([LlmSettings(base_url=refusing.base_url, model="judge")])


# --- limits ---------------------------------------------------------------------------------------


def test_a_run_stops_at_its_limit_of_calls_and_goes_on_where_it_was(named: ScriptedServer, tmp_path: Path) -> None:
    command = ("run", "lay-summaries", "--system", "paper-standard", "--yes", "--home", tmp_path, "--data", FIXTURES)
    error = failure(*command, "--max-calls", "2", "--concurrency", "1")
    assert isinstance(error, BudgetSpentError)
    assert answers(named) == 2
    folder = tmp_path / "runs" / "lay-summaries"
    assert len(load_run(folder)[1]) == 2
    call(*command)
    assert (answers(named), load_run(folder)[0].finished) == (3, True)


async def test_tokens_are_limited_too(pipeline: Pipelines) -> None:
    budget = Budget(max_tokens=20)
    model = MeteredModel(CountingModel(pipeline().backends.encoder.tokens), budget)
    request = Request(stage="generate", messages=(Message(role="user", content="Say it."),), parse=str)
    await model.complete(request)
    assert budget.usage.total > 20
    with pytest.raises(BudgetSpentError, match="limit of 20 tokens"):
        await model.complete(request)
    assert budget.usage.calls == 1


# --- what makes a run -----------------------------------------------------------------------------


GOOD, OTHER = "http://localhost:9/v1#good", "http://localhost:9/v1#other"


def _with(settings: Settings, change: dict[str, Any]) -> Settings:
    return Settings.model_validate({**dict(settings), **change})


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"models": {"router": OTHER}}, "router model was good, is other"),
        (
            {"models": {"router": GOOD, "summariser": OTHER}},
            "summariser model was not set, is other",
        ),
        ({"models": {"router": GOOD, "judge": OTHER}}, "judge model was not set"),
        ({"models": {"router": GOOD}, "trees": {"tau": 7}}, "other options"),
    ],
)
async def test_another_role_or_tau_is_another_run(
    pipeline: Pipelines, tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    rag, lead = pipeline(), suite("lay-summaries", systems=["lead"], metrics=["rougeL"], main=["rougeL"])
    rag.backends.settings = _with(rag.backends.settings, {"models": {"router": GOOD}})
    first = await session(rag, tmp_path, lead).run(tmp_path / "run", concurrency=1)
    rag.backends.settings = _with(rag.backends.settings, change)
    other = session(rag, tmp_path, lead)
    with pytest.raises(DataError, match=named):
        await other.run(tmp_path / "run", concurrency=1)
    folder = other.free_folder(tmp_path / "run")
    assert folder != tmp_path / "run"
    assert (await other.run(folder, concurrency=1)).key != first.key
    assert other.free_folder(tmp_path / "run") == folder
    assert load_run(tmp_path / "run")[0].key == first.key
