"""The demo as a newcomer runs it."""

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import EXAMPLES

ROOT = EXAMPLES.parent


def test_the_demo_answers_three_questions_and_reports_disagreement_only_where_there_is_one(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "demo.py")], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    vitamin, tides, handbook = done.stdout.split("─ tides: ")[0], *done.stdout.split("─ tides: ")[1].split("─ library")
    assert "The sources disagree" in vitamin
    assert "CONTRA" in vitamin
    assert "disagree" not in tides + handbook
    for part in (vitamin, tides, handbook):
        for section in ("characters", "Plan", "Rhetorical graph", "RST tree", "Ledger"):
            assert section in part
