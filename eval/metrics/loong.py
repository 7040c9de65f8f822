"""What can be said of Loong answers without a judge: a number is there or not, a title is named or not.

These are ours, not the paper's: the official score is `eval.metrics.judge`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal

from eval.metrics.base import Given
from eval.metrics.normal import holds_cjk

_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?")
_SPOTLIGHT = "1"


@dataclass(frozen=True)
class SpotlightHit:
    """Whether the answer to a spotlight question (level 1) holds the gold answer.

    Every number of the gold answer must be among the answer's numbers (thousands separators and trailing zeros do not
    matter; neither do signs, as accounts write minus in many ways). A gold answer without numbers must occur in the
    answer as it is. Units are not converted: "17.8 million" is not "17,800 in thousands".
    """

    name: str = "spotlight_hit"

    async def score(self, given: Given) -> float | None:
        """0 or 100; None for other levels."""
        if given.sample.strata.get("level") != _SPOTLIGHT or not given.sample.references:
            return None
        return 100.0 * any(_holds(given.answer, gold) for gold in given.sample.references)


@dataclass(frozen=True)
class TitleF1:
    """F1 between the papers that the gold answer names and those that the answer names.

    A paper is one of the sample's documents. It is named where the words of its title (or of what the gold answer calls
    it, if that is a part of the title) stand in the answer one after the other; case and punctuation do not matter. A
    title inside a longer one that is named is not named by that. The paper that the question itself names counts
    only if it is gold.
    """

    name: str = "title_f1"

    async def score(self, given: Given) -> float | None:
        """0 to 100; None where no titles are asked for."""
        titles = {_words(given.documents[doc].title) for doc in given.sample.documents} - {""}
        gold = {called: _titled(called, titles) for called in map(_words, given.sample.titles) if called}
        if not gold:
            return None
        wanted = set(gold.values())
        asked = _named(given.sample.query, titles) - wanted
        forms = {title: title for title in titles - asked} | gold
        named = {forms[form] for form in _named(given.answer, set(forms))}
        return 200 * len(named & wanted) / (len(named) + len(wanted))


def _holds(answer: str, gold: str) -> bool:
    numbers = _numbers(gold)
    if numbers:
        return numbers <= _numbers(answer)
    if holds_cjk(gold):
        return _words(gold) in _words(answer)
    return f" {_words(gold)} " in f" {_words(answer)} "


def _numbers(text: str) -> set[Decimal]:
    return {Decimal(n.replace(",", "")) for n in _NUMBER.findall(unicodedata.normalize("NFKC", text))}


def _words(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text.replace("<br>", " ")).casefold()
    return " ".join(re.findall(r"[^\W_]+", plain))


def _titled(called: str, titles: set[str]) -> str:
    """The shortest title that holds what a paper is called."""
    return min((t for t in titles if called.replace(" ", "") in t.replace(" ", "")), key=len, default=called)


def _named(text: str, titles: set[str]) -> set[str]:
    """The titles that ``text`` names; longer ones first, each taking its words out of the text."""
    left = _spaced(_words(text))
    named: set[str] = set()
    for title in sorted(titles, key=lambda t: (-len(t), t)):
        if _spaced(title) in left:
            named.add(title)
            left = left.replace(_spaced(title), " | ")
    return named


def _spaced(words: str) -> str:
    """Each word with a space of its own on both sides, so that neighbours can be taken out one by one."""
    return f" {words.replace(' ', '  ')} "
