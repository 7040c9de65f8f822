"""Whether an ingest costs as much a document, and a word, when there are many: processor time of fresh processes.

Usage: ``python -m bench.growth [--words N] [--out FILE]``. Words are Loong's papers and filings, read as by
default; documents are single sentences of them, read without trees, so that what is the pipeline's own shows.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from bench.process import Job, run
from discorag.text.sentences import sentence_spans
from eval.datasets.registry import load_benchmark
from eval.options import data_folder

OUT = Path("bench/results/growth.json")
HOME = Path(".disco-rag/bench/growth")
DOCUMENTS = (250, 1000, 4000)
LEAST = 6  # words of a sentence
WORDS = 10_000
"""What a million words are compared with."""


def sentences() -> Iterator[str]:
    """Sentences of these documents, each once."""
    seen: set[str] = set()
    for text in texts():
        for span in sentence_spans(text):
            said = span.of(text).strip()
            if said not in seen and len(said.split()) >= LEAST:
                seen.add(said)
                yield said


@cache
def texts() -> tuple[str, ...]:
    """Loong's English documents."""
    benchmark = load_benchmark("loong", data_folder() / "loong")
    return tuple(d.text for d in benchmark.documents.values() if d.text[:500].isascii())


def written(folder: Path, documents: Iterable[str]) -> Path:
    """The folder with these as files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number, text in enumerate(documents):
        (folder / f"{number:05}.txt").write_text(text, "utf-8")
    return folder


def some(documents: Iterable[str], words: int) -> Iterator[str]:
    """The first of them with so many words together, the last one cut."""
    for text in documents:
        parts = text.split(" ")
        yield " ".join(parts[:words])
        words -= len(parts)
        if words <= 0:
            return


def ingested(folder: Path, *switches: str) -> Job:
    """A fresh process that ingests the folder into a fresh store."""
    store = HOME / "store"
    shutil.rmtree(store, ignore_errors=True)
    return run("ingest", store, [str(folder), *switches])


def measured(words: int, progress: Progress) -> dict[str, float]:
    """Milliseconds a document, microseconds a word, and their growth."""
    told: dict[str, float] = {}
    for count in progress.track(DOCUMENTS, description="documents"):
        job = ingested(written(HOME / "documents", islice(sentences(), count)), "parser=none", "retriever=dense")
        told[f"cpu_ms_per_document_{count}"] = 1000 * job.cpu_s / count
    for size in progress.track([n for n in (WORDS, words) if n], description="words"):
        job = ingested(written(HOME / "words", some(texts(), size)))
        told |= {f"cpu_us_per_word_{size}": 1e6 * job.cpu_s / size, f"peak_mb_{size}": job.peak_mb}
    first, last = (told[f"cpu_ms_per_document_{n}"] for n in (DOCUMENTS[0], DOCUMENTS[-1]))
    told["cpu_per_document_4000_over_250"] = last / first
    if words:
        told[f"cpu_per_word_{words}_over_{WORDS}"] = told[f"cpu_us_per_word_{words}"] / told[f"cpu_us_per_word_{WORDS}"]
    return {name: round(value, 3) for name, value in told.items()}


def main(
    words: Annotated[int, typer.Option(help="Words of the long ingest; 0: none. A million takes twenty minutes.")] = 0,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
) -> None:
    """Measure, write, show."""
    with Progress() as progress:
        told = measured(words, progress)
    out.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    Console().print_json(json.dumps(told))


if __name__ == "__main__":
    typer.run(main)
