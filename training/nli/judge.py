"""A trained judge as a file: what ONNX Runtime says of pairs, and the temperature and threshold that belong to it."""

# onnxruntime and scikit-learn are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score

from training.nli.sources import ENTAILMENT, NOT_ENTAILED
from training.nli.train import tokenizer_of

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
_TOGETHER = 512  # word pieces of a run: bytes are scaled by the largest number of it, so a large one is less exact


class Judge:
    """The file in a folder, next to its ``tokenizer.json``; the reranker's own is read too.

    Args:
        folder: Where the two files are.
        threads: Of ONNX Runtime.
    """

    def __init__(self, folder: Path, threads: int = 1) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self._session = onnxruntime.InferenceSession(folder / "model.onnx", options, ["CPUExecutionProvider"])
        self.tokenizer = tokenizer_of(folder)

    def logits(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Of pairs of evidence and sentence; shape (pairs, classes)."""
        rows = self.tokenizer.encode_batch([(sentence, evidence) for evidence, sentence in pairs])
        order = sorted(range(len(rows)), key=lambda i: len(rows[i].ids))
        parts = list(_parts(order, [len(row.ids) for row in rows]))
        found: dict[int, Floats] = {}
        for part in parts:
            length = len(rows[part[-1]].ids)
            inputs = np.zeros((3, len(part), length), np.int64)
            for k, i in enumerate(part):
                size = len(rows[i].ids)
                inputs[:, k, :size] = rows[i].ids, rows[i].attention_mask, rows[i].type_ids
            names = ("input_ids", "attention_mask", "token_type_ids")
            [told] = self._session.run(None, dict(zip(names, inputs, strict=True)))
            found.update(zip(part, np.asarray(told, np.float64), strict=True))
        return np.array([found[i] for i in range(len(rows))])


def _parts(order: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    part: list[int] = []
    for i in order:
        if part and (len(part) + 1) * lengths[i] > _TOGETHER:
            yield part
            part = []
        part.append(i)
    if part:
        yield part


def probabilities(logits: Floats, temperature: float = 1.0) -> Floats:
    """Of entailment, neutral and contradiction."""
    scaled = logits / temperature
    raised = np.exp(scaled - scaled.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


def surprise(logits: Floats, labels: Labels, temperature: float) -> float:
    """The mean negative log probability of the labels; *not entailed* is two classes together."""
    found = probabilities(logits, temperature).clip(1e-12)
    exact = found[np.arange(len(labels)), labels.clip(max=NOT_ENTAILED - 1)]
    return float(-np.log(np.where(labels == NOT_ENTAILED, found[:, 1:].sum(-1), exact)).mean())


def temperature_of(logits: Floats, labels: Labels) -> float:
    """The temperature that surprises least, between a half and four."""
    return float(min(np.geomspace(0.5, 4, 61).round(3), key=lambda t: surprise(logits, labels, float(t))))


def threshold_of(probability: Floats, labels: Labels, sets: Sequence[str]) -> float:
    """The probability of entailment from which on a sentence is supported: best balanced accuracy, all sets alike."""
    of, yes = np.array(sets), labels == ENTAILMENT

    def worth(threshold: float) -> float:
        said = probability >= threshold
        return float(np.mean([balanced_accuracy_score(yes[of == name], said[of == name]) for name in set(sets)]))

    return float(max(np.linspace(0.05, 0.95, 91).round(2), key=lambda t: worth(float(t))))
