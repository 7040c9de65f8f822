"""What every system is asked to do, and what it took. Imports nothing that only one of the environments has."""

import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import NamedTuple, Protocol


class Task(NamedTuple):
    """What a process is given, as JSON on its command line.

    Args:
        papers: Folder of Markdown files to ingest.
        home: Empty folder for the store.
        encoder: Folder of the encoder's weights.
        reranker: Folder of the cross-encoder.
        tokens: Length of a chunk, by the encoder's tokenizer.
        words: The same in words, for a system that counts words.
        top_k: Chunks per question; all of them are reranked.
        clients: Threads that ask at once.
        questions: What is asked.
    """

    papers: str
    home: str
    encoder: str
    reranker: str
    tokens: int
    words: int
    top_k: int
    clients: int
    questions: Sequence[str]


class System(Protocol):
    """A library under test. Its models are loaded, and have run once, when it is built."""

    def ingest(self, texts: dict[str, str]) -> int:
        """Cut, encode and store all texts, given by name; return the number of chunks."""
        ...

    def retrieve(self, question: str) -> int:
        """Find chunks by vectors; return how many."""
        ...

    def rerank(self, question: str) -> int:
        """Find the same chunks and rerank them all; return how many."""
        ...


def main(build: Callable[[Task], System]) -> None:
    """Run one system in this process and print what it took. Processor time is that of all threads."""
    task = Task(**json.loads(sys.argv[1]))
    texts = {file.name: file.read_text("utf-8") for file in sorted(Path(task.papers).glob("*.md"))}
    system = build(task)
    start = time.process_time()
    chunks = system.ingest(texts)
    figures = {"ingest_cpu_s": time.process_time() - start, "chunks": chunks}
    figures |= {"query_cpu_ms": _cpu_ms(system.retrieve, task), "reranked_cpu_ms": _cpu_ms(system.rerank, task)}
    figures |= {"questions_per_s": _questions_per_s(system, task)}
    figures |= {"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    print(json.dumps(figures))  # noqa: T201


def _cpu_ms(ask: Callable[[str], int], task: Task) -> float:
    """Median milliseconds of processor time of a question, after one that is not counted."""
    ask(task.questions[0])
    spent: list[float] = []
    for question in task.questions:
        start = time.process_time()
        found = ask(question)
        spent.append(time.process_time() - start)
        if found != task.top_k:
            raise SystemExit(f"{found} chunks were found for {question!r}, {task.top_k} were asked for.")
    return 1000 * median(spent)


def _questions_per_s(system: System, task: Task) -> float:
    """Reranked questions a second when several clients ask at once."""
    with ThreadPoolExecutor(task.clients) as clients:
        start = time.perf_counter()
        asked = len(list(clients.map(system.rerank, 2 * [*task.questions])))
        return asked / (time.perf_counter() - start)
