"""Whether evidence supports a sentence: a chain of checks, each of which names what is wrong or lets it pass.

English is checked word by word: numbers with their units, names, polarity, strength, speakers, order in time, and who
does what. For other languages only the digits, the count of negations, the speaker and the direction of an effect are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from discorag.claims import cues
from discorag.claims.effects import claim_of
from discorag.claims.polarity import polarity
from discorag.claims.quantities import quantities
from discorag.claims.words import content, words
from discorag.text.sentences import language_of
from discorag.text.terms import terms
from discorag.verification.checks.bindings import misdated, named, numeric, swapped
from discorag.verification.checks.conditions import widened
from discorag.verification.checks.copies import altered
from discorag.verification.checks.numbers import missing_name, missing_number
from discorag.verification.checks.order import disordered
from discorag.verification.checks.places import exchanged_places, misplaced
from discorag.verification.checks.roles import exchanged, replaced
from discorag.verification.checks.speakers import attributed
from discorag.verification.checks.strength import overstated

COVERAGE = 0.6  # share of a sentence's content words that its evidence must hold
COVERAGE_IF_NEAR = 0.4  # ... when a source is also near in meaning
NEAR = 0.6  # cosine that counts as near
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def objection(sentence: str, sources: tuple[str, ...], *, cosine: float) -> str:
    """Why the sources do not support a sentence, in one plain sentence; empty if they do.

    Args:
        sentence: One sentence of an answer, without citations.
        sources: Sentences of the evidence that share its content, the closest first.
        cosine: Of the sentence and the closest source.
    """
    near = cosine >= NEAR
    if language_of(sentence) != "en":
        return _literal(sentence, sources, near=near)
    thin = _thin(sentence, sources, near=near)
    return thin or next((found for check in _CHECKS if (found := check(sentence, sources))), "")


def _misbound(sentence: str, sources: Sequence[str]) -> str:
    """What stands by other words in the sentence than in the sources."""
    if swapped(sentence, sources, numeric):
        return "Its numbers or dates stand by other words than in the evidence."
    if wrong := misdated(sentence, sources):
        return f"The evidence gives {wrong} of something else."
    if pair := exchanged_places(sentence, sources):
        return f'The words "{pair[0]}" and "{pair[1]}" have changed places.'
    if pair := misplaced(sentence, sources):
        return f'The sentence has "{pair[0]}" where the evidence has "{pair[1]}".'
    names = swapped(sentence, sources, named(sentence, sources))
    return "Its names stand by other words than in the evidence." if names else ""


def _thin(sentence: str, sources: tuple[str, ...], *, near: bool) -> str:
    wanted = content_of(sentence)
    share = len(wanted & content_of(" ".join(sources))) / max(1, len(wanted))
    low = share < (COVERAGE_IF_NEAR if near else COVERAGE)
    return f"Only {share:.0%} of its content words are in the evidence." if low else ""


@lru_cache(maxsize=4096)  # every sentence of an answer is held against the same units
def content_of(text: str) -> frozenset[str]:
    """Stems of a text's content words."""
    return content(words(text)) if language_of(text) == "en" else frozenset(t[:6] for t in terms(text))


@lru_cache(maxsize=4096)
def anchors(text: str) -> frozenset[str]:
    """What a text can be found by: its content words and its numbers."""
    if language_of(text) != "en":
        return content_of(text)
    return content_of(text) | {f"{q.raw:g}" for q in quantities(text) if q.raw != 1}


def _literal(sentence: str, sources: tuple[str, ...], *, near: bool) -> str:
    text = " ".join(sources)
    missing = digits(sentence) - digits(text)
    if missing:
        return f"Not in the evidence: {', '.join(sorted(missing))}."
    if thin := _thin(sentence, sources, near=near):
        return thin
    if drops_the_speaker(sentence, sources[0]):
        return "It states as a fact what the evidence puts in somebody's mouth."
    if _opposite(sentence, sources[0]):
        return "It claims the opposite direction."
    same = negated(sentence) == negated(sources[0])
    return "" if same else "It denies what the evidence affirms, or the other way round."


def digits(text: str) -> set[str]:
    """The numbers of a text that are written in digits."""
    return {m.replace(",", "").rstrip(".") for m in _NUMBER.findall(text)}


def negated(text: str) -> int:
    """How many negations a text has."""
    return len(cues.NEGATION.findall(text))


def drops_the_speaker(sentence: str, source: str) -> bool:
    """Whether the source puts it in somebody's mouth, or calls it a myth, and the sentence states it as a fact."""
    return bool(cues.ATTRIBUTION.search(source)) and not cues.ATTRIBUTION.search(sentence)


def _opposite(a: str, b: str) -> bool:
    """Whether both claim an effect, in directions that differ ("raised", "lowered")."""
    left, right = claim_of(a), claim_of(b)
    return left is not None and right is not None and left.direction is not right.direction


_CHECKS: tuple[Callable[[str, Sequence[str]], str], ...] = (
    altered, missing_number, missing_name, polarity, overstated, widened, attributed, disordered, exchanged, replaced,
    _misbound,
)  # fmt: skip
