"""Whether a sentence claims no more than its evidence: quantifiers, hedges, and what is still to come."""

from __future__ import annotations

import re
from collections.abc import Sequence

from discorag.claims import lexicon as lx
from discorag.claims.words import Word, clauses, content, lower, repeats, stems, words

_REPEATED = 0.5  # share of a clause's content words from which a sentence repeats the clause
_SOFTENED = stems(lx.SOFTENED) - lx.FUNCTION


def overstated(sentence: str, sources: Sequence[str]) -> str:
    """What the sentence claims beyond its sources; empty if nothing."""
    said, there = words(sentence), [words(s) for s in sources]
    if word := _universal(said, there):
        return f'It says "{word}", which the evidence does not.'
    for tokens in there:
        if word := _hedge_lost(said, tokens):
            return f'It drops the "{word}" of the evidence.'
        if word := _past(said, tokens):
            return f'It says "{word}" of what is still to come in the evidence.'
        if word := _quantifier_lost(said, tokens):
            return f'It says of all what the evidence says of "{word}".'
    return ""


def _universal(said: Sequence[Word], there: list[tuple[Word, ...]]) -> str:
    known = {w.lower for t in there for w in t}
    mine = {w.lower for i, w in enumerate(said) if lower(said, i - 1) not in ("at", "after", "of", "above")}
    if mine & lx.AT_ALL_TIMES and not known & (lx.AT_ALL_TIMES | lx.AT_ALL_TIMES_LICENCE):
        return "always"
    if "either" in mine and "both" in known and "either" not in known:
        return "either"
    licence = lx.ALL_LICENCE | ({"two", "either", "pair"} if "both" in mine else set[str]())
    return "" if known & licence else min(mine & lx.ALL, default="")


def _hedge_lost(said: Sequence[Word], tokens: Sequence[Word]) -> str:
    hedged = any(_hedges(said, i) for i in range(len(said)))
    soft = hedged or any(w.stem in _SOFTENED or w.of(lx.SOFTENED) or w.of(lx.ASSERTION) for w in said)
    meant = any(w.of(lx.SOFTENED | lx.INTENTION) and w.lower not in ("will", "can", "able") for w in said)
    for i, word in enumerate(tokens):
        intention = word.of(lx.INTENTION) and (lower(tokens, i + 1) == "to" or lower(tokens, i + 1).endswith("ing"))
        kept = meant if intention else soft
        if not kept and (intention or _hedges(tokens, i)) and repeats(said, _hedged(tokens, i), _REPEATED):
            return word.lower
    return ""


def _hedges(tokens: Sequence[Word], i: int) -> bool:
    """Whether the word at ``i`` weakens a claim, rather than a number, a comparison or a denial; or "is to"."""
    word, before, after = tokens[i], lower(tokens, i - 1), lower(tokens, i + 1)
    if word.lower in lx.BE:
        return after == "to"
    if word.lower.startswith(("appear", "seem")) and after not in ("to", "that", "likely", "as"):
        return False
    if (word.lower == "often" and before in lx.DEGREES) or (word.lower == "could" and after in ("not", "no")):
        return False
    month = word.lower == "may" and word.title and i > 0
    return word.lower in lx.HEDGES and not month and not (i + 1 < len(tokens) and tokens[i + 1].number)


def _hedged(tokens: Sequence[Word], i: int) -> list[Word]:
    """The clause of the hedge at ``i``, or the "that" clause that hangs on it."""
    after = next((c for c in clauses(tokens) if c[0].clause == tokens[i].clause + 1 and c[0].lower == "that"), None)
    return after or [t for t in tokens if t.clause == tokens[i].clause]


def _quantifier_lost(said: Sequence[Word], tokens: Sequence[Word]) -> str:
    """Such as "some coins" that have become "the coins", or "all coins"."""
    if any(w.lower in lx.PARTIAL_KEPT or (w.number and not re.fullmatch(r"\d{4}", w.lower)) for w in said):
        return ""
    for i, word in enumerate(tokens):
        if word.lower in lx.SOME and not _compares(tokens, i):
            clause = [t for t in tokens if t.clause == word.clause]
            if content(tokens[i + 1 : i + 5]) & content(said) and repeats(said, clause, _REPEATED):
                return word.lower
    return ""


def _compares(tokens: Sequence[Word], i: int) -> bool:
    """Whether "most" is a superlative, or "some" an approximation."""
    number = i + 1 < len(tokens) and tokens[i + 1].number
    return number or lower(tokens, i - 1) in lx.DEGREES | {"the", "at", "its", "their", "a"}


def _past(said: Sequence[Word], tokens: Sequence[Word]) -> str:
    """A past form of the sentence whose verb is in the future in the evidence ("will vote", "voted")."""
    if any(w.lower in lx.FUTURE for w in said):
        return ""
    known = {t.lower for t in tokens}
    ahead = {t.stem for i, t in enumerate(tokens) if {w.lower for w in tokens[max(0, i - 3) : i]} & {"will", "shall"}}
    for i, word in enumerate(said):
        past = word.lower.endswith("ed") or word.lower in lx.IRREGULAR_PAST - lx.UNCHANGED_PAST
        now = {w.lower for w in said[max(0, i - 3) : i]} & {"is", "are", "be", "being"}
        if word.stem in ahead and past and word.content and not now and word.lower not in known:
            return word.text
    return ""
