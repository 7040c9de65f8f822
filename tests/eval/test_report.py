"""The report of runs: scores with differences, losses, cost, strata, and what is missing."""

from pathlib import Path
from typing import Any

import pytest

from discorag.schema.errors import Usage
from discorag.schema.ledger import Failure, Ledger, StageRecord
from eval.errors import DataError
from eval.reporting.report import report
from eval.running.record import Record
from tests.eval.runs import write


def record(sample: str, system: str, em: float, **fields: Any) -> Record:
    return Record.model_validate({"sample": sample, "system": system, "scores": {"em": em}, **fields})


def better(folder: Path, **changes: Any) -> Path:
    """Four questions: ``plain`` 10, 20, 30, 40; ``disco`` each 5 more; ``noise`` 10 more or 10 less."""
    records = [record(f"q{i}", "plain", 10.0 * i) for i in range(1, 5)]
    records += [record(f"q{i}", "disco", 10.0 * i + 5) for i in range(1, 5)]
    records += [record(f"q{i}", "noise", 10.0 * i + (10 if i % 2 else -10)) for i in range(1, 5)]
    return write(folder, records, **changes)


def test_means_and_paired_differences_stand_in_the_table_and_only_sure_ones_are_bold(tmp_path: Path) -> None:
    lines = report([better(tmp_path / "run")]).splitlines()
    # plain: 100 / 4 = 25; disco: 30, every difference 5, so the interval is 5 to 5.
    assert "| plain | 25.0 |" in lines
    assert "| disco | 30.0 (**+5.0 [+5.0, +5.0]**) |" in lines
    assert any(line.startswith("| noise | 25.0 (+0.0 [-10.0, +10.0]) |") for line in lines)


def test_what_is_missing_and_failed_is_said(tmp_path: Path) -> None:
    failure = Failure(stage="plan", kind="InvalidOutputError", message="no", fallback="local")
    ledger = Ledger(stages=(StageRecord(stage="plan", usage=Usage(calls=1, tokens_in=9), failures=(failure,)),))
    records = [
        record("q1", "plain", 50.0),
        Record(sample="q1", system="disco", unscored={"em": "prose"}, ledger=ledger, error="QueryError: too long"),
    ]
    said = report([write(tmp_path / "run", records, finished=False, note="Judged by us.")])
    for part in (
        "Unfinished",
        "| disco | – |",
        "em: not computed. none of 1 answers could be scored",
        "disco: partly local: in 1 questions",
        "disco: 1 questions without an answer",
        "- Judged by us.",
    ):
        assert part in said, part


def test_a_run_without_systems_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no system yet"):
        report([write(tmp_path / "run", [])])
