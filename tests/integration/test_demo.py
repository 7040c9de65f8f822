"""The demo as a newcomer runs it."""

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import EXAMPLES


def test_the_demo_answers_three_questions_and_reports_disagreement_only_where_there_is_one(tmp_path: Path) -> None:
    here = tmp_path / "empty"
    here.mkdir()
    own = {"PYTHONPATH": str(EXAMPLES.parent), "XDG_DATA_HOME": str(tmp_path / "data"), "COLUMNS": "80"}
    environment = {name: value for name, value in os.environ.items() if name != "DISCO_RAG_HOME"} | own
    command = [sys.executable, "-m", "discorag", "demo", "--no-page"]
    printed = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, check=True).stdout
    vitamin, tides, handbook = printed.split("─ tides: ")[0], *printed.split("─ tides: ")[1].split("─ library")
    assert "The sources disagree" in vitamin
    assert "Plan" in vitamin
    assert "disagree" not in tides + handbook.split("Stored in")[0]
    assert all("[1] " in part and "characters" in part for part in (vitamin, tides, handbook))
    assert max(map(len, printed.split("Stored in")[0].splitlines())) <= 80
    assert (tmp_path / "data" / "disco-rag" / "store" / "documents.sqlite").is_file()
    assert not list(here.iterdir())
