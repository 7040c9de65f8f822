"""The offline model with a real vLLM, in the environment that has one."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.vllm.server import ENVIRONMENT, PYTHON, ROOT, SMOLLM2


@pytest.fixture(scope="module")
def made(logs: Path) -> dict[str, Any]:
    """What `tests.vllm.batch` saw."""
    command = [str(PYTHON), "-m", "tests.vllm.batch", str(SMOLLM2)]
    env = os.environ | ENVIRONMENT | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=170, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_a_schema_is_enforced_offline_and_tokens_are_counted(made: dict[str, Any]) -> None:
    assert json.loads(made["alone"]["text"]) == {"name": "fig"}
    usage = made["alone"]["usage"]
    assert (usage["calls"], usage["repairs"]) == (1, 0)
    assert usage["tokens_in"] > 10
    assert usage["tokens_out"] > 3


def test_requests_made_at_once_are_generated_together(made: dict[str, Any]) -> None:
    assert [r["text"] for r in made["together"]] == [made["alone"]["text"]] * 8
    alone, eight = made["seconds"]
    assert eight < 4 * alone


def test_a_bad_request_fails_alone(made: dict[str, Any]) -> None:
    first, long, wrong, last = made["mixed"]
    assert first["text"] == last["text"] == made["alone"]["text"]
    assert (long["error"], wrong["error"]) == ("ContextTooLongError", "ModelRejectedError")


def test_beams_are_counted_as_refused(made: dict[str, Any]) -> None:
    assert made["beams"]["text"] == made["alone"]["text"]
    assert made["beams"]["usage"]["beams_refused"] == 1


def test_a_stream_is_one_piece_and_the_reply(made: dict[str, Any]) -> None:
    assert made["streamed"] == [made["alone"]["text"]] * 2


def test_a_prompt_that_begins_alike_is_taken_from_the_prefix_cache(made: dict[str, Any]) -> None:
    assert made["again"][1]["usage"]["tokens_cached"] >= 128
