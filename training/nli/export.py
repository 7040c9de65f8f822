"""From a run's state to the files that judge: int8 weights, a temperature and a threshold, and what bytes cost."""

# torch and scikit-learn are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import json
import random
import shutil
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from sklearn.metrics import roc_auc_score

from training.nli.graph import start_model, write_graph
from training.nli.judge import Floats, Judge, probabilities, surprise, temperature_of, threshold_of
from training.nli.sources import CLASSES, CONTRADICTION, ENTAILMENT, LICENCES, NOT_ENTAILED, Pair
from training.nli.train import encoded, padded, tokenizer_of

EACH = 400
"""Pairs of a set that are held out, to choose temperature and threshold and to compare bytes with floats."""


def export(home: Path, pairs: Sequence[Pair], start: Path) -> dict[str, Any]:
    """Write ``home/model`` and the weights as floats from ``home/state.pt``; return what ``nli.json`` says."""
    folder = home / "model"
    folder.mkdir(exist_ok=True)
    shutil.copy(start / "tokenizer.json", folder)
    state = torch.load(home / "state.pt", weights_only=True, map_location="cpu")
    save_file({name: value.contiguous() for name, value in state["model"].items()}, home / "weights.safetensors")
    write_graph(start, state["model"], folder / "model.onnx")
    some = chosen(pairs)
    logits = Judge(folder).logits([(p.evidence, p.sentence) for p in some])
    labels, sets = np.array([p.label for p in some]), [set_of(p) for p in some]
    temperature = temperature_of(logits, labels)
    found = probabilities(logits, temperature)
    told = {
        "sha256": sha256((folder / "model.onnx").read_bytes()).hexdigest(),
        "classes": CLASSES,
        "temperature": temperature,
        "threshold": threshold_of(found[:, ENTAILMENT], labels, sets),
        "trained_on": LICENCES,
        "run": json.loads((home / "run.json").read_text("utf-8")),
        "held_out": {"surprise": [surprise(logits, labels, t) for t in (1.0, temperature)]},
        "int8": scores(found, some),
        "float32": scores(probabilities(_in_floats(state["model"], some, start), temperature), some),
    }
    (folder / "nli.json").write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    config = {"id2label": dict(enumerate(CLASSES)), "hypothesis_first": True, "temperature": temperature}
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", "utf-8")
    return told


def chosen(pairs: Sequence[Pair]) -> list[Pair]:
    """At most `EACH` of a set, of groups that are held out."""
    by: dict[str, list[Pair]] = {}
    for p in pairs:
        if p.held_out:
            by.setdefault(set_of(p), []).append(p)
    return [p for name in sorted(by) for p in random.Random(name).sample(by[name], min(EACH, len(by[name])))]


def set_of(pair: Pair) -> str:
    """The set, or ``edits``."""
    return "edits" if pair.edit else pair.source


def scores(found: Floats, pairs: Sequence[Pair]) -> dict[str, dict[str, float]]:
    """By set: AUC of entailed; of three classes also that of contradicted, and the share that is right."""
    label, of = np.array([p.label for p in pairs]), np.array([set_of(p) for p in pairs])
    told: dict[str, dict[str, float]] = {}
    for name in sorted(set(of)):
        mine, said = label[of == name], found[of == name]
        told[name] = {"auc": _rounded(roc_auc_score(mine == ENTAILMENT, said[:, ENTAILMENT]))}
        if name != "edits" and NOT_ENTAILED not in mine:
            told[name]["contradiction_auc"] = _rounded(roc_auc_score(mine == CONTRADICTION, said[:, CONTRADICTION]))
            told[name]["right"] = _rounded((said.argmax(-1) == mine).mean())
    return told


def _rounded(value: Any) -> float:
    return round(float(value), 3)


def _in_floats(state: dict[str, Any], pairs: Sequence[Pair], start: Path) -> Floats:
    """The logits before the weights were made bytes."""
    model: Any = start_model(start, len(CLASSES)).eval()
    model.load_state_dict(state)
    rows = encoded(pairs, tokenizer_of(start))
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].ids))
    found = np.zeros((len(rows), len(CLASSES)))
    with torch.inference_mode():
        for first in range(0, len(order), 16):
            part = order[first : first + 16]
            batch = padded([rows[i] for i in part])
            logits = model(input_ids=batch.ids, attention_mask=batch.mask, token_type_ids=batch.types).logits
            found[part] = logits.numpy()
    return found
