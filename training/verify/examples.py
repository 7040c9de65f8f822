"""What is learned from: others' pairs, edits of the supported ones, and edits of sentences that stand in a text."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from discorag.conflicts.claims.alignment import likeness, text_of
from training.verify import edits
from training.verify.sources import Pair, pairs, sentences

SEED = 7
WINDOW = 3
"""Sentences of a long text that are taken for the evidence."""
_SHORT = 110  # words of evidence that are read whole


def examples(data: Path) -> list[Pair]:
    """All of them, those made here with what was edited; an example is held out with the group that it is made of."""
    rng = random.Random(SEED)
    found = [
        Pair(p.source, p.group, closest(p.evidence, p.sentence), p.sentence, p.supported, p.edit) for p in pairs(data)
    ]
    made = list(_paraphrased(found, rng)) + list(_copied(data, rng))
    return found + made


def closest(evidence: str, sentence: str) -> str:
    """A short text; of a long one the sentences in a row that say most of ``sentence``."""
    if len(evidence.split()) <= _SHORT:
        return evidence
    said, parts = text_of(sentence), sentences(evidence)
    weight = said.rare * ~said.mark
    rows = np.array([likeness(said, text_of(part)).max(axis=1) for part in parts])
    scores = [float((rows[i : i + WINDOW].max(axis=0) * weight).sum()) for i in range(len(parts))]
    best = int(np.argmax(scores))
    return " ".join(parts[best : best + WINDOW])


def _paraphrased(found: Sequence[Pair], rng: random.Random) -> Iterator[Pair]:
    """Edits of what others call supported."""
    for p in found:
        if not p.supported or p.source == "begin" or (p.source == "snli" and rng.random() < 0.5):
            continue
        made = edits.edited(p.evidence, p.sentence, rng) + edits.kept(p.evidence, p.sentence, rng)
        if made:
            made.append(edits.Example(p.evidence, p.sentence, supported=True, edit="same"))
        yield from (_pair(p.source, p.group, e) for e in made)


def _copied(data: Path, rng: random.Random) -> Iterator[Pair]:
    """Edits of sentences beside a few sentences around them."""
    for source, group, parts in texts(data / "entailment"):
        yield from (_pair(source, group, e) for e in edits.among_neighbours(parts, rng))


def _pair(source: str, group: str, example: edits.Example) -> Pair:
    return Pair(source, group, example.evidence, example.sentence, example.supported, example.edit)


def texts(home: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Source, group and sentences of texts."""
    pages: dict[str, dict[str, None]] = {}
    for file in sorted((home / "fm2").glob("*.jsonl")):
        for row in map(json.loads, file.open(encoding="utf-8")):
            page = pages.setdefault(row["wikipedia_page"].replace("_", " "), {})
            page.update(dict.fromkeys(p["text"] for p in [*row["gold_evidence"], *row["retrieved_evidence"]]))
    yield from (("fm2", name, list(page)[:12]) for name, page in pages.items())
    passages = {
        str(r["PassageID"]): r for r in map(json.loads, (home / "condaqa/condaqa_dev.json").open(encoding="utf-8"))
    }
    yield from (("condaqa", i, sentences(row["original passage"])) for i, row in passages.items())
    for name in ("scitldr", "sales_email"):
        rows = json.loads((home / f"summedits/summedits_{name}.json").read_text("utf-8"))
        documents = dict.fromkeys(row["doc"] for row in rows)
        yield from (("summedits", f"{name}|{d[:80]}", sentences(d)) for d in documents)
