"""Free pairs of evidence and sentence, each set under a licence that lets weights be given away.

Nothing is read of folders named ``evaluation-only``, and nothing of what only scores: FEVER Symmetric, FM2, WiCE.
"""

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import permutations
from pathlib import Path
from typing import Any

from discorag.text.sentences import sentence_spans

ENTAILMENT, NEUTRAL, CONTRADICTION, NOT_ENTAILED = range(4)
"""Labels; `NOT_ENTAILED` is one of the two before it, not known which."""
CLASSES = ("entailment", "neutral", "contradiction")
LICENCES = {
    "mnli": "OANC, CC BY 3.0, CC BY-SA 3.0",
    "snli": "CC BY-SA 4.0",
    "scitail": "Apache-2.0",
    "fever-nli": "BSD-3-Clause, CC BY-SA 3.0",
    "summedits": "Apache-2.0",
    "condaqa": "Apache-2.0, CC BY-SA 3.0",
    "begin": "CC BY 4.0",
    "scitab": "MIT",
    "med": "CC BY-SA 4.0",
    "help": "CC BY-SA 4.0",
}
SUMMARIES = ("sales_call", "sales_email", "qmsumm", "scitldr")
"""Parts of SummEdits that are read; news and earnings calls are others' text."""
HELD_OUT = 0.25
_LABELS = {"entailment": ENTAILMENT, "neutral": NEUTRAL, "contradiction": CONTRADICTION}
_TABLE_LABELS = {"supports": ENTAILMENT, "not enough info": NEUTRAL, "refutes": CONTRADICTION}


@dataclass(frozen=True)
class Pair:
    """A sentence with its evidence.

    Args:
        source: One of `LICENCES`.
        group: What must not be on both sides of a split: a premise, a passage, a document.
        evidence: One or several sentences.
        sentence: What may follow from it.
        label: One of the four labels.
    """

    source: str
    group: str
    evidence: str
    sentence: str
    label: int

    @property
    def held_out(self) -> bool:
        """Whether its group only scores."""
        return int(sha256(f"{self.source}|{self.group}".encode()).hexdigest()[:8], 16) < HELD_OUT * 16**8


def pairs(data: Path) -> Iterator[Pair]:
    """All pairs of the sets in ``data/entailment`` that may be trained on, each once."""
    seen: set[tuple[str, str]] = set()
    for pair in _pairs(data / "entailment"):
        key = (pair.evidence, pair.sentence)
        if pair.evidence and pair.sentence and key not in seen:
            seen.add(key)
            yield pair


def _pairs(home: Path) -> Iterator[Pair]:
    for name in ("mnli", "snli", "scitail"):
        yield from _three_way(name, home / f"nli_datasets/{name}/dev.csv")
    yield from _fever(home / "fever-nli/binary-FEVER-NLI")
    yield from _condaqa(home / "condaqa/condaqa_dev.json")
    yield from _begin(home / "begin")
    yield from _summedits(home / "summedits")
    yield from _scitab(home / "scitab/sci_tab.json")
    yield from _med(home / "med/MED.tsv")
    yield from _help(home / "help")


def _three_way(name: str, file: Path) -> Iterator[Pair]:
    for row in _table(file, ","):
        premise = plain(row["premise"])
        yield Pair(name, premise, premise, plain(row["hypothesis"]), _LABELS.get(row["label"], NOT_ENTAILED))


def _fever(folder: Path) -> Iterator[Pair]:
    for file in sorted(folder.glob("*.txt")):
        for line in file.read_text("utf-8").splitlines():
            label, premise, hypothesis = line.split("\t")
            yield Pair("fever-nli", hypothesis, plain(premise), plain(hypothesis), _LABELS.get(label, NOT_ENTAILED))


