"""Ingest, retrieval and reranking compared with LlamaIndex, Haystack and LangChain (``make bench-peers``).

All of them have the same weights (all-MiniLM-L6-v2; the packaged cross-encoder, over all ten chunks that were
retrieved), documents, questions and chunks of 256 tokens, Qdrant in the process, and one thread for a forward pass.
Every round is a fresh process of each system, one after the other. Models are loaded, and have run once, before
anything is counted. Processor time is compared; the peak of memory is that of the whole process.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench import report
from bench.peers.common import Task
from bench.speed import papers, questions
from discorag.models.packaged import MINILM, MS_MARCO_MINILM, packaged_folder

OUT, HOME = Path("bench/results/peers.json"), Path(".disco-rag/bench/peers")
TOKENS, WORDS, TOP_K, CLIENTS, ROUNDS = 256, 94, 10, 8, 5
"""Chunks of 94 words of these papers are about as many as chunks of 256 tokens."""
PEERS = ("llamaindex", "haystack", "langchain")
OURS = ("plain", "default")
Figures = Mapping[str, float]


def run_system(system: str, task: Task, python: Path) -> Figures:
    """What one process took. Raises `subprocess.CalledProcessError` if it failed; what it says is shown."""
    program, module = (str(python), f"with_{system}") if system in PEERS else (sys.executable, system)
    with TemporaryDirectory() as home:
        told = json.dumps(task._replace(home=home)._asdict())
        done = subprocess.run(
            [program, "-m", f"bench.peers.{module}", told],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
        )
    return json.loads(done.stdout.splitlines()[-1])


def measure(task: Task, words: int, python: Path, rounds: int) -> dict[str, Any]:
    """Medians by system, and ours next to each peer's."""
    runs: dict[str, list[Figures]] = {name: [] for name in (*OURS, *PEERS)}
    for _ in track(range(rounds), description="rounds"):
        for name, own in runs.items():
            own.append(run_system(name, task, python))
    found = {name: summary(own, words) for name, own in runs.items()}
    return {"rounds": rounds, **found, "ratios": {n: {p: ratios(found[n], found[p]) for p in PEERS} for n in OURS}}


def summary(runs: Sequence[Figures], words: int) -> dict[str, float]:
    """The median of each figure."""
    middle = {key: median(run[key] for run in runs) for key in runs[0]}
    return {
        "words_per_cpu_s": round(words / middle["ingest_cpu_s"], 1),
        "query_cpu_ms": round(middle["query_cpu_ms"], 2),
        "reranked_cpu_ms": round(middle["reranked_cpu_ms"], 2),
        "questions_per_s": round(middle["questions_per_s"], 2),
        "peak_mb": round(middle["peak_mb"]),
        "chunks": round(middle["chunks"]),
    }


def ratios(ours: Figures, theirs: Figures) -> dict[str, float]:
    """Ours by theirs. Of ``words_per_cpu_s`` and ``questions_per_s`` more is better, of the others less."""
    return {key: round(ours[key] / theirs[key], 3) for key in ours if key != "chunks"}


def main(
    peers: Annotated[Path, typer.Option(help="Python with the other systems.")] = Path(".venv-peers/bin/python"),
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
    home: Annotated[Path, typer.Option(help="Folder of papers.")] = HOME,
    rounds: Annotated[int, typer.Option(min=1, help="Processes of each system.")] = ROUNDS,
) -> None:
    """Measure, write, show."""
    folder = papers(home)
    words = sum(len(file.read_text("utf-8").split()) for file in folder.glob("*.md"))
    encoder, reranker = (str(packaged_folder(model.name)) for model in (MINILM, MS_MARCO_MINILM))
    task = Task(str(folder), "", encoder, reranker, TOKENS, WORDS, TOP_K, CLIENTS, questions(folder))
    found = measure(task, words, peers, rounds)
    report.write(out, found)
    table = Table("system", *found["plain"])
    for name in (*OURS, *PEERS):
        table.add_row(name, *map(str, found[name].values()))
    Console().print(table, found["ratios"])


if __name__ == "__main__":
    typer.run(main)
