"""What a question costs before and after a change, on one machine in one go.

Usage: ``python -m bench.answers.speed --before GITREF [--rounds N] [--out FILE]``. The earlier commit is checked out as
a git worktree; both trees answer the same questions over the same papers in turn, with the same Python. A ratio is
after over before, round by round; every figure is a median over rounds. The figures become the key ``speed`` of the
result of `bench.answers`, whose other keys stay if they are of the same commit.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Annotated, Any

import httpx
import typer
from rich.console import Console
from rich.table import Table

from bench.answers import report
from bench.answers.replies import package_version
from bench.serving.server import PATIENCE_S, free_port
from bench.speed import papers, questions

HOME = Path(".disco-rag/bench/answers-speed")
JOB = Path(__file__).with_name("speed_job.py")
ROUNDS, CLIENTS, SECONDS = 5, 50, 20.0
UNLIMITED = "1000000"


@dataclass(frozen=True)
class Tree:
    """A working tree and a folder for its store."""

    root: Path
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        """Default settings, one thread, a store of its own; nothing of the user's own settings."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("DISCO_RAG_")}
        return kept | {
            "PYTHONPATH": str(self.root),
            "HF_HUB_OFFLINE": "1",
            "OMP_NUM_THREADS": "1",
            "DISCO_RAG_STORE__PATH": str(self.home / "store"),
            "DISCO_RAG_API__REQUESTS_PER_MINUTE": UNLIMITED,
            "DISCO_RAG_API__QUOTA__QUESTIONS_PER_MINUTE": UNLIMITED,
        }

    def job(self, *arguments: str) -> str:
        """Run `bench.answers.speed_job` in this tree; what it printed last."""
        command = [sys.executable, "-P", str(JOB), *arguments]
        done = subprocess.run(
            command, cwd=self.root, env=self.environment, stdout=subprocess.PIPE, text=True, check=True
        )
        return done.stdout.strip().rpartition("\n")[2]

    def program(self, *arguments: str) -> list[str]:
        """The command ``disco-rag`` of this tree."""
        scripts = tomllib.loads((self.root / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
        module, _, function = scripts["disco-rag"].partition(":")
        return [sys.executable, "-c", f"from {module} import {function} as main; main()", *arguments]


@contextmanager
def checkout(ref: str) -> Generator[Path]:
    """A commit's files in a temporary git worktree."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "before"
        subprocess.run(["git", "worktree", "add", "--detach", str(root), ref], check=True, capture_output=True)
        try:
            yield root
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(root)], check=True, capture_output=True)


def ask_known(tree: Tree, texts: Sequence[str]) -> dict[str, float]:
    """Processor time of a question over known documents, and in floors."""
    found: dict[str, list[float]] = json.loads(tree.job("ask", *texts))
    ask, floor = median(found["ask_ms"]), median(found["floor_ms"])
    return {"question_cpu_ms": ask, "floor_cpu_ms": floor, "question_floors": ask / floor}


def answer_first(tree: Tree, texts: Sequence[str]) -> dict[str, float]:
    """A new process that answers one question."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = tree.program("ask", texts[0])
    subprocess.run(command, cwd=tree.home, env=tree.environment, check=True, capture_output=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"first_answer_cpu_s": cpu, "first_answer_wall_s": wall}


def serve_clients(tree: Tree, texts: Sequence[str]) -> dict[str, float]:
    """Answers a second of the HTTP API with `CLIENTS` clients without think time, and the 95th percentile."""
    port = free_port()
    command = tree.program("serve", "--port", str(port))
    with (tree.home / "server.log").open("w", encoding="utf-8") as log:
        server = subprocess.Popen(command, cwd=tree.home, env=tree.environment, stdout=log, stderr=log)
        try:
            times = asyncio.run(_load(f"http://127.0.0.1:{port}", texts))
        finally:
            server.terminate()
            server.wait(PATIENCE_S)
    return {"api_answers_per_s": len(times) / SECONDS, "api_p95_s": quantiles(times, n=20)[-1]}


async def _load(url: str, texts: Sequence[str]) -> list[float]:
    """Seconds of each answer that ended in time.

    Raises:
        httpx.HTTPError: The server does not start, or a request fails.
    """
    limits = httpx.Limits(max_connections=CLIENTS)
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S, limits=limits) as client:
        await _wait(client)
        for text in texts:  # models are loaded
            (await client.post("/ask", json={"query": text})).raise_for_status()
        end = time.perf_counter() + SECONDS
        found = await asyncio.gather(*(_ask_until(client, texts, number, end) for number in range(CLIENTS)))
    return [seconds for times in found for seconds in times]


async def _wait(client: httpx.AsyncClient) -> None:
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            if (await client.get("/readyz")).is_success:
                return
        except httpx.TransportError:
            if time.monotonic() > end:
                raise
        await asyncio.sleep(0.2)


async def _ask_until(client: httpx.AsyncClient, texts: Sequence[str], number: int, end: float) -> list[float]:
    times: list[float] = []
    for turn in range(number, sys.maxsize):
        start = time.perf_counter()
        response = await client.post("/ask", json={"query": texts[turn % len(texts)]})
        response.raise_for_status()
        if (now := time.perf_counter()) > end:
            return times
        times.append(now - start)
    return times


MEASURES: Sequence[Callable[[Tree, Sequence[str]], dict[str, float]]] = (ask_known, answer_first, serve_clients)


def measure(trees: Mapping[str, Tree], folder: Path, rounds: int, console: Console) -> dict[str, Any]:
    """Medians of both trees, and of the ratio round by round."""
    texts = questions(folder)
    found: dict[str, list[dict[str, float]]] = {name: [] for name in trees}
    for name, tree in trees.items():
        console.print(f"{name}: ingest")
        tree.home.mkdir(parents=True, exist_ok=True)
        tree.job("ingest", str(folder.resolve()))
    for number in range(rounds):
        console.print(f"round {number + 1} of {rounds}")
        for name in list(trees)[:: 1 if number % 2 else -1]:  # neither is always the first
            found[name].append({k: v for take in MEASURES for k, v in take(trees[name], texts).items()})
    return summarise(found)


def summarise(found: Mapping[str, Sequence[Mapping[str, float]]]) -> dict[str, Any]:
    """Medians of both trees over rounds, and of the ratio of ``after`` to ``before`` in each round."""
    before, after = found["before"], found["after"]
    medians = {side: {k: round(median(r[k] for r in rounds), 3) for k in rounds[0]} for side, rounds in found.items()}
    ratios = {k: round(median(b[k] / a[k] for a, b in zip(before, after, strict=True)), 3) for k in before[0]}
    return {**medians, "ratio": ratios, "rounds": len(before)}


def main(
    before: Annotated[str, typer.Option(help="The earlier commit.")],
    rounds: Annotated[int, typer.Option(help="Of each tree.")] = ROUNDS,
    out: Annotated[Path, typer.Option(help="Result file.")] = Path("bench/results/answers.json"),
    home: Annotated[Path, typer.Option(help="Folder of papers and stores.")] = HOME,
) -> None:
    """Measure, write, show."""
    console, folder = Console(), papers(home)
    commit = subprocess.run(["git", "rev-parse", before], check=True, capture_output=True, text=True).stdout.strip()
    with checkout(before) as root, tempfile.TemporaryDirectory() as stores:
        trees = {
            "before": Tree(root, Path(stores) / "before"),
            "after": Tree(Path.cwd(), Path(stores) / "after"),
        }
        found = measure(trees, folder, rounds, console)
    figures = {"speed": {"before_commit": commit, "clients": CLIENTS, **found}}
    report.write(out, report.merge(report.read(out), report.Result(commit=package_version(), figures=figures)))
    table = Table("figure", "before", "after", "after / before")
    for name, ratio in found["ratio"].items():
        table.add_row(name, f"{found['before'][name]:g}", f"{found['after'][name]:g}", f"{ratio:g}")
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
