"""Experiments: their files, their states, and every one of them end to end with a scripted strong model."""

import asyncio
import csv
import json
import re
from collections.abc import Generator
from dataclasses import replace
from itertools import accumulate
from math import log
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from rich.console import Console

from discorag.config import LlmSettings, Settings, read_settings
from discorag.discourse.parse.trained.network import PACKAGED_FOLDER
from discorag.models.gateway import Gateway
from discorag.schema.errors import ConfigError, Usage
from discorag.schema.ledger import Ledger, StageRecord
from eval.errors import DataError
from eval.experiments.attention import Attention
from eval.experiments.definition import OTHERS, Experiment, Point, Printed, experiment_names, load_experiment, state
from eval.experiments.ratings import Thing, same_form, table_of_ratings, write_form
from eval.experiments.run import ExperimentRun
from eval.experiments.table import lines_of, markdown
from eval.metrics.base import MetricModels
from eval.running.record import Record
from eval.running.session import RETRIEVED_TREES, Place
from eval.sample import Sample
from nodes.backends import name_model
from tests.eval.helpers import FIXTURES
from tests.graphs import paper_scripts, scripts
from tests.servers.scripted import Body, ScriptedServer

FAST = ("disco-rag-figure-4", "raptor-table-9", "htsir-table-7")
"""With one setting each; the others run under ``make test-deep``."""
RUNNABLE = sorted({path.stem for path in OTHERS.parent.glob("*.yaml")} - {OTHERS.stem})


# --- files and states -----------------------------------------------------------------------------


ITEMS = {
    "Disco-RAG": "table 1-11, figure 1-2 3a 3b 3c 4-7 19, appendix D H",
    "DISRetrieval": "table 1-6, figure 4-7",
    "HTSIR": "table 1-9, figure 3",
    "RAPTOR": "table 1-10 12-21, figure 3-7, appendix E",
    "RDR2": "table 1-16, figure 1 4-8",
}
"""What each paper measures; other tables and figures are prompts and drawings."""


@pytest.mark.parametrize("paper", ITEMS)
def test_every_table_and_figure_of_the_papers_is_an_experiment_that_can_be_read(paper: str) -> None:
    found = [load_experiment(name) for name in experiment_names()]
    there = {item for e in found if e.item.startswith(f"{paper}, ") for item in _items(e.item.partition(", ")[2])}
    wanted = {item for group in ITEMS[paper].split(", ") for item in _items(group)}
    assert wanted - there == set()


def _items(text: str) -> set[str]:
    """``tables 1 and 3-4`` as ``{table 1, table 3, table 4}``."""
    kind, items = "", set[str]()
    for word in re.findall(r"[\w-]+", text):
        if word.rstrip("s") in ("table", "figure", "appendix", "appendice"):
            kind = word.rstrip("s")
        elif word != "and":
            first, _, last = word.partition("-")
            numbers = range(int(first), int(last) + 1) if last else [first]
            items |= {f"{kind} {number}" for number in numbers}
    return items


def test_the_state_says_what_is_lacking_and_from_where(tmp_path: Path) -> None:
    said = state(load_experiment("disco-rag-table-3"), tmp_path, has_model=False)
    assert said.startswith("needs data: scinews/test.json from huggingface.co/datasets/dongqi-me/SciNews")
    assert "an endpoint" in said
    assert "three raters" in state(load_experiment("disco-rag-table-5"), FIXTURES, has_model=True)
    assert "RST-DT" in state(load_experiment("disco-rag-table-7"), FIXTURES, has_model=True)
    assert state(load_experiment("controls-verbatim"), FIXTURES, has_model=False) == "runs here"
    assert "an endpoint" in state(load_experiment("worth"), FIXTURES, has_model=False)


def test_a_row_that_does_not_exist_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.experiments.definition.OTHERS", tmp_path / "others.yaml")
    (tmp_path / "others.yaml").write_text("{}", encoding="utf-8")
    (tmp_path / "x.yaml").write_text(
        "{name: x, item: i, about: a, suite: loong, rows: {A: standard}, reference: B}", encoding="utf-8"
    )
    with pytest.raises(ConfigError, match=r"x\.yaml has no rows \['B'\]"):
        load_experiment("x")
    with pytest.raises(ConfigError, match="There is no experiment 'y'"):
        load_experiment("y")


