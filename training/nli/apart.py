"""The pairs that are trained on; none shares a claim, a page or evidence with FEVER Symmetric or FM2, which score."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from training.nli.sources import Pair, pairs, plain, sentences

WORDS = 95
"""Most words of sentence and evidence together, about what 128 word pieces hold."""
GRAM = 8
"""Words in a row that two texts share only if one of them was copied."""
WIKIPEDIA = frozenset({"fever-nli", "condaqa", "begin"})
"""Sets whose evidence comes from Wikipedia's pages."""
_WORD = re.compile(r"\w+")
_NO_NAMES = frozenset({
    "a", "according", "after", "all", "also", "although", "among", "an", "and", "another", "as", "at", "because",
    "before", "being", "between", "both", "by", "during", "early", "film", "first", "following", "for", "formed",
    "from", "he", "her", "his", "however", "i", "if", "in", "it", "its", "later", "many", "most", "no", "on", "one",
    "originally", "other", "series", "she", "since", "some", "that", "the", "their", "there", "these", "they",
    "this", "those", "we", "well", "when", "while", "with", "within", "yeah", "yes", "you",
})  # fmt: skip
"""What begins a sentence and is not a name, unless a capital word follows."""
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
    """What precedes the verb, and the capital words in front; "in 1990" and "the film" are not names."""
    for pattern in (_TITLE, _LEADING):
        if found := pattern.match(sentence):
            first, *rest = _WORD.findall(found[1])
            if first.lower() not in _NO_NAMES or (rest[:1] and rest[0][0].isupper()):
                yield words(found[1])


@dataclass(frozen=True)
class Apart:
    """Claims, pages and word runs of the sets that only score, in words."""

    claims: frozenset[tuple[str, ...]]
    pages: frozenset[tuple[str, ...]]
    grams: frozenset[tuple[str, ...]]

    def __contains__(self, pair: Pair) -> bool:
        """Whether a pair shares a claim, a page or a part of the evidence with them."""
        runs = grams(pair.evidence) | grams(pair.sentence)
        shares_text = words(pair.sentence) in self.claims or not self.grams.isdisjoint(runs)
        return shares_text or (pair.source in WIKIPEDIA and not self.pages.isdisjoint(pages(pair)))


def apart(home: Path, others: Sequence[Pair]) -> Apart:
    """What FEVER Symmetric and FM2 in the folder ``home`` have.

    FEVER Symmetric does not name its pages: they are what its claims begin with, and the pages of those ``others`` of
    FEVER that share a claim or evidence with it.
    """
    claims, runs, names = set[tuple[str, ...]](), set[tuple[str, ...]](), set[tuple[str, ...]]()
    for row in _rows(home / "feversymmetric/symmetric_v0.2", home / "fm2"):
        claim = plain(row.get("claim") or row["text"])
        evidence = plain(row.get("evidence") or " ".join(part["text"] for part in row["gold_evidence"]))
        claims.add(words(claim))
        runs |= grams(claim) | grams(evidence)
        names |= {words(row.get("wikipedia_page", "").replace("_", " ")), *_opening(claim)}
    same_text = Apart(frozenset(claims), frozenset(), frozenset(runs))
    for pair in others:
        if pair.source == "fever-nli" and pair in same_text:
            names |= {*_opening(pair.sentence), *_opening(pair.evidence)}
    return Apart(same_text.claims, frozenset(names - {()}), same_text.grams)


def _rows(*folders: Path) -> Iterator[dict[str, Any]]:
    for file in (file for folder in folders for file in sorted(folder.glob("*.jsonl"))):
        yield from map(json.loads, file.open(encoding="utf-8"))


def collect_pairs(data: Path) -> Iterator[Pair]:
    """All pairs, with the part of their evidence that matters; none is of a claim or page that only scores."""
    found = list(pairs(data))
    kept_apart = apart(data / "entailment", found)
    return (replace(p, evidence=closest(p.evidence, p.sentence)) for p in found if p not in kept_apart)


def closest(evidence: str, sentence: str, most: int = WORDS) -> str:
    """A short text as it is; of a long one the sentences, in their order, that share most words with ``sentence``."""
    about, parts, taken = set(words(sentence)), sentences(evidence), list[int]()
    left = most - len(sentence.split())
    if len(evidence.split()) <= left:
        return evidence
    for i in sorted(range(len(parts)), key=lambda i: -len(about & set(words(parts[i])))):
        size = len(parts[i].split())
        if size <= left or not taken:
            taken.append(i)
            left -= size
    return " ".join(parts[i] for i in sorted(taken))
