"""RAMDocs: documents about different things of one name are right at the same time, others state something wrong."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

from bench.disagreement.judged import Judge
from bench.disagreement.wikicontradict import sentences
from discorag.schema.discourse import ChunkRelation

QUESTIONS = 120
MOST = 12
"""Sentences of a document that are looked at; all of them would be thousands of pairs a question."""


def measured(data: Path, judge: Judge) -> dict[str, Any]:
    """Share of pairs of documents between which a contradiction is reported.

    ``namesakes``: two right documents with different answers. ``same``: two right ones with one answer. ``wrong``: a
    right one and one that states something wrong of the question.
    """
    lines = (data / "contradiction/ramdocs/RAMDocs_test.jsonl").read_text("utf-8").splitlines()[:QUESTIONS]
    found: dict[str, list[bool]] = {"namesakes": [], "same": [], "wrong": []}
    for line in lines:
        for a, b in combinations(json.loads(line)["documents"], 2):
            kind = _kind(a, b)
            if kind:
                found[kind].append(_contradicted(a["text"], b["text"], judge))
    share = {kind: round(sum(hits) / max(1, len(hits)), 4) for kind, hits in found.items()}
    return {kind: {"pairs": len(hits), "reported": share[kind]} for kind, hits in found.items()}


def _kind(a: dict[str, Any], b: dict[str, Any]) -> str:
    types = {a["type"], b["type"]}
    if types == {"correct"}:
        return "same" if a["answer"] == b["answer"] else "namesakes"
    return "wrong" if types == {"correct", "misinfo"} else ""


def _contradicted(a: str, b: str, judge: Judge) -> bool:
    pairs = [(x, y) for x in sentences(a)[:MOST] for y in sentences(b)[:MOST]]
    return any(s.reported is ChunkRelation.CONTRADICTS for s in judge.say(pairs))
