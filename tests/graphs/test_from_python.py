"""The graphs as LangGraph's users call them: what docs/graphs.md shows, and what goes wrong."""

import subprocess
import sys
from pathlib import Path

from tests.graphs.from_python import CHECKS, environment, examples, program
from tests.graphs.scripts import model
from tests.servers.scripted import ScriptedServer


def test_every_example_is_short_and_checked() -> None:
    assert list(examples()) == list(CHECKS)
    assert max(len(code.splitlines()) for code in examples().values()) <= 15


def run(folder: Path, code: str, **variables: str) -> list[str]:
    """The lines that a program of its own process prints, whose store is in the folder."""
    command, variables = [sys.executable, "-c", code], environment(folder, **variables)
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_the_examples_run_without_a_model(tmp_path: Path) -> None:
    assert set(run(tmp_path, program())) >= set(CHECKS)


def test_the_examples_run_with_a_model(tmp_path: Path) -> None:
    with ScriptedServer(model()) as server:
        variables = {"DISCO_RAG_LLM__BASE_URL": server.base_url, "DISCO_RAG_MODEL": "scripted"}
        assert set(run(tmp_path, program(), **variables)) >= set(CHECKS)
    assert server.requests
