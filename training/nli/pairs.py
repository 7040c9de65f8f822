"""What is trained on: others' pairs with the part of their evidence that matters, and edits of them made by rule."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log
from pathlib import Path

from training.nli import edits
from training.nli.apart import Apart, apart, words
from training.nli.sources import (
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    NOT_ENTAILED,
    Pair,
    pairs,
    sentences,
    texts,
)

MOST = {"med": 3_000, "help": 3_000}
"""Pairs of sets that are made by rule and short, an epoch."""
EDITED = 0.25
"""Share of an epoch that is edits of ours."""
SUPPORTED = 0.45
"""Share of the edits that still follow."""
DENIED = frozenset({"negation", "opposite", "number", "time"})
"""Edits of ours after which the evidence denies the sentence."""
WORDS = 95
"""Of sentence and evidence together, about what 128 word pieces hold."""


def collected(data: Path) -> Iterator[Pair]:
    """All pairs, those made here with what was edited; none is of a claim or page that only scores."""
    found = list(pairs(data))
    kept_apart = apart(data / "entailment", found)
    found = [replace(p, evidence=closest(p.evidence, p.sentence)) for p in found if p not in kept_apart]
    yield from found
    rng = random.Random(7)
    for made in (_of_pairs(found, rng), _of_texts(data / "entailment", kept_apart, rng)):
        yield from (p for p in made if p not in kept_apart)


def closest(evidence: str, sentence: str, most: int = WORDS) -> str:
    """A short text as it is; of a long one the sentences, in their order, that together say most of ``sentence``.

    A sentence is taken for the words that none before it has, rare ones first; what room is left goes to its
    neighbours.
    """
    if len(evidence.split()) + len(sentence.split()) <= most:
        return evidence
    most, parts = most - len(sentence.split()), sentences(evidence)
    have = [set(words(part)) for part in parts]
    common = Counter(word for part in have for word in part)
    wanted = {word: log(1 + len(parts) / common[word]) for word in words(sentence) if word in common}
    taken, room = list[int](), most
    for i in _ranked(have, wanted):
        size = len(parts[i].split())
        if size <= room or not taken:
            taken.append(i)
            room -= size
    return " ".join(parts[i] for i in sorted(taken))


def _ranked(have: Sequence[set[str]], wanted: dict[str, float]) -> Iterator[int]:
    """Places of sentences: those that add most, then what is near the first of them."""
    left, order = dict(wanted), list[int]()
    while left:
        best = max(range(len(have)), key=lambda i: sum(left.get(word, 0.0) for word in have[i]))
        order.append(best)
        for word in have[best]:
            left.pop(word, None)
    yield from order
    first = order[0] if order else 0
    yield from sorted(set(range(len(have))) - set(order), key=lambda i: abs(i - first))


def _of_pairs(found: Sequence[Pair], rng: random.Random) -> Iterator[Pair]:
    """Edits of what others call entailed."""
    for p in found:
        if p.label != ENTAILMENT or p.source in ("begin", "scitab", "med", "help"):
            continue
        made = edits.edit_pair(p.evidence, p.sentence, rng) + edits.keep_edits(p.evidence, p.sentence, rng)
        if made:
            made.append(edits.Example(p.evidence, p.sentence, supported=True, edit="same"))
        yield from (_pair(p.source, p.group, e) for e in made)


def _of_texts(home: Path, kept_apart: Apart, rng: random.Random) -> Iterator[Pair]:
    """Edits of sentences with a few sentences around them."""
    for source, group, parts in texts(home):
        if Pair(source, group, " ".join(parts), "", NEUTRAL) in kept_apart:
            continue
        yield from (_pair(source, group, e) for e in edits.among_neighbours(parts, rng))


def _pair(source: str, group: str, e: edits.Example) -> Pair:
    label = CONTRADICTION if e.edit in DENIED else NEUTRAL if e.edit == "elsewhere" else NOT_ENTAILED
    evidence = closest(e.evidence, e.sentence)
    return Pair(source, group, evidence, e.sentence, ENTAILMENT if e.supported else label, e.edit)


def epoch(found: Sequence[Pair], seed: int, number: int) -> list[Pair]:
    """The pairs of one epoch in their order: all of others that are not held out, and a new draw of the rest."""
    rng = random.Random(f"{seed} {number}")
    by: dict[str, list[Pair]] = {}
    for p in found:
        if not p.held_out:
            kind = p.source if not p.edit else "kept" if p.label == ENTAILMENT else "edited"
            by.setdefault(kind, []).append(p)
    kept, edited = by.pop("kept", []), by.pop("edited", [])
    drawn = [p for kind, some in by.items() for p in rng.sample(some, min(len(some), MOST.get(kind, len(some))))]
    edits_of = int(len(drawn) * EDITED / (1 - EDITED))
    for some, share in ((kept, SUPPORTED), (edited, 1 - SUPPORTED)):
        drawn += rng.sample(some, min(len(some), int(share * edits_of)))
    rng.shuffle(drawn)
    return drawn
