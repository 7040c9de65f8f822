"""Fit the model of support: ``python -m training.verify DATA HOME``. What it sees of the pairs is kept below HOME.

Writes ``discorag/verification/weights/support.json``, and what each part is worth into ``bench/results/support.json``.
"""

# scikit-learn is typed in part only.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from sklearn.metrics import roc_auc_score

from discorag.claims.features import GROUPS, NAMES, Seen, seen
from discorag.claims.pair_model import PairModel
from discorag.verification.support import WEIGHTS
from training.once import made_once
from training.verify.examples import examples
from training.verify.fit import Examples, Labels, even, fit, scored_out_of_fold
from training.verify.sources import Pair

RESULTS = Path("bench/results/support.json")
ABLATED = 30_000
"""Pairs on which each part is left out in turn."""


def collected(data: Path, home: Path) -> Examples:
    """Pairs with what the model sees of them, made once."""
    rows = made_once(home / "examples.jsonl", lambda: map(_row, track(examples(data), "Reading pairs")))
    what = [Seen(np.array(row["numbers"], np.float32), frozenset(row["cues"])) for row in rows]
    return Examples([Pair(**row["pair"]) for row in rows], what)


def _row(p: Pair) -> dict[str, Any]:
    found = seen(p.sentence, p.evidence)
    return {"pair": asdict(p), "numbers": found.numbers.tolist(), "cues": sorted(found.cues)}


def aucs(examples: Examples, scores: Sequence[float]) -> dict[str, float]:
    """By set, and by what was edited; each edit against what stayed supported."""
    y, told = examples.supported, dict[str, float]()
    source = np.array([p.source if not p.edit else "" for p in examples.pairs])
    edit, values = np.array([p.edit for p in examples.pairs]), np.asarray(scores)
    masks = {name: source == name for name in sorted(set(source) - {""})} | {"edits": edit != ""}
    masks |= {f"edit {k}": (edit == k) & ~y | (edit != "") & y for k in sorted(set(edit[~y]) - {""})}
    for name, mask in masks.items():
        told[name] = round(float(roc_auc_score(y[mask], values[mask])), 3)
    return told


def ablation(examples: Examples) -> dict[str, dict[str, float]]:
    """`aucs` with everything, and without each part, each by models fitted without the pair's group."""
    found, labels = examples.seen, Labels.of(examples)
    told = {"all": aucs(examples, list(scored_out_of_fold(found, labels)))}
    for group, names in GROUPS.items():
        columns = [i for i, name in enumerate(NAMES) if name not in names]
        told[f"without {group}"] = aucs(examples, list(scored_out_of_fold(found, labels, columns)))
    told["without cues"] = aucs(examples, list(scored_out_of_fold(found, labels, cues=False)))
    return told


def held_out(model: PairModel, examples: Examples) -> dict[str, Any]:
    """`aucs` on the groups that nothing was fitted on."""
    return aucs(examples, list(model.probabilities(examples.seen)))


def main(
    data: Annotated[Path, typer.Argument(help="The benchmarks' data.")],
    home: Annotated[Path, typer.Argument(help="Where what is seen of the pairs is kept.")],
) -> None:
    """Collect, fit, write."""
    found = collected(data, home)
    part = found.part(held_out=False)
    model = fit(part.seen, Labels.of(part), NAMES, even)
    WEIGHTS.write_text(model.model_dump_json() + "\n", "utf-8")
    told = {
        "pairs": len(part.pairs),
        "threshold": model.threshold,
        "held_out": held_out(model, found.part(held_out=True)),
    }
    RESULTS.write_text(json.dumps(told | {"folds": ablation(part.some(ABLATED))}, indent=1) + "\n", "utf-8")
    Console().print_json(json.dumps(told))


if __name__ == "__main__":
    typer.run(main)
