"""What is served: papers and meetings, and the repository's example texts, by corpus, and questions about them."""

from __future__ import annotations

import tomllib
from pathlib import Path

from bench.questions import english
from bench.serving.server import ROOT
from eval.datasets.registry import load_benchmark
from eval.options import data_folder
from eval.sample import Benchmark

EXAMPLES = ROOT / "examples"
MEETINGS = 4
MORE = {
    "vitamin-d": ("What is vitamin D?", "Who was in the winter trial?", "What does the guideline recommend?"),
    "tides": ("What is a neap tide?", "How is a tide table read?", "Does the Moon cause the tides?"),
    "bees": ("What does the waggle dance say?", "What do drones do?", "How does a colony survive the winter?"),
    "school-start": ("Why do adolescents sleep late?", "What did the board decide?"),
    "library-handbook": ("How long may a book be kept?", "Who may join the library?"),
}
"""Questions beside those of ``examples/questions.toml``."""


def texts() -> dict[str, dict[str, str]]:
    """Corpus -> file name -> text."""
    folders = sorted(path for path in EXAMPLES.glob("[!_]*") if path.is_dir())
    return {folder.name: {p.name: p.read_text(encoding="utf-8") for p in _files(folder)} for folder in folders}


def questions() -> list[tuple[str, str]]:
    """(corpus, question) pairs."""
    listed = tomllib.loads((EXAMPLES / "questions.toml").read_text(encoding="utf-8"))
    found = [(q["corpus"], q["text"]) for part in listed.values() for q in part]
    return found + [(corpus, text) for corpus, asked in MORE.items() for text in asked]


def real_texts() -> dict[str, dict[str, str]]:
    """Corpus -> file name -> text: Loong's first papers, QMSum's first meetings."""
    papers, meetings = _loong(), _qmsum()
    return {
        "papers": {f"{i}.md": d.text for i, d in enumerate(papers.documents.values())},
        "meetings": {f"{i}.txt": d.text for i, d in enumerate(meetings.documents.values())},
    }


def real_questions() -> list[tuple[str, str]]:
    """(corpus, question) pairs, those of the data sets."""
    return [("papers", s.query) for s in _loong().samples] + [("meetings", s.query) for s in _qmsum().samples]


def _loong() -> Benchmark:
    return english(3)


def _qmsum() -> Benchmark:
    whole = load_benchmark("qmsum", data_folder() / "qmsum/val.jsonl")
    kept = dict(list(whole.documents.items())[:MEETINGS])
    samples = tuple(s for s in whole.samples if set(s.documents) <= kept.keys())
    return Benchmark(name="qmsum-bench", documents=kept, samples=samples)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file())
