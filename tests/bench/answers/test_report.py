"""The result of the benchmark of answers: merging, writing, and the commit that it names."""

import json
import subprocess
from pathlib import Path

import pytest

from bench.answers.report import Result, flat, merge, read, write, write_outcomes
from bench.answers.scores import Outcome

ROOT = Path(__file__).parents[3]
ESTIMATE = {"value": 0.5, "low": 0.25, "high": 0.75}


def result(commit: str, **figures: object) -> Result:
    return Result(commit=commit, figures=figures)


def test_a_written_result_can_be_read(tmp_path: Path) -> None:
    written = result("a", clapnq={"auc": ESTIMATE, "answerable": 3, "simple": {"bm25": {"auc": ESTIMATE}}})
    write(tmp_path / "answers.json", written)
    assert read(tmp_path / "answers.json") == written
    assert read(tmp_path / "none.json") is None


def test_a_result_of_another_format_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text('{"package": "a", "figures": {}}', "utf-8")
    assert read(tmp_path / "old.json") is None


def test_figures_of_another_commit_are_not_kept() -> None:
    old, new = result("a", clapnq={"auc": None}, lint={"any": 3.0}), result("a", lint={"any": 2.0})
    assert merge(old, new).figures == {"clapnq": {"auc": None}, "lint": {"any": 2.0}}
    assert merge(result("b", clapnq={}), new) == new
    assert merge(None, new) == new


def test_an_estimate_is_one_figure() -> None:
    assert flat({"clapnq": {"auc": ESTIMATE, "answerable": 3}}) == {"clapnq.auc": ESTIMATE, "clapnq.answerable": 3}


def test_outcomes_are_written_by_run_and_question(tmp_path: Path) -> None:
    write_outcomes(tmp_path / "outcomes.jsonl", {"nq/own": {"q1": Outcome(answerable=True, refused=False)}})
    line = json.loads((tmp_path / "outcomes.jsonl").read_text("utf-8"))
    assert line == {"run": "nq/own", "id": "q1", "answerable": True, "refused": False}


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)


def test_the_committed_result_names_a_commit_of_the_history() -> None:
    found = read(ROOT / "bench/results/answers.json")
    assert found is not None
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("no git repository with its history")
    assert git("merge-base", "--is-ancestor", found.commit, "HEAD").returncode == 0, found.commit
