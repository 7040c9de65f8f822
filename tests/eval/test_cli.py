"""The command line over the fixtures, with the real store on disk."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.__main__ import app, main
from eval.suite import suite_names, systems
from tests.eval.helpers import FIXTURES

SYSTEMS = ("lead", "standard")


def call(*arguments: str | Path, status: int = 0) -> str:
    """A command that ends with this status; what it printed."""
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == status, result.output + str(result.exception)
    return result.output


def failing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> str:
    """The one line that a command of the entry point fails with."""
    monkeypatch.setattr(sys, "argv", ["eval", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    return line


def run(home: Path, *arguments: str | Path) -> str:
    chosen = [a for s in SYSTEMS for a in ("--system", s)]
    return call("run", "lay-summaries", "--limit", "2", *chosen, "--home", home, "--data", FIXTURES, *arguments)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a finished run of two questions and two systems."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        said = run(home)
    for part in ("lay-summaries/1", "n = 2", "rougeLsum", "bertscore: not computed", *SYSTEMS):
        assert part in said
    return home


@pytest.fixture
def folder(home: Path) -> Path:
    return home / "runs" / "lay-summaries"


# --- list, run ------------------------------------------------------------------------------------


def test_list_names_every_suite_and_every_system() -> None:
    said = call("list")
    for name in (*suite_names(), *systems()):
        assert re.search(rf"^{name}(/\d+)? ", said, re.MULTILINE), name


def test_a_run_leaves_all_that_it_knows_in_its_folder(folder: Path) -> None:
    done = json.loads((folder / "run.json").read_text("utf-8"))
    assert (done["n"], done["finished"], list(done["systems"])) == (2, True, list(SYSTEMS))
    assert len((folder / "samples.jsonl").read_text("utf-8").splitlines()) == 4


def test_running_again_adds_nothing_and_a_dry_run_writes_only_a_bill(home: Path, folder: Path) -> None:
    before = (folder / "samples.jsonl").read_bytes()
    run(home)
    assert (folder / "samples.jsonl").read_bytes() == before
    assert "what a language model would take" in run(home, "--dry-run", "--out", home / "dry")
    assert [p.name for p in (home / "dry" / "lay-summaries").iterdir()] == ["bill.json"]


# --- experiments ----------------------------------------------------------------------------------


def test_experiments_are_listed_and_one_says_what_is_missing_and_what_it_takes_before_it_runs(home: Path) -> None:
    assert "disco-rag-table-9" in call("experiments", "--data", FIXTURES)
    where = ("--home", home, "--data", FIXTURES)
    said = call("experiment", "disco-rag-table-9", "--limit", "1", "--dry-run", *where)
    assert "No judge is configured" in said
    assert re.search(r"trees of the retrieved chunks .*each of 1", said)
    assert re.search(r"In all: \d+ calls", said)
    assert [p.name for p in (home / "runs" / "disco-rag-table-9").iterdir()] == ["bill.json"]


# --- report -------------------------------------------------------------------------------------


def test_the_page_has_the_scores_and_no_text_of_the_data(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "new" / "page.md"
    assert "page.md" in call("report", folder, "--out", page)
    said = page.read_text("utf-8")
    assert "## lay-summaries/1" in said
    assert "rougeLsum" in said
    assert "Night Shading" not in said


# --- expect, check --------------------------------------------------------------------------------


def test_a_run_reproduces_its_own_numbers_until_one_is_changed(folder: Path, tmp_path: Path) -> None:
    expected = tmp_path / "expected.json"
    call("expect", folder, expected)
    assert "reproduced" in call("check", folder, expected)
    numbers = json.loads(expected.read_text("utf-8"))
    numbers["systems"]["lead"]["rougeL"]["value"] += 1.1
    expected.write_text(json.dumps(numbers), "utf-8")
    said = call("check", folder, expected, status=1)
    assert "lead/rougeL" in said
    assert "1 numbers deviate" in said


# --- what cannot be done --------------------------------------------------------------------------


def test_an_unknown_suite_is_one_line_and_status_2(tmp_path: Path) -> None:
    root = FIXTURES.parents[2]
    command = [sys.executable, "-m", "eval", "run", "asqaa", "--home", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    (line,) = ended.stderr.splitlines()
    assert line.startswith("ConfigError: There is no suite 'asqaa'. There are asqa, ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "loong"), "MissingPathError: DISCO_RAG_DATA is nowhere, which is not a folder."),
        (("run", "asqa", "--system", "fuller"), "ConfigError: There is no system 'fuller'"),
        (("experiment", "disco-rag-table-7"), "ConfigError: Disco-RAG, table 7 is not run from here. It needs RST-DT"),
        (("check", "nowhere", "expected.json"), "MissingPathError: nowhere holds no run.json"),
        (("expect", "nowhere", "expected.json"), "MissingPathError: nowhere holds no run.json"),
        (("report", "nowhere"), "MissingPathError: nowhere holds no run.json"),
    ],
)
def test_names_that_do_not_exist_are_one_line_and_status_2(
    arguments: tuple[str, ...],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCO_RAG_DATA", "nowhere")
    assert failing(capsys, monkeypatch, *arguments).startswith(said)
    assert not list(tmp_path.rglob("runs"))


def test_a_pool_that_does_not_exist_is_refused_with_those_that_do(tmp_path: Path) -> None:
    said = call("run", "asqa", "--pool", "some", "--home", tmp_path, status=2)
    assert "'all', 'chosen'" in " ".join(said.replace("│", " ").split())