# --- the table ------------------------------------------------------------------------------------


def test_the_table_has_the_papers_numbers_and_corrects_p_for_the_number_of_comparisons() -> None:
    experiment = Experiment(
        name="x",
        item="table 0",
        about="made up",
        rows={"Ours": "a", "First": "b", "Second": "c"},
        reference="Ours",
        columns={"score": "m"},
        by=(("set",), ()),
        models=("8B", "70B"),
        printed=(Printed(row="First", values={"score": (1.5, None)}),),
    )
    samples = [Sample(id=str(i), query="q", strata={"set": str(i % 2)}) for i in range(8)]
    given = {"a": 50.0, "b": 40.0, "c": 50.0}
    records = [
        Record(sample=s.id, system=system, scores={"m": score + (int(s.id) if system == "b" else 0)})
        for s in samples
        for system, score in given.items()
    ]
    lines = lines_of(experiment, Point(), records, samples, seed=1)
    whole = {line.row: line for line in lines if not line.where}
    assert len(lines) == 9  # three rows in set 0, in set 1, in all
    assert whole["First"].gain
    assert (whole["First"].paper, whole["First"].ours, whole["First"].gain.difference) == (("1.5", "–"), 43.5, 6.5)
    assert whole["Ours"].gain is None
    table = markdown(experiment, lines, details=True)
    assert "| First | all | score | 1.5 / – | 43.50 | 8 | **+6.5 [" in table
    corrected = [float(p) for p in re.findall(r"\| (0\.\d{3}) \|$", table, re.MULTILINE)]
    raw = [line.gain.p for line in lines if line.gain and line.gain.p is not None]
    holm = accumulate(((3 - i) * p for i, p in enumerate(sorted(raw))), max)
    assert sorted(corrected) == pytest.approx(list(holm), abs=5e-4)


def test_the_table_is_laid_out_as_in_the_paper_and_every_cell_is_listed_on_demand() -> None:
    experiment = load_experiment("disco-rag-table-1")
    samples = [Sample(id=f"{s}{i}", query="q", strata={"set": s, "level": i}) for s in "12" for i in "1234"]
    scores = {"judge_score": 50.0, "judge_perfect": 0.0}
    records = [
        Record(sample=sample.id, system=system, scores=scores)
        for sample in samples
        for system in experiment.rows.values()
    ]
    lines = lines_of(experiment, Point(), records, samples, seed=1)
    table = markdown(experiment, lines, ["A remark."], reader="Llama")
    head, first, *_ = [line for line in table.splitlines() if line.startswith("|") and "--" not in line]
    tasks = ("Spot.", "Comp.", "Clus.", "Chain.", "Overall")
    assert head == "|  | " + " | ".join(f"{task} {m}" for task in tasks for m in ("LLM score", "EM x 100")) + " |"
    assert first.startswith("| Full context, paper: Llama-3.1-8B | 55.43 | – | 56.06 | – | 47.41 | 8 | 65.66 | 37 |")
    blocks = re.findall(r"^## (.*)$", table, re.MULTILINE)
    assert blocks == ["Set 1 (10K-50K tokens)", "Set 2 (50K-100K tokens)"]
    rows = [line.split(" | ")[0].strip("| ") for line in table.split("## ")[1].splitlines() if line.startswith("| ")][
        2:
    ]
    models = [f"paper: {model}" for model in experiment.models]
    assert rows == [
        *(f"Full context, {m}" for m in models),
        "Full context, ours: Llama",
        "Disco-RAG − Full context, ours",
        *(f"Standard RAG, {m}" for m in models),
        "Standard RAG, ours: Llama",
        "Disco-RAG − Standard RAG, ours",
        *(f"Disco-RAG, {m}" for m in models),
        "Disco-RAG, ours: Llama",
        "questions",
    ]
    assert "Every cell" not in table
    assert "Every cell" in markdown(experiment, lines, details=True)
    assert table.endswith("- A remark.\n")


