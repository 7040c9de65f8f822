"""Ingest and retrieval compared with LlamaIndex and Haystack, in processor time (``make bench-peers``).

The same weights (all-MiniLM-L6-v2; the packaged cross-encoder, over all chunks that were retrieved), documents,
questions, chunks of 256 tokens and embedded Qdrant, one thread, every round in a fresh process of each system, one
after the other. Models are loaded, and have run once, before anything is counted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.answers.replies import package_version
from bench.cross_encoder import packaged_folder
from bench.peers.common import Task
from bench.speed import papers, questions
from discorag.models import packaged

OUT, HOME = Path("bench/results/peers.json"), Path(".disco-rag/bench/peers")
TOKENS, WORDS, TOP_K, ROUNDS = 256, 94, 10, 5
"""Chunks of 94 words of these papers are as many as chunks of 256 tokens."""
PEERS = ("llamaindex", "haystack")
OURS = ("plain", "default")


def taken(system: str, task: Task, peers: Path) -> dict[str, float]:
    """What one process took.

    Raises:
        subprocess.CalledProcessError: It failed; what it says is shown.
    """
    python, module = (str(peers), f"with_{system}") if system in PEERS else (sys.executable, system)
    with TemporaryDirectory() as home:
        told = json.dumps(task._replace(home=home)._asdict())
        done = subprocess.run(
            [python, "-m", f"bench.peers.{module}", told],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
    return json.loads(done.stdout.splitlines()[-1])


def measured(task: Task, words: int, peers: Path) -> dict[str, Any]:
    """Medians by system, and ours over theirs."""
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in (*OURS, *PEERS)}
    for _ in track(range(ROUNDS), description="rounds"):
        for name, runs in rounds.items():
            runs.append(taken(name, task, peers))
    found: dict[str, Any] = {name: _summary(runs, words) for name, runs in rounds.items()}
    found["peers"] = {peer: _over(found["plain"], found[peer]) for peer in PEERS}
    found["peers_default"] = {peer: _over(found["default"], found[peer]) for peer in PEERS}
    return found


def _summary(runs: Sequence[dict[str, float]], words: int) -> dict[str, float]:
    middle = {key: median(run[key] for run in runs) for key in runs[0]}
    return {
        "words_per_cpu_s": round(words / middle["ingest_cpu_s"], 1),
        "query_cpu_ms": round(middle["query_cpu_ms"], 2),
        "reranked_cpu_ms": round(middle["reranked_cpu_ms"], 2),
        "chunks": round(middle["chunks"]),
    }


def _over(ours: dict[str, float], theirs: dict[str, float]) -> dict[str, float]:
    """``ingest``: words a second of processor time, more is better; the others: processor time, less is better."""
    return {
        "ingest": round(ours["words_per_cpu_s"] / theirs["words_per_cpu_s"], 3),
        "query": round(ours["query_cpu_ms"] / theirs["query_cpu_ms"], 3),
        "reranked": round(ours["reranked_cpu_ms"] / theirs["reranked_cpu_ms"], 3),
    }


def main(
    peers: Annotated[Path, typer.Option(help="Python with the other systems.")] = Path(".venv-peers/bin/python"),
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
    home: Annotated[Path, typer.Option(help="Folder of papers.")] = HOME,
) -> None:
    """Measure, write, show."""
    folder = papers(home)
    words = sum(len(f.read_text("utf-8").split()) for f in folder.glob("*.md"))
    model = str(packaged.packaged_folder(packaged.MINILM.name))
    task = Task(str(folder), "", model, TOKENS, WORDS, TOP_K, str(packaged_folder()), questions(folder))
    found = measured(task, words, peers)
    out.write_text(json.dumps({"commit": package_version(), **found}, indent=1) + "\n", "utf-8")
    table = Table("system", "words / CPU s", "CPU ms a query", "reranked", "chunks")
    for name in (*OURS, *PEERS):
        table.add_row(name, *map(str, found[name].values()))
    Console().print(table, found["peers"], found["peers_default"])


if __name__ == "__main__":
    typer.run(main)
