"""What a question, an ingest and a start cost in processor time, on default settings and real papers.

Usage: ``python -m bench.speed [--out FILE] [--home FOLDER]`` (``make bench-speed``). A floor is one encoding of the
question by torch in fp32 and one hybrid search, timed in the same run; a pass is one encoding of all chunks by torch in
fp32. Every figure of a question is a median of five; an ingest is timed once, after another one has loaded the models.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from bench import report
from discorag import DiscoRAG
from discorag.config import Settings, StoreSettings, read_settings
from discorag.models.packaged import MINILM, packaged_folder
from discorag.models.sentence_encoder import load_named
from discorag.store.records import SearchQuery
from eval.options import data_folder
from nodes.backends import Backends

OUT, HOME = Path("bench/results/speed.json"), Path(".disco-rag/bench/speed")
PAPERS, QUESTIONS, ROUNDS = 6, 20, 5
TARGETS = {
    "ask_unseen_floors": 12.0,
    "ask_known_floors": 12.0,
    "ask_unseen_floors_dense": 12.0,
    "ingest_passes": 3.5,
    "help_ratio": 2.5,
    "first_answer_cpu_s": 4.0,
    "peak_mb": 700,
}
"""Each at most."""


def papers(home: Path) -> Path:
    """A folder with the first papers of Loong."""
    folder = home / "papers"
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted((data_folder() / "loong/doc/paper").glob("*.md"))[:PAPERS]:
        shutil.copy(file, folder / file.name)
    return folder


def questions(folder: Path) -> list[str]:
    """Questions about their headings, evenly over all."""
    files = [f.read_text("utf-8") for f in sorted(folder.glob("*.md"))]
    headings = [h for text in files for h in re.findall(r"^#+\s+(?:[\d.]+\s+)?(\w[^\n#]{8,60})$", text, re.MULTILINE)]
    step = max(1, len(headings) // QUESTIONS)
    return [f"What is said about {heading.strip()}?" for heading in headings[::step][:QUESTIONS]]


@cache
def torch_encoder() -> Any:  # typed in part only
    """The packaged MiniLM by sentence-transformers, in fp32."""
    return load_named(str(packaged_folder(MINILM.name)))


def search_once(rag: DiscoRAG, query: str) -> None:
    """The floor: one encoding and one hybrid search."""
    [vector] = torch_encoder().encode([query], normalize_embeddings=True, show_progress_bar=False)
    rag.backends.store.search(rag.scope(), SearchQuery(vector=vector, text=query, retrieval="hybrid"))


def cpu(call: Callable[[], object]) -> float:
    """Seconds of processor time."""
    start = time.process_time()
    call()
    return time.process_time() - start


def without_memory(backends: Backends) -> DiscoRAG:
    """The same store and models, and nothing remembered of earlier questions."""
    return DiscoRAG(backends=Backends(backends.settings, backends.store, backends.bare_encoder, None))


def time_questions(backends: Backends, texts: Sequence[str], **switches: Any) -> tuple[float, float, float]:
    """Medians of seconds: a question where nothing is remembered, one whose evidence was asked for, a floor.

    A question's own vector is never remembered: there are more of them than `MemoEncoder` keeps.
    """
    torch_encoder()  # is loaded before anything is timed
    warm = without_memory(backends)
    unseen, known, floors = list[float](), list[float](), list[float]()
    for _ in range(ROUNDS):
        for text in texts:
            fresh = without_memory(backends)
            unseen.append(cpu(partial(fresh.ask, text, **switches)))
            known.append(cpu(partial(warm.ask, text, **switches)))
            floors.append(cpu(partial(search_once, warm, text)))
    return median(unseen), median(known[len(texts) :]), median(floors)


def measure_ingest(rag: DiscoRAG, folder: Path) -> dict[str, float]:
    """A default ingest over one encoding of its chunks."""
    words = sum(len(f.read_text("utf-8").split()) for f in folder.glob("*"))
    spent = cpu(lambda: without_memory(rag.backends).ingest(folder, refresh=True))
    store, scope = rag.backends.store, rag.scope()
    texts = [c.text for m in rag.documents() for c in store.chunks_of(scope, m.doc_id)]
    one = cpu(partial(torch_encoder().encode, texts, batch_size=32, normalize_embeddings=True))
    return {"ingest_passes": spent / one, "ingest_cpu_s": spent, "ingest_words_per_cpu_s": words / spent}


def process_cpu(command: Sequence[str], home: Path) -> float:
    """Seconds of processor time of a new process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"DISCO_RAG_STORE__PATH": str((home / "store").resolve())}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_starts(home: Path, question: str) -> dict[str, float]:
    """``--help`` over what it cannot do without, and a first answer."""
    program = [sys.executable, "-c", "from discorag import main; main()"]
    libraries = median(process_cpu([sys.executable, "-c", "import typer, rich"], home) for _ in range(ROUNDS))
    shown = median(process_cpu([*program, "--help"], home) for _ in range(ROUNDS))
    first = median(process_cpu([*program, "ask", question], home) for _ in range(ROUNDS))
    return {"help_ratio": shown / libraries, "help_cpu_s": shown, "first_answer_cpu_s": first}


def measure(home: Path) -> dict[str, float]:
    """All figures."""
    folder = papers(home)
    texts = questions(folder)
    shutil.rmtree(home / "store", ignore_errors=True)
    settings: Settings = read_settings().model_copy(update={"store": StoreSettings(path=home / "store")})
    found: dict[str, float] = {}
    with DiscoRAG(settings) as rag:
        rag.ingest(folder)
        found |= measure_ingest(rag, folder)
        for name, switches in (("", {}), ("_dense", {"retriever": "dense"})):
            unseen, known, floor = time_questions(rag.backends, texts, **switches)
            found |= {f"ask_unseen_floors{name}": unseen / floor, f"ask_known_floors{name}": known / floor}
            found |= {f"ask_unseen_ms{name}": 1000 * unseen, f"floor_ms{name}": 1000 * floor}
    found |= measure_starts(home, texts[0])
    shutil.rmtree(home / "fresh", ignore_errors=True)
    command = [sys.executable, "-m", "bench.process", str(home / "fresh" / "store"), str(folder)]
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found["peak_mb"] = float(ended.stdout.splitlines()[-1])
    return {name: round(value, 3) for name, value in found.items()}


def main(
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
    home: Annotated[Path, typer.Option(help="Folder of papers and store.")] = HOME,
) -> None:
    """Measure, write, show."""
    found = measure(home)
    report.write(out, found)
    table = Table("figure", "value", "at most")
    for name, value in found.items():
        table.add_row(name, f"{value:,}", str(TARGETS.get(name, "")))
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