def test_table_8_has_a_row_for_each_k_and_its_seconds_end_with_generation() -> None:
    experiment = load_experiment("disco-rag-table-8")
    seconds = {"retrieve": 1.0, "parse": 50.0, "relate": 2.0, "plan": 1.5, "generate": 3.0, "verify": 20.0}
    stages = tuple(
        StageRecord(stage=name, seconds=s, usage=Usage(tokens_in=100, calls=1)) for name, s in seconds.items()
    )
    sample = Sample(id="1", query="q")
    lines = [
        line
        for point in experiment.points
        for line in lines_of(
            experiment,
            point,
            [Record(sample="1", system=s, ledger=Ledger(stages=stages)) for s in experiment.systems_at(point).values()],
            [sample],
            seed=1,
        )
    ]
    table = markdown(experiment, lines, reader="Llama")
    columns = ("Standard RAG, tokens", "Disco-RAG, tokens", "Standard RAG, seconds", "Disco-RAG, seconds")
    assert f"|  | {' | '.join(columns)} |" in table
    assert "| k = 10, paper: Llama-3.3-70B | 3600 | 7900 | 7.6 | 9.8 |" in table
    assert "| k = 10, ours: Llama | 500.00 | 500.00 | 7.50 | 7.50 |" in table  # without parse; without parse and verify


# --- end to end -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that all experiments share: documents are ingested once."""
    return tmp_path_factory.mktemp("experiments")


@pytest.fixture(scope="module")
def model() -> Generator[ScriptedServer]:
    """A model that follows every prompt, the paper's and ours, and judges."""
    papers, ours = paper_scripts.model(), scripts.model()

    def respond(body: Body) -> Any:
        if scripts.turn_of(body) != "tree":
            return ours(body)
        if "[[" in json.dumps(body["messages"]):
            return "Rating: [[80]]"
        prompt = body["messages"][0]["content"]
        if "Check an answer against the passages" in prompt:
            return "It does [1]."
        if prompt.startswith("Find the passages of one document"):  # a router takes what it sees
            _, *lines = prompt.split("<document>\n")[-1].split("\n</document>")[0].split("\n")
            return "\n".join(f"[ANSWER] {line.strip()}" for line in lines if ": =" not in line) or "Cannot answer"
        if prompt.startswith("Answer the question from what you know."):
            return "An answer from memory."
        return papers(body)

    with ScriptedServer(respond) as server:
        yield server


def settings_of(server: ScriptedServer, home: Path) -> Settings:
    settings = name_model(read_settings(), f"{server.base_url}#scripted")
    return settings.model_copy(update={"llm": settings.llm.model_copy(update={"cache": home / "cache"})})


def prepared(name: str, server: ScriptedServer, home: Path, limit: int, **given: Any) -> ExperimentRun:
    judge = LlmSettings(base_url=server.base_url, model="judge", api_key=SecretStr("x"), cache=None)
    found = load_experiment(name)
    chunks = [p.settings.get("reading", {}).get("chunk_tokens", 0) for p in found.points]
    points = [p for p, size in zip(found.points, chunks, strict=True) if size <= 256]  # what the packaged encoder reads
    return ExperimentRun(
        experiment=found.model_copy(update={"points": tuple(points)}),
        settings=settings_of(server, home),
        place=Place(data=FIXTURES, home=home),
        models=MetricModels(judge=Gateway(judge)),
        out=home / "runs" / name,
        console=Console(quiet=True),
        limit=limit,
        **given,
    )


