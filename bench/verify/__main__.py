"""What the verifier calls supported, beside what people say: ``make bench-verify`` > ``bench/results/verify.json``.

Usage: ``python -m bench.verify [--engine NAME] [--out FILE] [--only PART ...] [--before FILE]``; parts are ``edits``,
``hostile``, ``sets``, ``cost``. A score is the confidence that the answer gives for a sentence, of several the lowest;
a verifier that gives none scores 1 and 0.
"""

# scikit-learn is typed in part only.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from bench.verify.judged import Judged, judged
from bench.verify.pairs import FOLDER, Pair, load_hostile, load_pairs
from bench.verify.sets import sets
from discorag.models.encoder import PackagedEncoder
from discorag.models.memo import MemoEncoder
from discorag.verification.verifier import VERIFIERS, Verifier
from eval.options import data_folder

OUT = Path("bench/results/verify.json")
FALSE_ALARMS = 0.1


def recall_at(supported: Sequence[bool], scores: Sequence[float], alarms: float = FALSE_ALARMS) -> float:
    """The highest share of unsupported sentences below a threshold under which at most ``alarms`` of the others lie."""
    of_supported = sorted(s for s, yes in zip(scores, supported, strict=True) if yes)
    least = of_supported[int(alarms * len(of_supported))]
    return float(np.mean([s < least for s, yes in zip(scores, supported, strict=True) if not yes]))


def edits(pairs: Sequence[Pair], found: Sequence[Judged]) -> dict[str, Any]:
    """AUC, recall at ten percent false alarms, what the engine's own threshold flags, and AUC by edit."""
    yes, scores = [p.supported for p in pairs], [j.score for j in found]
    told: dict[str, Any] = {"auc": auc(yes, scores), "recall_at_10": round(recall_at(yes, scores), 3)}
    flagged = [not j.supported for j in found]
    told["recall"] = _share(f for f, y in zip(flagged, yes, strict=True) if not y)
    told["false_alarms"] = _share(f for f, y in zip(flagged, yes, strict=True) if y)
    kinds = sorted({p.edit for p in pairs} - {"none"})
    told["auc_by_edit"] = {k: _by_edit(k, pairs, scores) for k in kinds}
    told["recall_by_edit"] = {k: _share(f for f, p in zip(flagged, pairs, strict=True) if p.edit == k) for k in kinds}
    return told


def _by_edit(kind: str, pairs: Sequence[Pair], scores: Sequence[float]) -> float:
    kept = [(p.supported, s) for p, s in zip(pairs, scores, strict=True) if p.edit in (kind, "none")]
    return auc(*zip(*kept, strict=True))


def auc(supported: Sequence[bool], scores: Sequence[float]) -> float:
    """Area under the ROC curve."""
    return round(float(roc_auc_score(list(supported), list(scores))), 3)


def _share(values: Any) -> float:
    return round(float(np.mean([*values])), 3)


async def _edits(verifier: Verifier) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for half in ("heldout", "dev"):
        pairs = load_pairs(FOLDER / f"{half}.jsonl")
        told[half] = edits(pairs, [await judged(verifier, {"d": p.evidence}, p.sentence) for p in pairs])
    return {**{k: told["heldout"][k] for k in ("auc", "recall_at_10")}, **told}


async def _hostile(verifier: Verifier) -> dict[str, Any]:
    cases = load_hostile(FOLDER / "hostile.jsonl")
    accepted = [c.id for c in cases if (await judged(verifier, c.documents, c.sentence)).supported]
    false, true = ([c.id for c in cases if c.supported is kind] for kind in (False, True))
    return {
        "stitched_accepted": len(set(false) & set(accepted)),
        "stitched": {"of": len(false), "accepted": [i for i in false if i in accepted]},
        "stitched_true": {"of": len(true), "rejected": [i for i in true if i not in accepted]},
    }


async def _sets(verifier: Verifier) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for name, pairs in sets(data_folder()).items():
        found = [await judged(verifier, {"d": p.evidence}, p.sentence) for p in pairs]
        yes = [p.supported for p in pairs]
        told[name] = {
            "n": len(pairs),
            "balanced_accuracy": round(float(balanced_accuracy_score(yes, [j.supported for j in found])), 3),
            "auc": auc(yes, [j.score for j in found]),
        }
    return {"balanced_accuracy": {k: v["balanced_accuracy"] for k, v in told.items()}, "sets": told}


async def _cost(make: Callable[[], Verifier], encoder: PackagedEncoder) -> dict[str, Any]:
    """Processor time of verifying an answer of three sentences, evidence known, over that of encoding a question.

    ``copied``: the sentences are the documents' own, as those of an answer without a language model; ``written``: they
    are not, and have to be encoded too. The floor of other benchmarks has a search besides, and is longer.
    """
    cases = [c for c in load_hostile(FOLDER / "hostile.jsonl") if not c.supported]
    floor = await _encoding(encoder)
    told: dict[str, Any] = {"encoding_ms": round(1000 * floor, 2)}
    for name in ("copied", "written"):
        verifier, took = make(), list[float]()
        for c in cases:
            copied = [text.split(". ")[0] + "." for text in c.documents.values()]
            sentences = (
                [*copied, *copied[:1]] if name == "copied" else [c.sentence, c.sentence[:-1] + " too.", *copied[:1]]
            )
            took.append((await judged(verifier, c.documents, " ".join(sentences), timed=True)).seconds)
        told[f"cpu_floors_{name}"] = round(median(took) / floor, 3)
    return told


async def _encoding(encoder: PackagedEncoder) -> float:
    """Seconds of processor time, the median of thirty."""
    took: list[float] = []
    for i in range(30):
        start = time.process_time()
        await encoder.encode_query(f"How did {i} supplements change the number of colds in winter?")
        took.append(time.process_time() - start)
    return median(took)


def main(
    engine: Annotated[str, typer.Option(help="Verifier.")] = "local",
    out: Annotated[Path, typer.Option(help="JSON file.")] = OUT,
    only: Annotated[list[str] | None, typer.Option(help="Parts; all if none is named.")] = None,
    before: Annotated[Path | None, typer.Option(help="An earlier result, to which costs are compared.")] = None,
) -> None:
    """Measure and write."""
    encoder = PackagedEncoder()

    def made() -> Verifier:
        return VERIFIERS[engine](_Tools(MemoEncoder(encoder)))  # pyright: ignore[reportArgumentType]

    told: dict[str, Any] = json.loads(out.read_text("utf-8")) if only and out.is_file() else {}
    parts = {
        "edits": lambda: _edits(made()),
        "hostile": lambda: _hostile(made()),
        "sets": lambda: _sets(made()),
        "cost": lambda: _cost(made, encoder),
    }
    for name in only or parts:
        told |= asyncio.run(parts[name]())
    if before is not None and "cpu_floors_copied" in told:
        told["cpu_floors_added"] = _added(told, json.loads(before.read_text("utf-8")))
    out.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    typer.echo(json.dumps({k: v for k, v in told.items() if not isinstance(v, dict)}, indent=1))


def _added(now: dict[str, Any], before: dict[str, Any]) -> float:
    """By an answer of the default engine, whose sentences are copied."""
    return round(now["cpu_floors_copied"] - before["cpu_floors_copied"], 3)


class _Tools:
    """What a verifier without a language model is made of."""

    def __init__(self, encoder: MemoEncoder) -> None:
        self.encoder = encoder


if __name__ == "__main__":
    typer.run(main)