def _condaqa(file: Path) -> Iterator[Pair]:
    """Four versions of a passage, each with the sentence in which another one differs.

    A paraphrase follows from the passage and the passage from it; with another scope or without the negation it does
    not. What these two say of each other is not known.
    """
    versions: dict[tuple[str, str], dict[int, str]] = {}
    for row in _lines(file):
        group = (str(row["PassageID"]), plain(row["original sentence"]))
        versions.setdefault(group, {})[row["PassageEditID"]] = plain(row["sentence1"])
    for (group, sentence), passages in versions.items():
        said = {0: sentence, **_find_changes(passages)}
        for of, other in permutations(passages, 2):
            if other in said and (0 in (of, other) or 1 in (of, other)):
                label = ENTAILMENT if {of, other} == {0, 1} else NOT_ENTAILED
                yield Pair("condaqa", group, passages[of], said[other], label)


def _find_changes(passages: dict[int, str]) -> dict[int, str]:
    """The one sentence of each version that the passage does not have."""
    first, found = set(sentences(passages.get(0, ""))), dict[int, str]()
    for edit, passage in passages.items():
        new = [s for s in sentences(passage) if s not in first]
        if edit and first and len(new) == 1:
            found[edit] = new[0]
    return found


def _begin(folder: Path) -> Iterator[Pair]:
    for file in sorted(folder.glob("*/*.tsv")):
        for row in _table(file, "\t"):
            if row["begin_label"] != "Generic":
                label = ENTAILMENT if row["begin_label"] == "Fully attributable" else NOT_ENTAILED
                yield Pair("begin", row["knowledge"], plain(row["knowledge"]), plain(row["response"]), label)


def _summedits(folder: Path) -> Iterator[Pair]:
    """Sentence by sentence: where a summary is inconsistent, those that the seed does not have."""
    for name in SUMMARIES:
        for row in json.loads((folder / f"summedits_{name}.json").read_text("utf-8")):
            seed = set(sentences(row["original_summary"]))
            for sentence in sentences(row["summary"]):
                if row["label"] or sentence not in seed:
                    label = ENTAILMENT if row["label"] else NOT_ENTAILED
                    yield Pair("summedits", f"{name}|{row['doc'][:80]}", row["doc"], sentence, label)


def _scitab(file: Path) -> Iterator[Pair]:
    """Tables as text: a row is a sentence."""
    for row in json.loads(file.read_text("utf-8")):
        names = row["table_column_names"]
        rows = (
            ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=False))
            for values in row["table_content_values"]
        )
        table = re.sub(r"\[(?:BOLD|ITALIC|EMPTY)\] ?", "", f"{row['table_caption']} " + " ".join(f"{r}." for r in rows))
        yield Pair("scitab", row["paper_id"], table, row["claim"], _TABLE_LABELS[row["label"]])


def _med(file: Path) -> Iterator[Pair]:
    """Neutral and contradicted are one class here; a pair and its reverse are one group."""
    for row in _table(file, "\t"):
        one, other = plain(row["sentence1"]), plain(row["sentence2"])
        yield Pair("med", "|".join(sorted((one, other))), one, other, _LABELS[row["gold_label"]] and NOT_ENTAILED)


def _help(folder: Path) -> Iterator[Pair]:
    for file in sorted(folder.glob("*.tsv")):
        for row in _table(file, "\t"):
            one, other = plain(row["ori_sentence"]), plain(row["new_sentence"])
            yield Pair("help", row["filename"], one, other, _LABELS[row["gold_label"]] and NOT_ENTAILED)


def _table(file: Path, delimiter: str) -> Iterator[dict[str, str]]:
    quoting = csv.QUOTE_MINIMAL if delimiter == "," else csv.QUOTE_NONE
    with file.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines, delimiter=delimiter, quoting=quoting)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [span.of(line) for line in text.splitlines() for span in sentence_spans(line)]


_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "``": '"', "''": '"', " n't": "n't"}


def plain(text: str) -> str:
    """``text`` without the marks of a treebank's tokens."""
    for mark, instead in _BRACKETS.items():
        text = text.replace(mark, instead)
    return re.sub(r"\s+([.,;:!?)\]'])", r"\1", re.sub(r"([(\[])\s+", r"\1", text)).strip()
