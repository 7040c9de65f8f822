"""What the README and the pages behind it show is run as it stands."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nodes.context import AnswerContext
from tests.conftest import EXAMPLES
from tests.interfaces.http.parts import until
from tests.servers.loopback import free_port

ROOT = EXAMPLES.parent
README, OPTIONS, SERVE = (
    (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/options.md", "docs/serve.md")
)


def test_the_python_example_runs_and_prints_sources_and_disagreements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(code) == 1
    assert len(code[0].splitlines()) <= 10
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("DISCO_RAG_STORE__PATH", str(tmp_path / "store"))
    exec(code[0], {})
    printed = capsys.readouterr().out
    assert "The Harlow Winter Trial" in printed
    assert "CONTRA" in printed


def test_the_table_of_options_names_every_option_and_no_other() -> None:
    rows = [row.split("|")[1] for row in OPTIONS.splitlines() if row.startswith("| `")]
    named = set(re.findall(r"`(\w+)`", "".join(rows)))
    assert named == AnswerContext.model_fields.keys() - {"backends", "tenant", "corpus"}


@pytest.mark.server
def test_the_curl_examples_work_as_they_stand(tmp_path: Path) -> None:
    commands = re.findall(r"^curl (?:.*\\\n)*.*", SERVE, re.MULTILINE)
    assert len(commands) == 7
    with serving(tmp_path) as (port, run):
        said: list[str] = []
        for command in commands:
            if "JOB" in command:
                job = json.loads(said[-1])["job"]["id"]
                until(lambda job=job: '"done"' in run(f"curl -s http://127.0.0.1:{port}/ingest/{job}"))
                command = command.replace("JOB", job)
            said.append(run(command.replace(":8080", f":{port}")))
    ingest, done, answer, events, documents, *_, chat = said
    assert json.loads(ingest)["total"] == json.loads(done)["settled"] == 2
    assert "influenza" in json.loads(answer)["text"]
    assert [events.index(f"event: {name}") for name in ("start", "token", "answer")] == sorted(
        events.index(f"event: {name}") for name in ("start", "token", "answer")
    )
    assert {d["name"] for d in json.loads(documents)["documents"]} == {"harlow-winter-trial.md", "pooled-analysis.md"}
    assert "Sources:" in json.loads(chat)["choices"][0]["message"]["content"]


@contextmanager
def serving(home: Path) -> Generator[tuple[int, Callable[[str], str]]]:
    """``disco-rag serve`` in a folder of its own; the port, and what runs a shell command beside it."""
    port = free_port()
    serve = [Path(sys.executable).with_name("disco-rag"), "serve", "--port", str(port)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "DISCO_RAG_HOME": str(home)}

    def run(command: str) -> str:
        return subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    with (home / "log").open("w") as log, subprocess.Popen(serve, cwd=home, env=env, stdout=log, stderr=log) as server:
        try:
            until(lambda: "ok" in run(f"curl -s http://127.0.0.1:{port}/readyz || true"))
            yield port, run
        finally:
            server.terminate()
            assert server.wait() == 0
