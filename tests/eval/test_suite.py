from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.schema.errors import ConfigError
from eval.datasets.registry import LOADERS
from eval.metrics.base import MetricModels
from eval.metrics.registry import build
from eval.sample import Benchmark, Sample, SourceDocument
from eval.suite import Suite, System, choose, find_system, load_suite, narrow_to, suite_names, systems
from graphs.baselines import BASELINES
from nodes.context import AnswerContext
from tests.eval.helpers import suite

BODY = """
name: toy
version: 1
about: made up
dataset: nq-open-oracle
path: toy.jsonl
retrieval: pooled
systems: [verbatim, standard]
metrics: [exact_match]
main: [exact_match]
"""


def written(folder: Path, body: str) -> str:
    file = folder / "toy.yaml"
    file.write_text(body, encoding="utf-8")
    return str(file)


def samples(*strata: str) -> tuple[Sample, ...]:
    return tuple(
        Sample(id=f"q{i}", query="?", documents=(f"d{i}",), strata={"kind": s} if s else {})
        for i, s in enumerate(strata)
    )


# --- committed files ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", suite_names())
def test_a_committed_suite_names_systems_metrics_and_a_loader_that_exist(name: str) -> None:
    loaded = load_suite(name)
    assert loaded.name == name
    assert loaded.dataset in LOADERS
    metrics = build(loaded.metrics, MetricModels())
    assert {m.name for m in metrics.ready} | metrics.missing.keys() == set(loaded.metrics)
    assert set(loaded.main) <= set(loaded.metrics)
    assert len(set(loaded.systems)) == len(loaded.systems)


@pytest.mark.parametrize("system", systems().values(), ids=lambda s: s.name)
def test_the_switches_of_a_committed_system_are_switches_of_the_answer_graph(system: System) -> None:
    context = AnswerContext(**system.switches)
    assert all(getattr(context, k) == v for k, v in system.switches.items())
    assert system.again is None or system.switches
    assert system.baseline is None or system.baseline in BASELINES


# --- files that are wrong -------------------------------------------------------------------------


def test_a_suite_file_can_be_anywhere(tmp_path: Path) -> None:
    assert load_suite(written(tmp_path, BODY)).label == "toy/1"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (BODY + "colour: red\n", r"toy\.yaml: colour: Extra inputs"),
        (BODY.replace("retrieval: pooled", "retrieval: mine"), r"toy\.yaml: retrieval"),
        (BODY.replace("standard]", "fuller]"), r"There is no system 'fuller'.*auto, written"),
        (BODY.replace("main: [exact_match]", ""), r"toy\.yaml: main: Field required"),
        ("name: [", r"toy\.yaml is not YAML"),
        ("just text\n", r"toy\.yaml: Input should be"),
    ],
)
def test_a_mistake_in_a_suite_file_is_named(tmp_path: Path, changed: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_suite(written(tmp_path, changed))


@pytest.mark.parametrize("name", ["asqaa", "../suites/asqa.yml", "nowhere.yaml"])
def test_an_unknown_suite_is_named_with_those_there_are(name: str) -> None:
    with pytest.raises(ConfigError, match=r"no suite .*There are asqa, .*scinews"):
        load_suite(name)


def test_options_make_another_system_also_of_one_that_resumes_a_run_and_of_one_that_is_perturbed() -> None:
    assert find_system("raptor+node_scores=bm25+evidence_tokens=null").switches == {
        "preset": "raptor",
        "node_scores": "bm25",
        "evidence_tokens": None,
    }
    assert find_system("written-no-plan+top_k=10").of == "written+top_k=10"
    assert find_system("paper+top_k=5~noise@0.2").of == "paper+top_k=5"
    with pytest.raises(ConfigError, match=r"raptor\+colour=red: There is no option 'colour'"):
        find_system("raptor+colour=red")
    with pytest.raises(ConfigError, match="There is no retriever 'x'"):
        find_system("raptor+retriever=x")


# --- choosing questions ---------------------------------------------------------------------------


@given(
    strata=st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=1, max_size=40),
    limit=st.integers(1, 45),
    seed=st.integers(0, 3),
)
def test_a_limited_choice_is_repeatable_in_file_order_and_spread_evenly(
    strata: list[str], limit: int, seed: int
) -> None:
    all_of_them, wanted = samples(*strata), suite("asqa", limit=limit, spread=("kind",), seed=seed)
    chosen = choose(all_of_them, wanted)
    assert choose(all_of_them, wanted) == chosen
    assert len(chosen) == min(limit, len(strata))
    assert [s for s in all_of_them if s in chosen] == list(chosen)
    there, took = Counter(strata), Counter(s.strata.get("kind", "") for s in chosen)
    for stratum in there:
        if took[stratum] < there[stratum]:  # not used up, so none may have got two more
            assert max(took.values()) <= took[stratum] + 1


def test_another_seed_chooses_other_questions_and_other_strata_are_left_out_before() -> None:
    many = samples(*["a"] * 100)
    assert choose(many, suite("asqa", limit=10)) != choose(many, suite("asqa", limit=10, seed=14))
    only = suite("asqa", only={"kind": ("a", "b")}, limit=3)
    assert [s.id for s in choose(samples("a", "c", "b", "", "a"), only)] == ["q0", "q2", "q4"]


@pytest.mark.parametrize("limit", [5, 100_000])
def test_a_limit_that_takes_in_the_whole_file_asks_all_strata(limit: int) -> None:
    many, only = samples("a", "c", "b", "", "a"), {"kind": ("a", "b")}
    assert choose(many, suite("asqa", only=only, limit=limit)) == tuple(many)
    assert len(choose(many, suite("asqa", only=only))) == 3


@pytest.mark.parametrize(
    ("changes", "documents"),
    [
        ({"retrieval": "pooled", "pool": "all"}, {"d0", "d1", "d2", "stray"}),
        ({"retrieval": "pooled", "pool": "chosen"}, {"d0", "d2"}),
        ({"retrieval": "own", "pool": "all"}, {"d0", "d2"}),
    ],
)
def test_the_pool_says_whose_documents_are_kept(changes: dict[str, str], documents: set[str]) -> None:
    texts = {k: SourceDocument(id=k, title=k, text=k) for k in ("d0", "d1", "d2", "stray")}
    benchmark = Benchmark(name="toy", documents=texts, samples=samples("a", "b", "a"))
    wanted: Suite = suite("asqa", only={"kind": ("a",)}, **changes)
    cut = narrow_to(benchmark, wanted)
    assert [s.id for s in cut.samples] == ["q0", "q2"]
    assert set(cut.documents) == documents
