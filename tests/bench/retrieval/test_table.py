"""Means, gains over flat sentences, the result file and the Markdown table."""

import json
from pathlib import Path

import pytest

from bench.retrieval.table import BASELINE, Budget, Scores, markdown, merged, over_budgets, read, rows, write
from discorag.types.errors import InvariantError


def scores(
    method: str, *values: float, budget: Budget = 200, dataset: str = "qmsum", encoder: str = "minilm"
) -> Scores:
    return Scores(
        dataset=dataset,
        half="development",
        method=method,
        encoder=encoder,
        budget=budget,
        metric="evidence_recall",
        values={f"q{i}": value for i, value in enumerate(values)},
    )


FLAT = scores(BASELINE, 40, 60, 20)


def test_a_gain_is_the_mean_difference_on_the_same_questions() -> None:
    shuffled = {"q2": 30.0, "q0": 50.0, "q1": 70.0}
    found = rows([FLAT, FLAT.model_copy(update={"method": "tree", "values": shuffled})])
    flat, mean, gain = found
    assert (flat.metric, flat.value, flat.n) == ("evidence_recall", 40, 3)
    assert (mean.metric, mean.value, mean.n) == ("evidence_recall", 50, 3)
    assert (gain.metric, gain.value, gain.low, gain.high, gain.n) == ("evidence_recall_gain", 10, 10, 10, 3)


def test_gains_can_be_counted_from_another_method() -> None:
    found = rows([FLAT, scores("tree", 50, 70, 30), scores("random", 45, 65, 25)], baseline="random")
    gains = {row.method: row.value for row in found if row.metric == "evidence_recall_gain"}
    assert gains == {BASELINE: -5, "tree": 5}


def test_an_interval_holds_its_mean_and_widens_with_the_spread() -> None:
    spread = scores("tree", *(0.0 if i % 2 else 100.0 for i in range(40)))
    flat = scores(BASELINE, *(50.0 for _ in range(40)))
    _, mean, gain = rows([flat, spread])
    assert mean.low is not None
    assert mean.high is not None
    assert 30 < mean.low < mean.value == 50 < mean.high < 70
    assert gain.low is not None
    assert gain.high is not None
    assert gain.low < gain.value == 0 < gain.high


def test_a_single_question_has_no_interval() -> None:
    _, mean, gain = rows([scores(BASELINE, 10), scores("tree", 30)])
    assert (mean.low, mean.high, gain.value, gain.low, gain.high) == (None, None, 20, None, None)


@pytest.mark.parametrize("flat", [[], [scores(BASELINE, 40, 60)], [scores(BASELINE, 1, 2, 3, encoder="mpnet")]])
def test_a_method_without_baseline_on_the_same_questions_is_refused(flat: list[Scores]) -> None:
    with pytest.raises(InvariantError, match=r"qmsum \(minilm, 200, evidence_recall\).*the questions of tree"):
        rows([*flat, scores("tree", 1, 2, 3)])


def test_over_all_budgets_each_question_counts_with_its_mean() -> None:
    [mean] = over_budgets([scores("tree", 10, 30), scores("tree", 20, 60, budget=300)])
    assert (mean.budget, mean.values) == ("all", {"q0": 15, "q1": 45})


def test_what_is_measured_again_replaces_and_the_rest_stays_beside_its_dataset() -> None:
    old = rows([FLAT, scores("tree", 50, 70, 30), scores(BASELINE, 10, dataset="nq")])
    new = rows([FLAT, scores("tree", 60, 80, 40), scores("windows", 20, 20, 20)])
    found = [(r.dataset, r.method, r.value) for r in merged(old, new) if r.metric == "evidence_recall"]
    assert found == [
        ("qmsum", BASELINE, 40),
        ("qmsum", "tree", 60),
        ("qmsum", "windows", 20),
        ("nq", BASELINE, 10),
    ]


def test_a_figure_over_fewer_questions_stands_in_a_column_of_its_own() -> None:
    few = rows([scores(BASELINE, 40, 60), scores("tree", 50, 70)])
    found = merged(rows([FLAT]), few)
    text = markdown(found, metric="evidence_recall", budget=200, half="development")
    assert "(n = 3)" in text
    assert "(n = 2)" in text
    assert "| tree | - | 60.0" in text


def test_budgets_with_different_questions_are_refused() -> None:
    with pytest.raises(InvariantError, match="tree on qmsum"):
        over_budgets([scores("tree", 10, 30), scores("tree", 20, budget=300)])


def test_the_result_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    found, path = rows([FLAT, scores("tree", 1, 2, 3.006)]), tmp_path / "results" / "retrieval.json"
    write(found, path)
    again = read(path)
    assert [(row.method, row.metric, row.n) for row in again] == [(row.method, row.metric, row.n) for row in found]
    assert again[1].value == round(found[1].value, 2) == 2
    keys = {"dataset", "half", "method", "encoder", "budget", "metric", "value", "low", "high", "n"}
    assert set(json.loads(path.read_text())["rows"][0]) == keys


def test_the_table_shows_means_and_gains_and_marks_the_sure_ones() -> None:
    found = rows(
        [
            FLAT,
            scores("tree", 50, 70, 30),
            scores("none", 40, 60, 20),
            scores(BASELINE, 7, dataset="nq", encoder="mpnet"),
        ]
    )
    assert markdown(found, metric="evidence_recall", budget=200, half="development") == (
        "| method | qmsum, minilm (n = 3) | nq, mpnet (n = 1) |\n"
        "| --- | ---: | ---: |\n"
        f"| {BASELINE} | 40.0 | 7.0 |\n"
        "| tree | 50.0 (**+10.0 [10.0, 10.0]**) | - |\n"
        "| none | 40.0 (+0.0 [0.0, 0.0]) | - |\n"
    )


def test_another_half_is_another_table() -> None:
    assert not markdown(rows([FLAT]), metric="evidence_recall", budget=200, half="held out")
