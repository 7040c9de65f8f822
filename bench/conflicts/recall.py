"""Which changes of value between two versions of real documentation the audit finds.

``real`` changes were found by a word diff and read (`changes.json`). There are few of them, so ``edited`` ones are made
from pairs of sentences that a project reworded between its versions without changing a value: a rule changes one value
of the newer sentence. Without this edit, the same pairs must not be reported.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from bench.conflicts.corpora import read_project
from discorag import DiscoRAG
from discorag.conflicts.audit import audit
from discorag.conflicts.statements import AuditDocument, Statement, normalise, read_statements
from discorag.conflicts.values import ValueKind
from discorag.conflicts.verdicts import Finding

_READ: dict[str, Any] = json.loads(Path(__file__).with_name("changes.json").read_text("utf-8"))
SPLIT: dict[str, list[str]] = _READ["split"]
_REWORDED = 0.5
"""Least share of words in common of two wordings of one sentence."""
_OTHER = {"one": "four", "two": "five", "three": "six", "True": "False", "False": "True", "true": "false"}


def measure_recall(rag: DiscoRAG, part: str) -> dict[str, Any]:
    """How many changes are found in a part of the projects, by tier."""
    counts: Counter[str] = Counter()
    for name in SPLIT[part]:
        old, new = read_project(rag, name)
        found = audit([*old, *new])
        for _, before, after in (change for change in _READ["changes"] if change[0] == name):
            counts["real " + _tier(f for f in found if _quotes(f, before, after))] += 1
        pairs = list(reworded(old, new))
        counts["unedited"] += len(pairs)
        counts["unedited reported"] += sum(any(_joins(f, a, b) for f in found) for a, b in pairs)
        edited, edits = edit_values(new, pairs)
        found = audit([*old, *edited])
        for a, b in edits:
            counts["edited " + _tier(f for f in found if _joins(f, a, b))] += 1
    return dict(sorted(counts.items()))


def reworded(old: Sequence[AuditDocument], new: Sequence[AuditDocument]) -> Iterator[tuple[Statement, Statement]]:
    """Sentences of the older version, each with the one of the newer version that says the same in other words."""
    sides = read_statements(old)[0], read_statements(new)[0]
    said = [{text for d in documents for text in d.texts} for documents in (old, new)]
    changed = [
        [s for s in statements if s.values and normalise(s.text) not in other]
        for statements, other in zip(sides, reversed(said), strict=True)
    ]
    for one in changed[0]:
        same = [other for other in changed[1] if _values(other) == _values(one)]
        shares = [SequenceMatcher(None, one.frame, other.frame, autojunk=False).ratio() for other in same]
        if shares and max(shares) >= _REWORDED:
            yield one, same[shares.index(max(shares))]


def edit_values(
    documents: Sequence[AuditDocument], pairs: Sequence[tuple[Statement, Statement]]
) -> tuple[list[AuditDocument], list[tuple[Statement, Statement]]]:
    """Change a value in the second sentence of each pair; return the documents and the pairs that have such a value."""
    sentences = [list(d.sentences) for d in documents]
    done: dict[int, tuple[Statement, Statement]] = {}
    for one, other in pairs:
        value = next((v for v in other.values if other.sentence.text.count(v.text) == 1 and _edit(v.text)), None)
        own = sentences[other.document]
        if value and other.sentence in own:
            text, body = (t.replace(value.text, _edit(value.text)) for t in (other.sentence.text, other.sentence.body))
            own[own.index(other.sentence)] = replace(other.sentence, text=text, body=body)
            done[id(other.sentence)] = (one, other)
    return [replace(d, sentences=own) for d, own in zip(documents, sentences, strict=True)], list(done.values())


def _edit(value: str) -> str:
    """Another value, written alike; empty if there is no rule for it."""
    for word, other in _OTHER.items():
        if re.search(rf"\b{word}\b", value):
            return value.replace(word, other)
    number = re.search(r"(\d+)(?!.*\d)", value)
    return value[: number.start()] + str(int(number[1]) + 3) + value[number.end() :] if number else ""


def _values(statement: Statement) -> list[tuple[object, ...]]:
    return [(v.kind, v.unit, v.amount, v.parts, v.text * (v.kind is ValueKind.LITERAL)) for v in statement.values]


def _tier(findings: Iterator[Finding]) -> str:
    return next((f.tier.value for f in findings), "missed")


def _joins(finding: Finding, one: Statement, other: Statement) -> bool:
    places = {(s.chunk.doc_id, s.sentence.span.start) for s in (one, other)}
    return places == {(side.doc_id, side.span.start) for side in (finding.left, finding.right)}


def _quotes(finding: Finding, before: str, after: str) -> bool:
    return _plain(before) in _plain(finding.left.quote) and _plain(after) in _plain(finding.right.quote)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text))