@pytest.mark.parametrize("name", [n if n in FAST else pytest.param(n, marks=pytest.mark.deep) for n in RUNNABLE])
def test_a_strong_model_runs_every_experiment(
    name: str, model: ScriptedServer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in {v for point in load_experiment(name).points for v in point.variables}:
        named = {"PARSER": str(PACKAGED_FOLDER), "DPR": "all-MiniLM-L6-v2 all-MiniLM-L6-v2"}
        monkeypatch.setenv(variable, named.get(variable.partition("_")[0], f"{model.base_url}#tuned"))
    needs_another_plan = "other-plan" in str(load_experiment(name).rows)
    columns = load_experiment(name).columns.values()
    attention = Attention(_tiny_model(home / "lm")) if "attention_entropy" in columns else None
    current = prepared(name, model, home, limit=2 if needs_another_plan else 1, attention=attention)
    table = current.run(concurrency=1)
    whole = (home / "runs" / name / "table.md").read_text("utf-8")
    assert not attention or re.search(r"attention entropy \| 3.72 \| \d\.\d\d \| 1 \|", whole)
    assert "error" not in table
    runs = [json.loads(p.read_text("utf-8")) for p in sorted((home / "runs" / name).glob("*/run.json"))]
    assert len(runs) == len(current.experiment.points)
    for run in runs:
        assert run["finished"]
        assert {
            s: (v["errors"], v["stood_in"]) for s, v in run["systems"].items() if v["errors"] or v["stood_in"]
        } == {}
    assert whole == current.run(concurrency=1, details=True)
    if "judge_score" in columns:
        assert "| 80.00 |" in table
    if current.experiment.form:
        forms = [form.read_text("utf-8") for form in current.write_forms()]
        assert len(forms) == len(current.experiment.points)
        assert all(form.count("1A") == 1 for form in forms)


def test_what_is_missing_and_the_bill_come_first_and_a_second_run_asks_nothing(
    model: ScriptedServer, home: Path
) -> None:
    current = prepared("disco-rag-table-9", model, home, limit=1)
    assert current.missing() == {}
    before = len(model.requests)
    bills = {bill.system: bill for bill in current.bill()}
    assert len(model.requests) == before
    calls = {name: bill.calls for name, bill in bills.items() if name != RETRIEVED_TREES}
    assert calls == {"paper-standard": 1, "markers": 2, "paper": 3}
    assert bills[RETRIEVED_TREES].calls > 0
    first = current.run(concurrency=1)
    asked = len(model.requests)
    assert current.run(concurrency=1) == first
    assert len(model.requests) == asked
    lacking = prepared("disco-rag-table-3", model, home, limit=1).missing()
    assert {"BERTScore", "SummaC-ZS"} <= lacking.keys()


def test_the_bill_of_what_structure_is_worth_counts_every_row_on_every_set_and_asks_nothing(
    model: ScriptedServer, home: Path
) -> None:
    sets = ["RAMDocs", "ConditionalQA", "Summary of a Haystack"]  # what is quick; the deep tests run all
    prepared_run = prepared("worth", model, home, limit=2)
    current = replace(prepared_run, experiment=prepared_run.experiment.narrow(sets))
    assert {*current.missing()} <= {"Loong's judge"}
    before = len(model.requests)
    bills = [bill for bill in current.bill() if bill.questions and not bill.system.startswith(RETRIEVED_TREES)]
    assert len(model.requests) == before
    rows = load_experiment("worth").rows.values()
    assert [bill.system for bill in bills] == [f"{s} ({p.label})" for p in current.experiment.points for s in rows]
    assert all(bill.calls and bill.tokens_in for bill in bills)


def test_what_structure_is_worth_is_run_and_resumed_with_every_system(model: ScriptedServer, home: Path) -> None:
    prepared_run = prepared("worth", model, home, limit=2)
    current = replace(prepared_run, experiment=prepared_run.experiment.narrow(["WikiContradict"]))
    bills = {bill.system.partition(" (")[0]: bill for bill in current.bill()}
    once = ["written", "written-no-relations", "written-no-plan", "written-standard", "standard"]
    assert bills.pop(RETRIEVED_TREES).calls > 0
    assert {name: bill.calls for name, bill in bills.items()} == {
        **dict.fromkeys(once, 2),  # one call for each of two questions
        **{f"written~{n}": 4 for n in ("two-calls", "only-statements", "relations-permuted", "other-plan")},
        **{f"paper{change}": 6 for change in ("", "~random-trees", "~edges-permuted")},
    }
    table = current.run(concurrency=1)
    run = json.loads((home / "runs" / "worth" / "WikiContradict" / "run.json").read_text("utf-8"))
    assert run["finished"]
    assert {*run["systems"]} == {*bills}
    assert not [name for name, system in run["systems"].items() if system["errors"] or system["stood_in"]]
    assert "| as printed − as printed, random trees, ours | " in table
    asked = len(model.requests)
    assert current.run(concurrency=1) == table
    assert len(model.requests) == asked


def test_a_row_may_be_compared_with_another_one_than_the_others() -> None:
    experiment = Experiment(
        name="x",
        item="controls",
        about="made up",
        rows={"Ours": "a", "Twice": "b", "Permuted": "c"},
        reference="Ours",
        against={"Permuted": "Twice"},
        columns={"score": "m"},
    )
    samples = [Sample(id=str(i), query="q") for i in range(4)]
    scores = {"a": 50.0, "b": 40.0, "c": 10.0}
    records = [Record(sample=s.id, system=name, scores={"m": m}) for s in samples for name, m in scores.items()]
    lines = lines_of(experiment, Point(), records, samples, seed=1)
    assert [(line.row, line.gain and line.gain.difference) for line in lines] == [
        ("Ours", None),
        ("Twice", 10.0),
        ("Permuted", 30.0),
    ]
    assert "| Twice − Permuted, ours | " in markdown(experiment, lines)
    assert "(Twice −)" in markdown(experiment, lines, details=True)


def test_training_prompts_have_the_structure_that_the_system_has(
    model: ScriptedServer, home: Path, tmp_path: Path
) -> None:
    found: dict[str, Any] = {}
    with prepared("disco-rag-table-3", model, home, limit=1).session(Point()) as session:
        for system in ("paper", "paper-standard"):
            assert asyncio.run(session.export(tmp_path / system, system)) == 1
            found[system] = json.loads((tmp_path / system).read_text("utf-8"))
        reference = session.benchmark.samples[0].references[0]
    for system, structured in (("paper", True), ("paper-standard", False)):
        assert found[system]["completion"] == [{"role": "assistant", "content": reference}]
        prompt = found[system]["prompt"][0]["content"]
        assert all((name in prompt) is structured for name in ("RST TREES:", "RHETORICAL GRAPH:", "PLAN:"))


# --- ratings --------------------------------------------------------------------------------------


def filled(form: Path, to: Path, values: dict[str, str]) -> Path:
    """A copy of the form with the values that its lines' texts are given."""
    with form.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    asked = [c for c in rows[0] if c not in ("id", "about", "text")]
    with to.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows([row | dict.fromkeys(asked, values[row["text"]]) for row in rows])
    return to


def test_forms_hide_whose_a_text_is_and_filled_ones_give_means_and_agreement(tmp_path: Path) -> None:
    things = [Thing(f"q{i}", "a paper", f"{whose} {i}", whose) for i in range(6) for whose in ("Ours", "Theirs")]
    form = write_form(tmp_path, "ratings", things, seed=3)
    assert "Ours" not in re.sub(r"(Ours|Theirs) \d", "", form.read_text("utf-8"))
    letters = json.loads((tmp_path / "key.json").read_text("utf-8"))["key"]
    assert {letters[f"{n}A"] for n in range(1, 7)} == {"Ours", "Theirs"}
    good = {t.text: "3" if t.whose == "Ours" else "1" for t in things}
    other = good | {"Theirs 0": "2"}
    forms = [filled(form, tmp_path / f"{i}.csv", v) for i, v in enumerate((good, good, other))]
    assert all(same_form(tmp_path, f) for f in forms)
    table = table_of_ratings(tmp_path, forms, "Ours")
    # Theirs: (17 x 1 + 2) / 18 = 1.06
    assert "| Ours | 3.00 | 3.00 | 3.00 | 3.00 |" in table
    assert "| Theirs | 1.06 (p 0.000)" in table
    assert "| Fleiss' kappa | 0.894 |" in table
    with pytest.raises(DataError, match="line 1A: Relevance is ''"):
        table_of_ratings(tmp_path, [form], "Ours")
    filled(form, form, good)
    with pytest.raises(DataError, match="is filled in"):
        write_form(tmp_path, "ratings", things, seed=3)


def test_no_text_becomes_a_formula_of_a_spreadsheet(tmp_path: Path) -> None:
    form = write_form(tmp_path, "acceptable", [Thing("q", "about", '=HYPERLINK("x")', "plan")], seed=1)
    assert "'=HYPERLINK" in form.read_text("utf-8")


# --- attention ------------------------------------------------------------------------------------


def test_attention_entropy_is_that_of_the_spread_over_what_was_read(tmp_path: Path) -> None:
    attention = Attention(_tiny_model(tmp_path))
    short, long = (attention.entropy("word " * n, "the answer") for n in (4, 200))
    # A model with zero weights attends evenly: ln of the number of tokens that a position sees.
    assert short == pytest.approx((log(4) + log(5)) / 2)
    assert long == pytest.approx(5.32, abs=0.05)


def _tiny_model(folder: Path) -> Path:
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "word": 1, "the": 2, "answer": 3}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast: Any = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]")
    fast.save_pretrained(folder)
    sizes: Any = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2}
    model: Any = LlamaForCausalLM(LlamaConfig(vocab_size=4, max_position_embeddings=512, **sizes))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    model.save_pretrained(folder)
    return folder
