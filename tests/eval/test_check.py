import json
from pathlib import Path
from typing import Any

import pytest

from discorag.schema.errors import MissingPathError
from eval.errors import DataError
from eval.reporting.check import check, write_expected
from eval.running.record import Record
from tests.eval.runs import write


def run(folder: Path, **changes: Any) -> Path:
    # em: (40 + 60) / 2 = 50.
    records = [Record(sample=f"q{i}", system="disco", scores={"em": em}) for i, em in enumerate((40.0, 60.0))]
    return write(folder, records, **changes)


def expected(folder: Path, **changes: Any) -> Path:
    content = {
        "suite": "toy/1",
        "dataset": "toy (development split, subset)",
        "n": 2,
        "systems": {"disco": {"em": {"value": 50.1, "tolerance": 0.1}}},
        **changes,
    }
    file = folder / "expected.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def test_values_within_tolerance_pass_and_missing_ones_and_another_number_of_questions_deviate(tmp_path: Path) -> None:
    folder = run(tmp_path)
    assert check(folder, expected(tmp_path)) == []
    want = {"value": 0, "tolerance": 100}
    found = check(folder, expected(tmp_path, systems={"plain": {"em": want}, "disco": {"f1": want}}))
    assert [deviation.partition(",")[0] for deviation in found] == ["plain/em: missing", "disco/f1: missing"]
    assert check(folder, expected(tmp_path, n=3)) == ["n: 2, expected 3"]


@pytest.mark.parametrize("value", [50.2, 49.8])
def test_value_outside_tolerance_is_a_deviation(tmp_path: Path, value: float) -> None:
    systems = {"disco": {"em": {"value": value, "tolerance": 0.1}}}
    (found,) = check(run(tmp_path), expected(tmp_path, systems=systems))
    assert found == f"disco/em: 50, expected {value} ± 0.1"


def test_unfinished_run_is_not_checked(tmp_path: Path) -> None:
    folder = run(tmp_path, finished=False)
    with pytest.raises(DataError, match="unfinished"):
        check(folder, expected(tmp_path))
    with pytest.raises(DataError, match="unfinished"):
        write_expected(folder, tmp_path / "e.json")


@pytest.mark.parametrize("field", ["suite", "dataset"])
def test_expectations_of_another_suite_are_refused(tmp_path: Path, field: str) -> None:
    with pytest.raises(DataError, match=f"{field} differs"):
        check(run(tmp_path), expected(tmp_path, **{field: "other"}))


def test_broken_and_missing_files_are_named(tmp_path: Path) -> None:
    folder = run(tmp_path)
    with pytest.raises(MissingPathError, match=r"nowhere\.json"):
        check(folder, tmp_path / "nowhere.json")
    broken = expected(tmp_path, systems={"disco": {"em": {"value": 1, "tolerance": -1}}})
    with pytest.raises(DataError, match=r"systems\.disco\.em\.tolerance"):
        check(folder, broken)
