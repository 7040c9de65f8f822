"""Pairs that contradict each other or do not, of the sets and edits that `training.verify` learns from.

Nothing of the benchmark's sets of contradictions is among them.
"""

from __future__ import annotations

import asyncio
import csv
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discorag.ingest.segment.sentence_table import within_window
from discorag.models.encoder import PackagedEncoder
from training.verify.examples import examples, texts
from training.verify.sources import Pair, held_out, plain

NATURAL = "natural"
"""Sentences of one text, near in meaning: a text does not contradict itself."""
SOURCES = frozenset({"mnli", "snli", "fm2", "feversymmetric"})
"""Sets that tell contradiction from what is only not said."""
MOST = {"edits": 9_000, "": 6_000}
"""Pairs of a kind and label."""
DENIED = frozenset({"negation", "opposite", "number", "time"})
"""Edits after which the evidence denies the sentence."""
SEED = 3
_LONGEST = 80  # words of the evidence: the product compares sentences
_WORDS = (6, 50)  # of a natural sentence
_SENTENCES, _OF_TEXT = 40, 6  # looked at, and pairs taken of a text
_NEAR = (0.5, 0.97)  # cosine of a natural pair


@dataclass(frozen=True)
class Opposed:
    """Two sentences.

    Args:
        kind: ``edits``, `NATURAL`, or the set.
        pair: ``supported`` of it says nothing.
        contradicted: Whether they contradict each other.
    """

    kind: str
    pair: Pair
    contradicted: bool


def opposed(data: Path) -> list[Opposed]:
    """All of them, at most `MOST` of a kind and label."""
    rng, by = random.Random(SEED), defaultdict[tuple[str, bool], list[Opposed]](list)
    for one in _labelled(data):
        by[one.kind, one.contradicted].append(one)
    for found in by.values():
        rng.shuffle(found)
    some = [o for (kind, _), found in by.items() for o in found[: MOST.get(kind, MOST[""])]]
    return some + list(_natural(data))


def _labelled(data: Path) -> Iterator[Opposed]:
    denied = _denied(data / "entailment")
    for p in examples(data):
        kind = "edits" if p.edit else p.source
        known = not p.edit or p.supported or p.edit in DENIED | {"elsewhere"}
        if known and kind in SOURCES | {"edits"} and len(p.evidence.split()) <= _LONGEST:
            said = p.edit in DENIED or p.source == "fm2" or (p.source, p.evidence, p.sentence) in denied
            yield Opposed(kind, p, contradicted=said and not p.supported)


def _denied(home: Path) -> frozenset[tuple[str, str, str]]:
    """Set, evidence and sentence of what others call a contradiction or refuted."""
    found = set[tuple[str, str, str]]()
    for name in ("mnli", "snli"):
        with (home / f"nli_datasets/{name}/dev.csv").open(encoding="utf-8", newline="") as lines:
            rows = [r for r in csv.DictReader(lines) if r["label"] == "contradiction"]
        found |= {(name, plain(r["premise"]), plain(r["hypothesis"])) for r in rows}
    for file in (home / "feversymmetric/symmetric_v0.2").glob("*.jsonl"):
        rows = [r for r in map(json.loads, file.open(encoding="utf-8")) if r["label"] == "REFUTES"]
        found |= {("feversymmetric", plain(r["evidence"]), plain(r["claim"])) for r in rows}
    return frozenset(found)


def _natural(data: Path) -> Iterator[Opposed]:
    encoder = PackagedEncoder()
    for source, group, parts in texts(data / "entailment"):
        some = [s for s in parts if _WORDS[0] <= len(s.split()) <= _WORDS[1]][:_SENTENCES]
        if len(some) < 2:
            continue
        vectors = asyncio.run(encoder.encode_documents(within_window(some, encoder)))
        alike = np.triu(vectors @ vectors.T, 1)
        near = [(i, j) for i, j in np.argwhere((alike > _NEAR[0]) & (alike < _NEAR[1])).tolist()]
        for i, j in sorted(near, key=lambda k: -alike[k])[:_OF_TEXT]:
            yield Opposed(NATURAL, Pair(source, group, some[i], some[j], supported=False), contradicted=False)


def scores_only(one: Opposed) -> bool:
    """Whether its group is held out."""
    return held_out(one.pair.source, one.pair.group)
