"""What is served under load alone: papers and meetings, by corpus, and the questions of their data sets."""

from __future__ import annotations

from functools import cache

from bench.questions import english
from eval.datasets.registry import load_benchmark
from eval.options import data_folder
from eval.sample import Benchmark

MEETINGS = 4


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


@cache
def _loong() -> Benchmark:
    return english(3)


@cache
def _qmsum() -> Benchmark:
    whole = load_benchmark("qmsum", data_folder() / "qmsum/val.jsonl")
    kept = dict(list(whole.documents.items())[:MEETINGS])
    samples = tuple(s for s in whole.samples if set(s.documents) <= kept.keys())
    return Benchmark(name="qmsum-bench", documents=kept, samples=samples)
