"""Makes the lists: ``python -m eval.splits DATA``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from rich.console import Console

from eval.datasets.asqa import load_asqa_pooled
from eval.datasets.clapnq import load_clapnq
from eval.datasets.fairytaleqa import load_fairytaleqa
from eval.datasets.hotpotqa import load_hotpotqa
from eval.datasets.musique import load_musique
from eval.datasets.nq_open_oracle import load_nq_open_oracle
from eval.datasets.qasper import load_qasper
from eval.datasets.qmsum import load_qmsum
from eval.sample import Benchmark
from eval.splits import dealt


def _documents(benchmark: Benchmark) -> list[str]:
    return list(benchmark.documents)


def _questions(benchmark: Benchmark) -> list[str]:
    return [sample.id for sample in benchmark.samples]


def _pages(benchmark: Benchmark) -> list[str]:
    return [document.title for document in benchmark.documents.values()]


_Groups = Callable[[Benchmark], Iterable[str]]
SETS: tuple[tuple[str, tuple[tuple[Callable[[Path], Benchmark], str], ...], _Groups], ...] = (
    ("clapnq", ((load_clapnq, "clapnq"),), _pages),
    ("fairytaleqa", ((load_fairytaleqa, "fairytaleqa"),), _documents),
    (
        "hotpotqa",
        (
            (load_hotpotqa, "hotpotqa/hotpot_dev_distractor_sample100.json"),
            (load_hotpotqa, "hotpotqa/hotpot_train_sample100.json"),
        ),
        _questions,
    ),
    ("musique", ((load_musique, "musique/musique_ans_train_sample100.jsonl"),), _questions),
    ("nq_open_oracle", ((load_nq_open_oracle, "nq_open_oracle/nq-open-oracle.jsonl"),), _pages),
    ("qasper", ((load_qasper, "qasper/qasper-sample-v0.3.json"),), _documents),
    ("qmsum", ((load_qmsum, "qmsum/test.jsonl"), (load_qmsum, "qmsum/val.jsonl")), _documents),
)


def _scored_pages(data: Path) -> set[str]:
    """Wikipedia pages of sets that are scored on: nothing is fitted on them."""
    asqa = load_asqa_pooled(data / "asqa/asqa_eval_pooled.json")
    return {*_pages(asqa), *_pages(load_clapnq(data / "clapnq"))}


def main(data: Path) -> None:
    """Write all lists."""
    scored = _scored_pages(data)
    for name, files, named in SETS:
        found = [group for load, path in files for group in named(load(data / path))]
        parts = dealt(name, found)
        if name == "nq_open_oracle":
            parts["score"] = sorted({*parts["score"], *scored.intersection(found)})
            parts["train"], parts["choose"] = ([p for p in parts[k] if p not in scored] for k in ("train", "choose"))
        target = Path(__file__).parent / f"{name}.json"
        target.write_text(json.dumps(parts, indent=1, ensure_ascii=False) + "\n", "utf-8")
        Console().print(name, {part: len(names) for part, names in parts.items()})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
