"""Pairs of evidence and sentence from sets that may be trained on, each with its licence; a part of each is held out.

Folders named ``evaluation-only`` are never read here.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from discorag.text.sentences import sentence_spans

LICENCES = {
    "mnli": "OANC, CC BY 3.0, CC BY-SA 3.0",
    "snli": "CC BY-SA 4.0",
    "scitail": "Apache-2.0",
    "fever-nli": "BSD-3-Clause, CC BY-SA 3.0",
    "feversymmetric": "CC BY-SA 3.0",
    "fm2": "Apache-2.0, CC BY-SA 3.0",
    "summedits": "Apache-2.0",
    "condaqa": "Apache-2.0, CC BY-SA 3.0",
    "begin": "CC BY 4.0",
}
SUMMARIES = ("sales_call", "sales_email", "qmsumm", "scitldr")
"""Parts of SummEdits that are read; news and earnings calls are others' text."""
HELD_OUT = 0.25


@dataclass(frozen=True)
class Pair:
    """A sentence beside its evidence.

    Args:
        source: One of `LICENCES`, or ``edits``.
        group: What must not be on both sides of a split: a premise, a page, a document.
        evidence: One or several sentences.
        sentence: What is said to follow.
        supported: Whether it does.
        edit: What an edit of ours changed; empty for others' labels.
    """

    source: str
    group: str
    evidence: str
    sentence: str
    supported: bool
    edit: str = ""

    @property
    def held_out(self) -> bool:
        """Whether its group only scores."""
        return held_out(self.source, self.group)


def pairs(data: Path) -> Iterator[Pair]:
    """All pairs of the sets in ``data/entailment`` that may be trained on."""
    home = data / "entailment"
    for name in ("mnli", "snli", "scitail"):
        yield from _csv(name, home / f"nli_datasets/{name}/dev.csv")
    pairs_of_four = list(symmetric(home / "feversymmetric/symmetric_v0.2"))
    yield from pairs_of_four
    scored = {p.sentence for p in pairs_of_four if p.held_out}
    yield from (p for p in _fever(home / "fever-nli/binary-FEVER-NLI") if p.sentence not in scored)
    yield from _fm2(home / "fm2")
    yield from _condaqa(home / "condaqa/condaqa_dev.json")
    yield from _begin(home / "begin")
    yield from _summedits(home / "summedits")


def _csv(name: str, file: Path) -> Iterator[Pair]:
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            premise, hypothesis = plain(row["premise"]), plain(row["hypothesis"])
            if premise and hypothesis:
                yield Pair(name, premise, premise, hypothesis, row["label"] == "entailment")


def _fever(folder: Path) -> Iterator[Pair]:
    for file in sorted(folder.glob("*.txt")):
        for line in file.read_text("utf-8").splitlines():
            label, premise, hypothesis = line.split("\t")
            yield Pair("fever-nli", hypothesis, plain(premise), plain(hypothesis), label == "entailment")


def symmetric(folder: Path) -> Iterator[Pair]:
    """FEVER Symmetric: claims and evidence in fours, of which two are supported."""
    for row in (json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.open(encoding="utf-8")):
        evidence, claim = plain(row["evidence"]), plain(row["claim"])
        number = int(row["id"])
        four = str(number // 10**7 if number > 10**9 else number)  # a claim and what was made of it
        yield Pair("feversymmetric", four, evidence, claim, row["label"] == "SUPPORTS")


def _fm2(folder: Path) -> Iterator[Pair]:
    for row in (json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.open(encoding="utf-8")):
        page = row["wikipedia_page"].replace("_", " ")
        evidence = f"{page}: " + " ".join(part["text"] for part in row["gold_evidence"])
        yield Pair("fm2", page, evidence, plain(row["text"]), row["label"] == "SUPPORTS")


def _condaqa(file: Path) -> Iterator[Pair]:
    """An edited passage, and the sentence as it was: kept by a paraphrase, lost with another scope or no negation."""
    seen: set[tuple[str, str]] = set()
    for row in map(json.loads, file.open(encoding="utf-8")):
        passage, sentence = plain(row["sentence1"]), plain(row["original sentence"])
        if row["PassageEditID"] != 0 and (passage, sentence) not in seen:
            seen.add((passage, sentence))
            yield Pair("condaqa", str(row["PassageID"]), passage, sentence, row["PassageEditID"] == 1)


def _begin(folder: Path) -> Iterator[Pair]:
    for file in sorted(folder.glob("*/*.tsv")):
        with file.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
                if row["begin_label"] != "Generic":
                    supported = row["begin_label"] == "Fully attributable"
                    yield Pair("begin", row["knowledge"], plain(row["knowledge"]), plain(row["response"]), supported)


def _summedits(folder: Path) -> Iterator[Pair]:
    """Sentence by sentence: where a summary is inconsistent, those that the seed does not have."""
    for name in SUMMARIES:
        for row in json.loads((folder / f"summedits_{name}.json").read_text("utf-8")):
            seed = set(sentences(row["original_summary"]))
            for sentence in sentences(row["summary"]):
                if row["label"] or sentence not in seed:
                    group = f"{name}|{row['doc'][:80]}"
                    yield Pair("summedits", group, row["doc"], sentence, bool(row["label"]))


def held_out(source: str, group: str) -> bool:
    """Whether a group of a set only scores."""
    return int(sha256(f"{source}|{group}".encode()).hexdigest()[:8], 16) < HELD_OUT * 16**8


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [span.of(line) for line in text.splitlines() for span in sentence_spans(line)]


_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "``": '"', "''": '"', " n't": "n't"}


def plain(text: str) -> str:
    """``text`` without the marks of a treebank's tokens."""
    for mark, instead in _BRACKETS.items():
        text = text.replace(mark, instead)
    return re.sub(r"\s+([.,;:!?)\]'])", r"\1", re.sub(r"([(\[])\s+", r"\1", text)).strip()
