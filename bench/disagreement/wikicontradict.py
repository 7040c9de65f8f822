"""WikiContradict: two passages of Wikipedia, or one, that contradict each other or itself in two known sentences.

Every pair of sentences, one of each passage, is a candidate; in an item ``within`` one passage, every two sentences of
it. The natural ratio of the two classes is kept. There are no items without a contradiction.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any

from bench.disagreement.judged import Judge, Said
from discorag.schema.discourse import ChunkRelation
from eval.datasets.wikicontradict import sentences, stating

TOP = 3


@dataclass(frozen=True)
class Item:
    """A contradiction.

    Args:
        kind: ``explicit`` or ``implicit``.
        within: Whether both sentences stand in one passage.
        pairs: The candidates.
        gold: Indices of those that hold both statements.
        passages: As they are read.
        contexts: The two statements.
        question: What they answer differently.
    """

    kind: str
    within: bool
    pairs: tuple[tuple[str, str], ...]
    gold: frozenset[int]
    passages: tuple[str, str]
    contexts: tuple[str, str]
    question: str


def items(data: Path) -> list[Item]:
    """All that have a pair of sentences; a passage of one sentence that contradicts itself has none."""
    lines = (data / "contradiction/wikicontradict/wiki_contradict_refined.jsonl").read_text("utf-8").splitlines()
    return [item for line in lines if (item := _item(json.loads(line))).gold]


def _item(line: dict[str, Any]) -> Item:
    passages = line["context1_info"].strip(), line["context2_info"].strip()
    first, second = (sentences(p) for p in passages)
    within = passages[0] == passages[1]
    places = list(combinations(range(len(first)), 2) if within else product(range(len(first)), range(len(second))))
    one, other = stating(first, line["context1"]), stating(second, line["context2"])
    gold = {k for k, (i, j) in enumerate(places) if (i in one and j in other) or (within and i in other and j in one)}
    return Item(
        kind=line["contradiction_type"].split()[0].lower(),
        within=within,
        pairs=tuple((first[i], second[j]) for i, j in places),
        gold=frozenset(gold),
        passages=passages,
        contexts=(line["context1"], line["context2"]),
        question=line["question"],
    )


def measured(data: Path, judge: Judge) -> dict[str, Any]:
    """The figures."""
    found = items(data)
    said = [judge.say(item.pairs) for item in found]
    both = list(zip(found, said, strict=True))
    told: dict[str, Any] = {"items": len(found), "pairs": sum(len(item.pairs) for item in found)}
    for name in ("explicit", "implicit"):
        told[name] = {
            "between": _scores([b for b in both if b[0].kind == name and not b[0].within]),
            "within": _scores([b for b in both if b[0].kind == name and b[0].within]),
        }
    told["all_between"] = _scores([b for b in both if not b[0].within])
    return told


def _scores(both: Sequence[tuple[Item, list[Said]]]) -> dict[str, Any]:
    contradicted = [[s.reported is ChunkRelation.CONTRADICTS for s in said] for _, said in both]
    plain = f1(
        sum(hits[k] for (item, _), hits in zip(both, contradicted, strict=True) for k in item.gold),
        sum(map(sum, contradicted)),
        sum(len(item.gold) for item, _ in both),
    )
    tops = [_top(said) for _, said in both]
    found = sum(bool(item.gold & set(top)) for (item, _), top in zip(both, tops, strict=True))
    best = sum(bool(item.gold & set(_best(said))) for item, said in both)
    gold, pairs = sum(len(item.gold) for item, _ in both), sum(len(item.pairs) for item, _ in both)
    return {
        "items": len(both),
        "f1": plain,
        "f1_always_yes": f1(gold, pairs, gold),
        "f1_top3": f1(found, sum(map(bool, tops)), len(both)),
        "reported": sum(map(bool, tops)),
        "gold_among_best_3": round(best / max(1, len(both)), 3),
    }


def _top(said: Sequence[Said]) -> list[int]:
    """The pairs that are reported as a contradiction, the surest three."""
    told = [k for k, s in enumerate(said) if s.reported is ChunkRelation.CONTRADICTS]
    return sorted(told, key=lambda k: -said[k].score)[:TOP]


def _best(said: Sequence[Said]) -> list[int]:
    return sorted(range(len(said)), key=lambda k: -said[k].score)[:TOP]


def f1(right: int, told: int, gold: int) -> float:
    """Of counts."""
    return round(2 * right / (told + gold), 3) if told + gold else 0.0
