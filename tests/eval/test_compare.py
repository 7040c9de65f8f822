from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from eval.errors import DataError
from eval.reporting.compare import Comparison, compare, comparison_tables
from eval.running.record import Lost, Record
from tests.eval.runs import write


def record(sample: str, system: str, em: float, **fields: object) -> Record:
    return Record.model_validate({"sample": sample, "system": system, "scores": {"em": em}, **fields})


def two_runs(tmp_path: Path) -> tuple[str, str]:
    new = [
        record("q1", "disco", 10, answer="new\x1b[31m answer", plan="contrast", lost=(Lost(label="g", stage="plan"),)),
        record("q2", "disco", 60),
        record("q3", "disco", 90),
        record("only-new", "disco", 0),
    ]
    old = [record("q3", "plain", 80), record("q2", "plain", 70), record("q1", "plain", 40, answer="old answer")]
    return f"{write(tmp_path / 'new', new)}:disco", f"{write(tmp_path / 'old', old, key='k2')}:plain"


def test_records_are_joined_by_sample_whatever_their_order(tmp_path: Path) -> None:
    found = compare(*two_runs(tmp_path)).metrics["em"]
    # 10 - 40, 60 - 70, 90 - 80: mean -10.
    assert (found.n, found.difference, found.wins, found.losses) == (3, pytest.approx(-10), 1, 2)


def test_largest_losses_come_first_with_what_led_to_them(tmp_path: Path) -> None:
    worst, second = compare(*two_runs(tmp_path)).regressions
    assert [r.answer[:3] for r in worst] == ["new", "old"]
    assert [r.sample for r in second] == ["q2", "q2"]


def test_samples_of_one_side_are_counted_shown_and_left_out(tmp_path: Path) -> None:
    found = compare(*two_runs(tmp_path))
    assert (found.shared, found.only_a, found.only_b) == (3, ("only-new",), ())
    assert "1 only in the first" in printed(found)


def test_samples_that_one_side_could_not_score_are_not_paired(tmp_path: Path) -> None:
    records = [record("q1", "a", 10), record("q2", "a", 20), record("q1", "b", 5)]
    records.append(Record(sample="q2", system="b", unscored={"em": "prose"}))
    folder = write(tmp_path, records)
    assert compare(f"{folder}:a", f"{folder}:b").metrics["em"].n == 1


def test_console_shows_statistics_and_regressions_without_control_characters(tmp_path: Path) -> None:
    text = printed(compare(*two_runs(tmp_path)))
    for expected in ("-10.00", "q1  -30.00", "answer: new [31m answer", "lost: 1 at plan"):
        assert expected in text
    assert "\x1b" not in text


def test_folder_with_two_systems_asks_for_one(tmp_path: Path) -> None:
    folder = write(tmp_path, [record("q1", "a", 1), record("q1", "b", 2)])
    with pytest.raises(DataError, match="one of a, b"):
        compare(str(folder), f"{folder}:a")
    with pytest.raises(DataError, match="one of a, b"):
        compare(f"{folder}:c", f"{folder}:a")


@pytest.mark.parametrize("changed", ["suite", "dataset"])
def test_other_suite_or_data_is_refused(tmp_path: Path, changed: str) -> None:
    changes: dict[str, Any] = {changed: "other"}
    one = write(tmp_path / "1", [record("q1", "a", 1)])
    two = write(tmp_path / "2", [record("q1", "a", 1)], **changes)
    with pytest.raises(DataError, match=f"{changed} differs"):
        compare(f"{one}:a", f"{two}:a")


def test_nothing_in_common_is_refused(tmp_path: Path) -> None:
    one = write(tmp_path / "1", [record("q1", "a", 1)])
    two = write(tmp_path / "2", [record("q2", "a", 1)])
    with pytest.raises(DataError, match="share no scored sample"):
        compare(f"{one}:a", f"{two}:a")
    with pytest.raises(DataError, match="share no metric f1"):
        compare(f"{one}:a", f"{one}:a", metric="f1")


def printed(comparison: Comparison) -> str:
    console = Console(width=200)
    with console.capture() as captured:
        console.print(comparison_tables(comparison))
    return captured.get()
