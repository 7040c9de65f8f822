"""deploy/table-1.sh: its servers with a substitute for vLLM, and its other steps with a scripted model."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import EXAMPLES
from tests.eval.helpers import FIXTURES
from tests.graphs import paper_scripts
from tests.servers.scripted import Body, ScriptedServer

ROOT = EXAMPLES.parent
VLLM = """#!/bin/sh
printf '%s %s\\n' "$CUDA_VISIBLE_DEVICES" "$*" >> "$STARTED"
"""
CURL = """#!/bin/sh
for url; do :; done
port=${url#http://localhost:} && port=${port%/health}
until grep -q -- "--port $port" "$STARTED" 2> /dev/null; do sleep 0.1; done
"""


def script(*steps: str, root: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """The script below ``root`` with these variables only."""
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    command = [str(root / "deploy/table-1.sh"), *steps]
    return subprocess.run(command, env=env | environment, capture_output=True, text=True, check=False, cwd=ROOT)


def test_the_encoder_shares_the_last_of_four_gpus_and_is_started_first(tmp_path: Path) -> None:
    for name, text in (("vllm", VLLM), ("curl", CURL)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o700)
    started = tmp_path / "started"
    done = script("serve", PATH=f"{tmp_path}:{os.environ['PATH']}", STARTED=str(started))
    assert (done.returncode, done.stderr) == (0, "")
    embed, chat = started.read_text().splitlines()
    assert embed.startswith("3 serve Qwen/Qwen3-Embedding-8B --runner=pooling")
    assert embed.endswith("--port 8001")
    assert chat.startswith("0,1,2,3 serve meta-llama/Llama-3.3-70B-Instruct --max-model-len=131072")
    assert "--tensor-parallel-size=4" in chat
    shares = [float(line.partition("--gpu-memory-utilization=")[2].split()[0]) for line in (embed, chat)]
    assert sum(shares) <= 0.95


def judged(body: Body) -> Any:
    """A model that follows the paper's prompts, judges, and says that it is ready."""
    prompt = body["messages"][0]["content"]
    if prompt.startswith(paper_scripts.HEADS):
        return paper_scripts.model()(body)
    return "Rating: [[80]]" if "[[" in prompt else "ready"


def test_all_steps_after_the_servers_end_with_the_table(tmp_path: Path) -> None:
    with ScriptedServer(judged) as server:
        done = script(
            DISCO_RAG_MODEL=f"{server.base_url}#scripted",
            DISCO_RAG_HOME=str(tmp_path / "home"),
            DISCO_RAG_DATA=str(FIXTURES),
            JUDGE_URL=server.base_url,
            JUDGE_KEY="KEY",
            KEY="secret",
            OPTIONS=f"--limit 1 --yes --home {tmp_path / 'eval'}",
        )
    assert done.returncode == 0, done.stderr
    for said in ("== judge", "scores are not comparable", "In all: ", "Disco-RAG, ours: scripted | 80.00"):
        assert said in done.stdout
    bill = json.loads((tmp_path / "eval" / "runs" / "disco-rag-table-1" / "bill.json").read_text("utf-8"))
    assert bill["counted"]


@pytest.mark.parametrize(
    ("steps", "environment", "said"),
    [
        (("table",), {}, "There is no step 'table'. Steps: serve, models"),
        (("data",), {}, "Set DISCO_RAG_DATA"),
        (("data",), {"DISCO_RAG_DATA": "nowhere"}, "Set LOONG to a clone"),
        (("judge",), {}, "Set OPENAI_API_KEY to the key of the judge"),
        (
            ("judge",),
            {"OPENAI_API_KEY": "x", "JUDGE_PROMPT": "nowhere"},
            "nowhere, which is not a file",
        ),
    ],
)
def test_what_a_step_lacks_is_said(steps: tuple[str, ...], environment: dict[str, str], said: str) -> None:
    done = script(*steps, root=ROOT, **environment)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_container_without_a_model_says_so(tmp_path: Path) -> None:
    (tmp_path / "deploy").mkdir()
    shutil.copy(ROOT / "deploy/table-1.sh", tmp_path / "deploy")  # all that the container has of the repository
    done = script("bill", root=tmp_path)
    assert done.returncode == 2
    assert "Set DISCO_RAG_MODEL" in done.stderr
