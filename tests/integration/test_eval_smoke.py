"""A short ``make eval-smoke`` on our own fixtures: the evaluation as a user runs it, against committed numbers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.eval.helpers import FIXTURES
from tests.eval.test_cli import call

ROOT = Path(__file__).parents[2]
SUITES = ("loong", "asqa")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("smoke")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "DISCO_RAG_DATA": str(FIXTURES)}
    command = [sys.executable, "-m", "eval", "run", *SUITES, "--limit", "2", "--pool", "chosen", "--out", "runs"]
    done = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return home


@pytest.mark.parametrize("suite", SUITES)
def test_the_committed_numbers_are_reproduced(home: Path, suite: str) -> None:
    assert "reproduced" in call("check", home / "runs" / suite, ROOT / f"eval/expected/smoke-{suite}.json")
