"""The transcripts of the README and the docs, replayed: what a page shows is what happens.

A transcript begins with what is given: ``library``, a folder of documents that were ingested; ``demo``, the corpora of
``make demo``; ``then``: what the transcript before it left. ``…`` stands for what is left out or differs each time.
"""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from interfaces.cli.main import main

ROOT = Path(__file__).parents[2]
DEMO = ("vitamin-d", "tides", "library-handbook")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_CONSOLE = re.compile(r"<!-- (given: \w+|then) -->\n\n```console\n(.*?)```", re.DOTALL)


def cases() -> list[tuple[str, str, str]]:
    """Page, what is given, and transcript, with those that follow from it."""
    found: list[tuple[str, str, str]] = []
    for page in PAGES:
        for given, transcript in _CONSOLE.findall(page.read_text(encoding="utf-8")):
            name, start, before = found.pop() if given == "then" else (page.stem, given.removeprefix("given: "), "")
            found.append((name, start, before + transcript))
    return found


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders with documents and the store that they were ingested into, by name."""
    folders = {name: tmp_path_factory.mktemp(name) for name in ("library", "demo")}
    shutil.copytree(ROOT / "examples" / "tides", folders["library"] / "library")
    for corpus in DEMO:
        shutil.copytree(ROOT / "examples" / corpus, folders["demo"] / "examples" / corpus)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCO_RAG_HOME", ".disco-rag")
        patch.chdir(folders["library"])
        run(["disco-rag", "ingest", "--parser", "rules", "library"], patch)
        patch.chdir(folders["demo"])
        for corpus in DEMO:
            run(["disco-rag", "ingest", f"examples/{corpus}", "--corpus", corpus], patch)
    return folders


def run(words: list[str], patch: pytest.MonkeyPatch) -> int:
    """The command in this process; its exit code."""
    with patch.context() as own:
        while "=" in words[0]:
            own.setenv(*words.pop(0).split("=", 1))
        own.setattr(sys, "argv", words)
        try:
            main()
        except SystemExit as ended:
            return int(ended.code or 0)
        return 0


@pytest.mark.parametrize(("given", "transcript"), [case[1:] for case in cases()], ids=[case[0] for case in cases()])
def test_a_page_shows_what_happens(
    given: str,
    transcript: str,
    homes: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("DISCO_RAG_HOME", ".disco-rag")
    subprocess.run(["cp", "-r", "--sparse=always", *homes[given].iterdir(), "."], check=True)
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", transcript, re.MULTILINE):
        assert matches(shown, said(command, monkeypatch, capsys)), command


def said(command: str, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command writes: its output, then its errors."""
    words = shlex.split(command)
    if "disco-rag" not in words:
        return subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout
    capsys.readouterr()
    run(words, patch)
    out, err = capsys.readouterr()
    return out + "".join(line for line in err.splitlines(keepends=True) if "━" not in line)


def matches(shown: str, real: str) -> bool:
    """Whether they are alike but for white space and what ``…`` stands for."""
    pattern = ".*".join(re.escape(" ".join(part.split())) for part in re.split(r"\s*…\s*", shown))
    assert re.fullmatch(pattern.replace(".*", r"\s*.*\s*"), " ".join(real.split())), real
    return True
