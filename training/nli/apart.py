"""What stays out of training because FEVER Symmetric or FM2, which only score, have it too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.nli.sources import CONTRADICTION, ENTAILMENT, Pair, plain
from training.nli.words import NO_NAMES

GRAM = 8
"""Words in a row that two texts share only if one of them was copied."""
WIKIPEDIA = frozenset({"fever-nli", "condaqa", "begin"})
"""Sets whose evidence comes from Wikipedia's pages."""
_WORD = re.compile(r"\w+")
_ARTICLE = r"(?>(?:The |A |An )?)"
_CAPITAL = r"[^\W_a-z][\w.’-]*"
_LEADING = re.compile(rf"{_ARTICLE}({_CAPITAL}(?: (?:(?:of|the|and|in|for|de|to) )*{_CAPITAL})+)")
_TITLE = re.compile(
    rf"{_ARTICLE}([^\W_a-z].{{0,60}}?)(?: \(|,|\.(?: |$)| (?:is|was|are|were|has|had|did|does|stars|starred)\b)"
)


def words(text: str) -> tuple[str, ...]:
    """Its words in small letters."""
    return tuple(_WORD.findall(text.lower()))


def grams(text: str) -> set[tuple[str, ...]]:
    """All runs of `GRAM` words; a shorter text is one run."""
    found = words(text)
    return {found[i : i + GRAM] for i in range(max(1, len(found) - GRAM + 1))}


def pages(pair: Pair) -> set[tuple[str, ...]]:
    """Names of the pages that the evidence and the claim seem to come from: what their sentences begin with."""
    parts = [*re.split(r"(?<=[.!?]) ", pair.evidence), pair.sentence]
    return {name for part in parts for name in _opening(part)}


def _opening(sentence: str) -> Iterator[tuple[str, ...]]:
    """What stands before the verb, and the capital words in front; "in 1990" and "the film" are no names."""
    for pattern in (_TITLE, _LEADING):
        if found := pattern.match(sentence):
            first, *rest = _WORD.findall(found[1])
            if first.lower() not in NO_NAMES or (rest[:1] and rest[0][0].isupper()):
                yield words(found[1])


@dataclass(frozen=True)
class Apart:
    """Claims, pages and word runs of the sets that only score.

    Args:
        claims: Their claims, as words.
        pages: Names of their pages, as words.
        grams: Word runs of their evidence and claims.
    """

    claims: frozenset[tuple[str, ...]]
    pages: frozenset[tuple[str, ...]]
    grams: frozenset[tuple[str, ...]]

    def __contains__(self, pair: Pair) -> bool:
        """Whether a pair shares a claim, a page or a part of the evidence with them."""
        return self._same_text(pair) or (pair.source in WIKIPEDIA and not self.pages.isdisjoint(pages(pair)))

    def _same_text(self, pair: Pair) -> bool:
        return words(pair.sentence) in self.claims or not self.grams.isdisjoint(
            grams(pair.evidence) | grams(pair.sentence)
        )


def apart(home: Path, others: Sequence[Pair]) -> Apart:
    """What FEVER Symmetric and FM2 in the folder ``home`` have.

    FEVER Symmetric does not name its pages: they are what its claims begin with, and the pages of those ``others`` of
    FEVER that share a claim or evidence with it.
    """
    fm2 = list(fool_me_twice(home / "fm2"))
    scoring = [*symmetric(home / "feversymmetric/symmetric_v0.2"), *fm2]
    claims = frozenset(words(p.sentence) for p in scoring)
    runs = frozenset(g for p in scoring for text in (p.evidence, p.sentence) for g in grams(text))
    first = Apart(claims, frozenset(), runs)
    about = [p.sentence for p in scoring]
    for p in others:
        if p.source == "fever-nli" and p in first:
            about += [p.sentence, p.evidence]
    return Apart(claims, frozenset({n for text in about for n in _opening(text)} | {words(p.group) for p in fm2}), runs)


def symmetric(folder: Path) -> Iterator[Pair]:
    """FEVER Symmetric: claims and evidence in fours, of which two are supported."""
    for row in _rows(folder):
        number = int(row["id"])
        four = str(number // 10**7 if number > 10**9 else number)  # a claim and what was made of it
        yield Pair("feversymmetric", four, plain(row["evidence"]), plain(row["claim"]), _label(row))


def fool_me_twice(folder: Path) -> Iterator[Pair]:
    """FM2: claims that players wrote, with the sentences that decide."""
    for row in _rows(folder):
        page = row["wikipedia_page"].replace("_", " ")
        evidence = f"{page}: " + " ".join(part["text"] for part in row["gold_evidence"])
        yield Pair("fm2", page, evidence, plain(row["text"]), _label(row))


def _rows(folder: Path) -> Iterable[dict[str, Any]]:
    return (json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.open(encoding="utf-8"))


def _label(row: dict[str, Any]) -> int:
    return ENTAILMENT if row["label"] == "SUPPORTS" else CONTRADICTION
