"""The command line in a process of its own, with two actors, and a parser that some texts are too much for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
POISON = """
import os, signal
from discorag.rst.rules import RuleParser

class Poison(RuleParser):
    name = version = "poison"

    async def parse(self, chunk):
        if "RAISE" in chunk.text:
            raise RuntimeError("no tree for this")
        if "KILL" in chunk.text:
            os.kill(os.getpid(), signal.SIGKILL)
        return await super().parse(chunk)

def parser(tools, limits):
    return Poison()
"""


@dataclass(frozen=True)
class Line:
    """``disco-rag`` in a folder of its own."""

    home: Path
    env: Mapping[str, str] = field(default_factory=dict[str, str])

    def start(self, *words: str) -> subprocess.Popen[str]:
        """The command, under way, with Ray's engine."""
        command = [sys.executable, "-c", "from graphs.front import main; main()", *words]
        path = os.pathsep.join([str(ROOT), str(self.home)])
        return subprocess.Popen(
            [*command, "--engine", "ray", "--actors", "2"],
            cwd=self.home,
            env={**os.environ, "PYTHONPATH": path, **self.env},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str, code: int = 0) -> str:
        """What the command printed."""
        process = self.start(*words)
        out, err = process.communicate(timeout=300)
        assert process.returncode == code, err
        return out

    def ingest(self, path: str, *words: str, code: int = 0) -> dict[str, Any]:
        """The result: nothing else goes to standard output."""
        return json.loads(self.run("ingest", path, "--json", *words, code=code))


@pytest.fixture
def line(tmp_path: Path) -> Line:
    """With the parser ``poison``."""
    (tmp_path / "poison.py").write_text(POISON)
    about = tmp_path / "poison-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: poison\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[disco_rag.parsers]\npoison = poison:parser\n")
    return Line(tmp_path)
