"""Load by locust, as a process of its own beside the server."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import BaseModel, ConfigDict

from bench.serving.outcomes import Sent
from bench.serving.server import ROOT
from discorag.types.errors import InvariantError

PLAN_VARIABLE = "BENCH_SERVE_PLAN"
_STOP_S = 600
"""Requests under way at the end of the time are waited for."""


class Plan(BaseModel):
    """Whom to ask what.

    Args:
        url: The server.
        keys: Of its tenants; every user has one.
        questions: (corpus, question) pairs.
        out: Where the requests are written, one `Sent` a line.
        users: Clients at once.
        seconds: How long new requests are sent.
        fresh_connections: A connection for each request, so that a refusal is one at connect.
    """

    model_config = ConfigDict(frozen=True)

    url: str
    keys: list[str]
    questions: list[tuple[str, str]]
    out: Path
    users: int
    seconds: float
    fresh_connections: bool = False

    @property
    def started(self) -> Path:
        """A file that is there as soon as questions are sent."""
        return self.out.with_suffix(".started")


class Load:
    """Load that runs from ``with`` on; `sent` waits for its end.

    Raises:
        InvariantError: locust did not start.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        file = plan.out.with_suffix(".plan.json")
        file.write_text(plan.model_dump_json(), encoding="utf-8")
        environment = os.environ | {PLAN_VARIABLE: str(file), "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [*_command(plan)], cwd=plan.out.parent, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True,
        )  # fmt: skip
        while not plan.started.exists():
            if self._process.poll() is not None:
                raise InvariantError(f"locust did not start: {self._process.communicate()[0][-2000:]}")
            time.sleep(0.05)

    def sent(self) -> list[Sent]:
        """Every request, in the order in which they ended. Raises `InvariantError` if there are none."""
        said, _ = self._process.communicate(timeout=self._plan.seconds + _STOP_S)
        lines = self._plan.out.read_text(encoding="utf-8").splitlines() if self._plan.out.exists() else []
        if self._process.returncode or not lines:
            raise InvariantError(f"locust failed: {said[-2000:]}")
        return [Sent.model_validate_json(line) for line in lines]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def _command(plan: Plan) -> list[str]:
    users = ["--users", str(plan.users), "--spawn-rate", str(plan.users)]
    times = ["--run-time", f"{max(1, round(plan.seconds))}s", "--stop-timeout", str(_STOP_S)]
    quiet = ["--headless", "--only-summary", "--exit-code-on-error", "0", "--loglevel", "WARNING"]
    file = str(Path(__file__).with_name("locustfile.py"))
    return [sys.executable, "-m", "locust", "-f", file, "--host", plan.url, *users, *times, *quiet]
