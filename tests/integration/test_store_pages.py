"""The transcripts of `docs/store`, replayed: what a page shows is what happens.

A transcript begins with what is given: ``library``, documents that were ingested. ``…`` stands for what is different
each time.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from interfaces.cli.main import main

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "store").glob("*.md"))
_CONSOLE = re.compile(r"<!-- given: library -->\n\n```console\n(.*?)```", re.DOTALL)


def cases() -> list[tuple[str, str]]:
    """Page and transcript."""
    return [(page.stem, found) for page in PAGES for found in _CONSOLE.findall(page.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three documents and the store that they were ingested into."""
    home = tmp_path_factory.mktemp("library")
    shutil.copytree(ROOT / "examples" / "tides", home / "library")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        run(["disco-rag", "ingest", "--parser", "rules", "library"], patch)
    return home


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


@pytest.fixture
def given(tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, and no settings of the user's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("DISCO_RAG_STORE__PATH", raising=False)
    return library


@pytest.mark.parametrize("transcript", [text for _, text in cases()], ids=[page for page, _ in cases()])
def test_a_page_shows_what_happens(
    transcript: str, given: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    subprocess.run(["cp", "-r", "--sparse=always", *given.iterdir(), "."], check=True)
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
