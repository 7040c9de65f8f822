"""Result files and intervals."""

import json
from pathlib import Path

import numpy as np
import pytest

from bench import report
from bench.stats import auc, estimate, mean, refused_at

ESTIMATE = {"value": 0.9, "low": 0.8, "high": 1.0}


def test_keys_of_the_same_commit_stay_and_those_of_another_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "package_version", lambda: "a")
    file = tmp_path / "results" / "answers.json"
    report.write(file, {"clapnq": {"auc": ESTIMATE, "answerable": 3}})
    assert report.write(file, {"f1": None}).figures.keys() == {"clapnq", "f1"}
    assert json.dumps(ESTIMATE) in file.read_text("utf-8")
    monkeypatch.setattr(report, "package_version", lambda: "b")
    assert report.write(file, {"f1": None}).model_dump() == {"commit": "b", "figures": {"f1": None}}


def test_the_table_has_a_row_for_each_figure_with_its_interval() -> None:
    shown = report.table({"clapnq": {"auc": ESTIMATE, "answerable": 3}})
    assert [list(column.cells) for column in shown.columns] == [
        ["clapnq.auc", "clapnq.answerable"],
        ["0.9", "3"],
        ["0.8 to 1.0", ""],
    ]


def test_an_interval_holds_the_value_and_shrinks_with_more_questions_of_either_kind() -> None:
    few, many = mean([0.0, 1.0] * 10), mean([0.0, 1.0] * 1000)
    assert few["low"] < few["value"] == 0.5 < few["high"]
    assert many["high"] - many["low"] < few["high"] - few["low"]
    assert mean([0.25] * 20) == {"value": 0.25, "low": 0.25, "high": 0.25} == mean([0.25])
    found = estimate(auc, np.array([0.9, 0.8, 0.4]), np.array([0.5, 0.5]))
    assert found["value"] == pytest.approx(2 / 3, abs=1e-4)
    assert 0 <= found["low"] <= found["value"] <= found["high"] <= 1


def test_the_threshold_refuses_no_more_of_the_answerable_than_is_allowed() -> None:
    positive, negative = np.arange(10) / 10, np.array([0.05, 0.09, 0.1, 0.5])
    assert refused_at(positive, negative, allowed=0.1) == 0.5
    assert refused_at(positive, negative, allowed=0.0) == 0.0
