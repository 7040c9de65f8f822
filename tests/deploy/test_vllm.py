"""deploy/vllm.py with a substitute for vLLM."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES

SCRIPT = EXAMPLES.parent / "deploy/vllm.py"


def run(*arguments: str, path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The program, where only ``path`` is searched for vLLM."""
    env = {"PATH": str(path), "HOME": os.environ["HOME"], **environment}
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], env=env, capture_output=True, text=True, check=False
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A folder with a program ``vllm`` that prints its arguments."""
    (tmp_path / "vllm").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (tmp_path / "vllm").chmod(0o700)
    return tmp_path


def test_a_service_of_compose_is_started_with_the_variables_of_the_environment(path: Path) -> None:
    done = run("chat", path=path, CHAT_MODEL="own/model", CHAT_GPU_COUNT="2")
    command, model, *options = done.stdout.splitlines()
    assert (command, model) == ("serve", "own/model")
    assert {"--tensor-parallel-size=2", "--max-model-len=16384"} <= set(options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "required: service"),
        (("chta",), "invalid choice: 'chta' (choose from 'chat', 'embed')"),
        (("qdrant",), "choose from 'chat', 'embed'"),
    ],
)
def test_a_missing_or_unknown_service_is_said_and_the_known_ones_are_named(
    arguments: tuple[str, ...], message: str, path: Path
) -> None:
    done = run(*arguments, path=path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_without_vllm_it_says_how_to_install_it(tmp_path: Path) -> None:
    done = run("chat", path=tmp_path)
    assert done.returncode == 2
    assert "make vllm" in done.stderr
