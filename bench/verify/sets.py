"""Others' pairs that score the verifier: read from the data folder, parts that nothing was fitted on.

ContractNLI and WiCE are not fitted on at all; of SummEdits and FEVER Symmetric the groups that `training.verify` holds
out. No text of theirs is kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from training.nli.apart import symmetric
from training.nli.sources import ENTAILMENT, SUMMARIES, Pair, held_out, plain

MOST = 150
"""Pairs of a set, by the hash of their texts."""


@dataclass(frozen=True)
class Scored:
    """One pair of a set that scores: ``sentence`` may be several, which must all be supported."""

    evidence: str
    sentence: str
    supported: bool

    @property
    def order(self) -> str:
        """What decides whether it is among `MOST`."""
        return sha256(f"{self.evidence}|{self.sentence}".encode()).hexdigest()


def sets(data: Path) -> dict[str, list[Scored]]:
    """By name, at most `MOST` pairs each."""
    home = data / "entailment"
    found = {
        "contractnli_dev": list(contracts(data / "contractnli/dev.json")),
        "summedits": list(summaries(home / "summedits")),
        "wice": list(web_claims(home / "wice/entailment_retrieval/claim")),
        "feversymmetric": [_of(p) for p in symmetric(home / "feversymmetric/symmetric_v0.2") if p.held_out],
    }
    return {name: sorted(pairs, key=lambda p: p.order)[:MOST] for name, pairs in found.items()}


def _of(pair: Pair) -> Scored:
    return Scored(pair.evidence, pair.sentence, pair.label == ENTAILMENT)


def contracts(file: Path) -> Iterator[Scored]:
    """Hypotheses with the spans that entail or contradict them; without spans there is no evidence to give."""
    told = json.loads(file.read_text("utf-8"))
    for document in told["documents"]:
        for name, found in document["annotation_sets"][0]["annotations"].items():
            spans = [document["spans"][i] for i in found["spans"]]
            evidence = "\n\n".join(" ".join(document["text"][a:b].split()) for a, b in spans)
            if evidence:
                yield Scored(evidence, told["labels"][name]["hypothesis"], found["choice"] == "Entailment")


def summaries(folder: Path) -> Iterator[Scored]:
    """Whole summaries of the documents that are held out, and of the two domains that are not fitted on."""
    for name in (*SUMMARIES, "news", "ectsum"):
        for row in json.loads((folder / f"summedits_{name}.json").read_text("utf-8")):
            if name not in SUMMARIES or held_out("summedits", f"{name}|{row['doc'][:80]}"):
                yield Scored(row["doc"], row["summary"], bool(row["label"]))


def web_claims(folder: Path) -> Iterator[Scored]:
    """Claims of Wikipedia and the page that they cite; partly supported is not supported."""
    for file in sorted(folder.glob("*.jsonl")):
        for row in map(json.loads, file.open(encoding="utf-8")):
            evidence = "\n".join(line for line in row["evidence"] if not line.startswith("(meta data)"))
            yield Scored(plain(evidence), row["claim"], row["label"] == "supported")
