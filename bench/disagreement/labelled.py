"""Sets of pairs with labels: does the score put refuting pairs above the others? None of them was trained on."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.disagreement.judged import Judge
from bench.stats import auc
from discorag.schema.discourse import ChunkRelation

Pairs = Iterator[tuple[str, str, str]]
REFUTES, SUPPORTS, NEITHER = "refutes", "supports", "neither"
_CITATION = re.compile(r"<\|\w+\|>")


def healthver(folder: Path) -> Pairs:
    """Evidence and claim; pairs that are there twice count once."""
    labels = {"Refutes": REFUTES, "Supports": SUPPORTS, "Neutral": NEITHER}
    seen: set[tuple[str, str]] = set()
    for name in ("healthver_dev.csv", "healthver_test.csv"):
        with (folder / "healthver" / name).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                pair = row["evidence"], row["claim"]
                if pair not in seen:
                    seen.add(pair)
                    yield *pair, labels[row["label"]]


def climate_fever(folder: Path) -> Pairs:
    """Each sentence of evidence and its claim."""
    labels = {"REFUTES": REFUTES, "SUPPORTS": SUPPORTS, "NOT_ENOUGH_INFO": NEITHER}
    for line in (folder / "climate-fever/climate-fever.jsonl").read_text("utf-8").splitlines():
        read = json.loads(line)
        for one in read["evidences"]:
            yield one["evidence"], read["claim"], labels[one["evidence_label"]]


def citation_integrity(folder: Path) -> Pairs:
    """A cited article's five sentences and the sentence that cites it; ``refutes``: marked as contradicting."""
    home = folder / "citation-integrity"
    corpus = {d["doc_id"]: " ".join(d["abstract"]) for d in _lines(home / "corpus.jsonl")}
    errors = {(e["split"], str(e["id"])): e["labels"] for e in _lines(home / "original_labels.jsonl")}
    for split in ("train", "dev", "test"):
        for claim in _lines(home / f"claims_{split}.jsonl"):
            evidence = corpus.get(claim["cited_doc_ids"][0], "")
            labels = errors.get((split, str(claim["id"])), [])
            label = REFUTES if "CONTRADICT" in labels else SUPPORTS if claim["evidence"] and _fine(claim) else NEITHER
            if evidence:
                yield evidence, _CITATION.sub("", claim["claim"]).strip(), label


def _fine(claim: Mapping[str, Any]) -> bool:
    return all(e["label"] == "SUPPORT" for found in claim["evidence"].values() for e in found)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text("utf-8").splitlines())


SETS: Mapping[str, Callable[[Path], Pairs]] = {
    "healthver": healthver,
    "climate_fever": climate_fever,
    "citation_integrity": citation_integrity,
}


def measured(data: Path, judge: Judge) -> dict[str, Any]:
    """AUC of refuting pairs against supporting ones and against all others, and how often one is reported."""
    return {name: _scores(list(read(data / "contradiction")), judge) for name, read in SETS.items()}


def _scores(pairs: list[tuple[str, str, str]], judge: Judge) -> dict[str, Any]:
    said = judge.say([(a, b) for a, b, _ in pairs])
    by = {
        label: [s for s, p in zip(said, pairs, strict=True) if p[2] == label] for label in (REFUTES, SUPPORTS, NEITHER)
    }
    scores = {label: [s.score for s in found] for label, found in by.items()}
    told = {label: [s.reported is ChunkRelation.CONTRADICTS for s in found] for label, found in by.items()}
    return {
        "pairs": {label: len(found) for label, found in by.items()},
        "auc_refutes_supports": _auc(scores[REFUTES], scores[SUPPORTS]),
        "auc_refutes_rest": _auc(scores[REFUTES], scores[SUPPORTS] + scores[NEITHER]),
        "reported": {label: round(float(np.mean(hits)), 4) for label, hits in told.items()},
    }


def _auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    return round(auc(np.array(positive), np.array(negative)), 4)
