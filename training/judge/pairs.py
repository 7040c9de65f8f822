"""Pairs as word pieces: what `training.verify` learns from, and which of them say that evidence denies a sentence."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from training.verify.sources import Pair, plain

ENTAILED, NEUTRAL, CONTRADICTED, UNSAID = range(4)
"""Labels; `UNSAID` is one of the two in the middle, not known which."""
PIECES = 192
"""Word pieces of a pair; the evidence is cut."""
_BATCH_PIECES = 2048
_DENIED = frozenset({"negation", "opposite", "number", "time"})
"""Edits of ours after which the evidence denies the sentence."""


@dataclass(frozen=True)
class Labelled:
    """A pair and its label.

    Example:
        >>> from training.judge.pairs import CONTRADICTED, Labelled
        >>> from training.verify.sources import Pair
        >>> Labelled(Pair("mnli", "p", "It rained.", "It was dry.", False), CONTRADICTED).label
        2
    """

    pair: Pair
    label: int


def labelled(found: Iterable[Pair], denied: frozenset[tuple[str, str, str]]) -> Iterator[Labelled]:
    """With three classes where the set has them, else two.

    Args:
        found: Pairs of `training.verify.examples`.
        denied: Source, evidence and sentence of what others call a contradiction.
    """
    for p in found:
        yield Labelled(p, _label(p, denied))


def _label(p: Pair, denied: frozenset[tuple[str, str, str]]) -> int:
    if p.supported:
        return ENTAILED
    if p.edit:
        return CONTRADICTED if p.edit in _DENIED else NEUTRAL if p.edit == "elsewhere" else UNSAID
    if p.source == "fm2" or (p.source, p.evidence, p.sentence) in denied:  # fm2: supported or refuted
        return CONTRADICTED
    return NEUTRAL if p.source in ("mnli", "snli") else UNSAID


def contradictions(data: Path) -> frozenset[tuple[str, str, str]]:
    """Pairs of three-way sets that are contradictions, and refuted claims of two-way sets."""
    home, found = data / "entailment", set[tuple[str, str, str]]()
    for name in ("mnli", "snli"):
        with (home / f"nli_datasets/{name}/dev.csv").open(encoding="utf-8", newline="") as lines:
            rows = [r for r in csv.DictReader(lines) if r["label"] == "contradiction"]
        found |= {(name, plain(r["premise"]), plain(r["hypothesis"])) for r in rows}
    for file in (home / "feversymmetric/symmetric_v0.2").glob("*.jsonl"):
        rows = [r for r in map(json.loads, file.open(encoding="utf-8")) if r["label"] == "REFUTES"]
        found |= {("feversymmetric", plain(r["evidence"]), plain(r["claim"])) for r in rows}
    return frozenset(found)


@dataclass(frozen=True)
class Batch:
    """Pairs of about one length: ids, mask and what is the sentence, of shape (pairs, pieces); labels; which pairs."""

    ids: Tensor
    mask: Tensor
    sentence: Tensor
    labels: Tensor
    places: Sequence[int]


def batches(pairs: Sequence[Labelled], tokenizer: Any, order: Sequence[int]) -> Iterator[Batch]:
    """Of at most `_BATCH_PIECES` pieces; of each thousand in ``order`` those of like length stand together."""
    for first in range(0, len(order), 1024):
        some = order[first : first + 1024]
        encoded = tokenizer(
            [pairs[i].pair.evidence for i in some],
            [pairs[i].pair.sentence for i in some],
            truncation="longest_first",
            max_length=PIECES,
        )
        ranked = sorted(range(len(some)), key=lambda k: len(encoded["input_ids"][k]))
        for part in _parts(ranked, [len(x) for x in encoded["input_ids"]]):
            yield _batch(pairs, encoded, some, part)


def _parts(ranked: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    part: list[int] = []
    for k in ranked:
        if part and (len(part) + 1) * lengths[k] > _BATCH_PIECES:
            yield part
            part = []
        part.append(k)
    yield part


def _batch(pairs: Sequence[Labelled], encoded: Any, some: Sequence[int], part: Sequence[int]) -> Batch:
    length = len(encoded["input_ids"][part[-1]])

    def padded(rows: Iterable[Sequence[int]]) -> Tensor:
        return torch.tensor([[*row, *[0] * (length - len(row))] for row in rows])

    ids, mask = (padded(encoded[name][k] for k in part) for name in ("input_ids", "attention_mask"))
    sentence = padded([int(which == 1) for which in encoded.sequence_ids(k)] for k in part)
    labels = torch.tensor([pairs[some[k]].label for k in part])
    return Batch(ids, mask, sentence, labels, [some[k] for k in part])
