"""What the README shows is run as it stands."""

import os
import re
import subprocess
import sys
from pathlib import Path

from nodes.context import AnswerContext
from tests.conftest import EXAMPLES

ROOT = EXAMPLES.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_python_example_runs_and_prints_sources_and_disagreements(tmp_path: Path) -> None:
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(code) == 1
    assert len(code[0].splitlines()) <= 10
    env = {**os.environ, "PYTHONPATH": str(ROOT), "DISCO_RAG_STORE__PATH": str(tmp_path / "store")}
    done = subprocess.run(
        [sys.executable, "-c", code[0]], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    assert "The Harlow Winter Trial" in done.stdout
    assert "CONTRA" in done.stdout


def test_the_table_of_switches_names_every_switch_and_no_other() -> None:
    table = README.split("## Switches")[1].split("## ")[0]
    named = set(
        re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in table.splitlines() if row.startswith("| `")))
    )
    assert named == AnswerContext.model_fields.keys() - {"resources", "tenant", "corpus"}
