"""The demo as a newcomer runs it."""

import runpy
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES


def test_the_demo_answers_three_questions_and_reports_disagreement_only_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    runpy.run_path(str(EXAMPLES / "demo.py"), run_name="__main__")
    printed = capsys.readouterr().out
    vitamin, tides, handbook = printed.split("─ tides: ")[0], *printed.split("─ tides: ")[1].split("─ library")
    assert "The sources disagree" in vitamin
    assert "CONTRA" in vitamin
    assert "disagree" not in tides + handbook
    for part in (vitamin, tides, handbook):
        for section in ("characters", "Plan", "Rhetorical graph", "RST tree", "Ledger"):
            assert section in part
