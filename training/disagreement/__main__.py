"""Fit the model of contradiction: ``python -m training.disagreement DATA HOME``. Pairs are kept below HOME.

Writes ``discorag/conflicts/weights/contradiction.json``, and what it is worth on groups that nothing was fitted on
into ``bench/results/contradiction.json``.
"""

# scikit-learn is typed in part only.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from sklearn.metrics import roc_auc_score

from discorag.conflicts.claims.features import Seen
from discorag.conflicts.features import NAMES, WEIGHTS, beside
from discorag.conflicts.statement import Compared, Statement
from discorag.ingest.segment.sentence_table import within_window
from discorag.models.encoder import PackagedEncoder
from training.disagreement.pairs import NATURAL, Opposed, opposed, scores_only
from training.once import made_once
from training.verify.fit import Floats, Labels, fit
from training.verify.sources import Pair

RESULTS = Path("bench/results/contradiction.json")
FALSE = 0.025
"""Pairs of others that do not contradict each other and may be called so; of the natural ones a fiftieth of that."""


def collected(data: Path, home: Path) -> list[Opposed]:
    """The pairs, made once."""
    rows = made_once(home / "opposed.jsonl", lambda: map(asdict, opposed(data)))
    return [Opposed(row["kind"], Pair(**row["pair"]), row["contradicted"]) for row in rows]


def viewed(found: Sequence[Opposed]) -> list[Seen]:
    """What the model sees of each pair; every other one turned round."""
    texts = list(dict.fromkeys(t for o in found for t in (o.pair.evidence, o.pair.sentence)))
    encoder = PackagedEncoder()
    vectors = asyncio.run(encoder.encode_documents(within_window(texts, encoder)))
    at = {text: vectors[i] for i, text in enumerate(texts)}
    told: list[Seen] = []
    for i, o in enumerate(track(found, "Reading pairs")):
        a, b = o.pair.evidence, o.pair.sentence
        told.append(beside(Compared(Statement(a), Statement(b), float(at[a] @ at[b])))[i % 2])
    return told


def labels(found: Sequence[Opposed]) -> Labels:
    """Every kind with the same weight, and its labels too; what is natural twice that."""
    y, kinds = np.array([o.contradicted for o in found]), np.array([o.kind for o in found])
    weights = np.zeros(len(found))
    for kind in set(kinds):
        for label in (True, False):
            mask = (kinds == kind) & (y == label)
            if mask.any():
                weights[mask] = (2 if kind == NATURAL else 1) / mask.sum()
    groups = np.array([f"{o.pair.source}|{o.pair.group}" for o in found])
    return Labels(y, weights * len(found) / weights.sum(), groups)


def rarely(kinds: NDArray[np.str_], probabilities: Floats, given: Labels) -> float:
    """The least probability above which no kind has more than `FALSE` of its pairs called contradictions falsely."""
    calm = {k: probabilities[(kinds == k) & ~given.y] for k in set(kinds)}
    return round(max(float(np.quantile(p, 1 - FALSE / (50 if k == NATURAL else 1))) for k, p in calm.items()), 2)


def worth(found: Sequence[Opposed], probabilities: Floats, threshold: float) -> dict[str, Any]:
    """By kind: AUC, and the share called a contradiction of those that are one and of the others."""
    y, kinds = np.array([o.contradicted for o in found]), np.array([o.kind for o in found])
    told: dict[str, Any] = {}
    for kind in sorted(set(kinds)):
        own = kinds == kind
        called = probabilities[own] >= threshold
        both = len(set(y[own])) == 2
        told[str(kind)] = {
            "pairs": int(own.sum()),
            "auc": round(float(roc_auc_score(y[own], probabilities[own])), 3) if both else None,
            "found": round(float(called[y[own]].mean()), 3) if both else None,
            "false": round(float(called[~y[own]].mean()), 4),
        }
    return told


def main(
    data: Annotated[Path, typer.Argument(help="The benchmarks' data.")],
    home: Annotated[Path, typer.Argument(help="Where the pairs are kept.")],
) -> None:
    """Collect, fit, write."""
    found = collected(data, home)
    seen, held = viewed(found), np.array([scores_only(o) for o in found])
    fitted = [i for i in range(len(found)) if not held[i]]
    kinds = np.array([found[i].kind for i in fitted])
    model = fit(
        [seen[i] for i in fitted], labels([found[i] for i in fitted]), NAMES, lambda p, given: rarely(kinds, p, given)
    )
    WEIGHTS.write_text(model.model_dump_json() + "\n", "utf-8")
    rest = np.flatnonzero(held).tolist()
    scores = model.probabilities([seen[i] for i in rest])
    told = {"pairs": len(fitted), "threshold": model.threshold}
    told |= {"held_out": worth([found[i] for i in rest], scores, model.threshold)}
    RESULTS.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    Console().print_json(json.dumps(told))


if __name__ == "__main__":
    typer.run(main)
