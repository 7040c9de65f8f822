"""Claims about effects, and when two of them are at odds: the rule-based disagreement detector.

A sentence claims that something goes up, goes down, or is not affected. Two sentences about the same outcome whose
claims differ are at odds; if one of them is limited to a group, dose or time and the other is not limited alike, they
contrast rather than contradict.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from discorag.conflicts.claims import cues
from discorag.schema.discourse import ChunkRelation
from discorag.text.terms import terms

NEAR = 0.36  # cosine that two sentences about one matter have at least
PARAPHRASE = 0.65  # ... from which they speak of it in other words ("flu", "influenza")
_CLAUSE = re.compile(r"[,;:，；：]|\b(?:but|although|though|whereas|while|because|so that)\b|但|虽然")
_REACH = 45  # characters after a negation in which a denied effect is looked for


class Direction(Enum):
    """Which way the outcome is said to move; NONE denies an effect."""

    UP = "up"
    DOWN = "down"
    NONE = "none"


@dataclass(frozen=True)
class Claim:
    """A claimed effect.

    Args:
        direction: Which way the outcome moves.
        stems: Stems of the sentence's content words.
        around: The same of its clause only, before and after the word that claims the effect: cause and outcome.
        qualifiers: What limits the claim to a group, dose, time or supposition.
        universal: Whether it speaks of everyone or everything.

    Example:
        >>> from discorag.conflicts.claims.effects import claim_of
        >>> claim = claim_of("Vitamin D lowers the risk of influenza in all children.")
        >>> claim.direction.name, claim.universal
        ('DOWN', True)
    """

    direction: Direction
    stems: frozenset[str]
    around: tuple[frozenset[str], frozenset[str]]
    qualifiers: frozenset[str]
    universal: bool


def claim_of(sentence: str) -> Claim | None:
    """The first clear effect claim of a sentence; None for questions, mere possibilities and mixed clauses."""
    if sentence.rstrip().endswith(("?", "？")):
        return None
    for clause in _CLAUSE.split(sentence):
        found = _effect(clause)
        if found is not None:
            direction, at = found
            return Claim(
                direction=direction,
                stems=stems(sentence),
                around=(stems(clause[:at]), stems(clause[at:])),
                qualifiers=frozenset(m[0].lower() for m in cues.QUALIFIER.finditer(sentence)),
                universal=bool(cues.UNIVERSAL.search(sentence)),
            )
    return None


def _effect(clause: str) -> tuple[Direction, int] | None:
    """The direction that a clause claims, and where the word that claims it stands."""
    for negation in cues.NEGATION.finditer(clause):
        if cues.EFFECT.search(clause[negation.end() : negation.end() + _REACH]):
            return Direction.NONE, negation.start()
    if unchanged := cues.UNCHANGED.search(clause):
        return Direction.NONE, unchanged.start()
    if cues.NEGATION.search(clause) or cues.HYPOTHETICAL.search(clause):
        return None
    up, down = cues.UPWARD.search(clause), cues.DOWNWARD.search(clause)
    if up and not down:
        return Direction.UP, up.start()
    return (Direction.DOWN, down.start()) if down and not up else None


def stems(text: str) -> frozenset[str]:
    """Content words cut to a rough stem of five letters, effect words and negations left out."""
    return frozenset(t[:5] for t in terms(text) if not _is_cue(t))


def _is_cue(term: str) -> bool:
    return any(p.fullmatch(term) for p in (cues.NEGATION, cues.EFFECT, cues.UPWARD, cues.DOWNWARD, cues.QUALIFIER))


def odds(a: Claim, b: Claim, *, similarity: float) -> ChunkRelation | None:
    """CONTRADICTS or CONTRASTS_WITH if the two claims are at odds, else None.

    Args:
        a: A claim.
        b: A claim of another source.
        similarity: Cosine of the two sentences.
    """
    shared = len(a.stems & b.stems)
    if a.direction is b.direction or not shared or similarity < NEAR:
        return None
    if Direction.NONE not in (a.direction, b.direction):
        matter = _same_matter(a, b)
    else:
        matter = similarity >= PARAPHRASE or (shared >= 2 and _same_outcome(a, b))
    if not matter:
        return None
    sweeping = any(c.universal and c.direction is not Direction.NONE for c in (a, b))
    limited = a.qualifiers != b.qualifiers and not sweeping
    return ChunkRelation.CONTRASTS_WITH if limited else ChunkRelation.CONTRADICTS


def _same_matter(a: Claim, b: Claim) -> bool:
    """Whether two opposite movements share cause and outcome: "X raises Y" and "X lowers Y"."""
    return all(left & right for left, right in zip(a.around, b.around, strict=True))


def _same_outcome(a: Claim, b: Claim) -> bool:
    """Whether what one sentence says to be affected is spoken of in the other."""
    return bool(a.around[1] & b.stems) or bool(b.around[1] & a.stems)
