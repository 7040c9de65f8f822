"""What every system is asked to do, and what it took: imports nothing that only one of the environments has."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple, Protocol


class Task(NamedTuple):
    """Given to a process of its own, as JSON on its command line.

    Args:
        papers: Folder of Markdown files to ingest.
        home: Empty folder for the store.
        model: Folder of the encoder's weights.
        tokens: Of a chunk, by the encoder's tokenizer.
        words: The same in words, for those who count words.
        top_k: Chunks per query.
        reranker: Folder of the cross-encoder.
        questions: To retrieve for.
    """

    papers: str
    home: str
    model: str
    tokens: int
    words: int
    top_k: int
    reranker: str
    questions: Sequence[str]


class System(Protocol):
    """A library under test. Its models are loaded, and have run once, when it is built."""

    def ingest(self, texts: dict[str, str]) -> int:
        """Cut, encode and store all texts (by name); returns the number of chunks."""
        ...

    def retrieve(self, question: str) -> int:
        """Returns the number of chunks found."""
        ...

    def rerank(self, question: str) -> int:
        """Retrieves the same chunks and reranks them all; returns their number."""
        ...


def texts_of(task: Task) -> dict[str, str]:
    """Name -> text of every file."""
    return {file.name: file.read_text("utf-8") for file in sorted(Path(task.papers).glob("*.md"))}


def main(build: Callable[[Task], System]) -> None:
    """Run one system in this process and print what it took: processor time of all threads."""
    task = Task(**json.loads(sys.argv[1]))
    texts, system = texts_of(task), build(task)
    start = time.process_time()
    chunks = system.ingest(texts)
    ingest = time.process_time() - start
    figures = {"ingest_cpu_s": ingest, "chunks": chunks}
    figures |= {"query_cpu_ms": _cpu_ms(system.retrieve, task), "reranked_cpu_ms": _cpu_ms(system.rerank, task)}
    print(json.dumps(figures))  # noqa: T201


def _cpu_ms(retrieve: Callable[[str], int], task: Task) -> float:
    """Median milliseconds of processor time of a question, after one that is not counted."""
    retrieve(task.questions[0])
    spent: list[float] = []
    for question in task.questions:
        start = time.process_time()
        found = retrieve(question)
        spent.append(time.process_time() - start)
        if found != task.top_k:
            raise SystemExit(f"{found} chunks were found for {question!r}, {task.top_k} were asked for.")
    return 1000 * median(spent)
