"""When two claims about an effect are at odds."""

from __future__ import annotations

from discorag.conflicts.claims.effects import Claim, Direction
from discorag.schema.discourse import ChunkRelation

NEAR = 0.36  # cosine that two sentences about one matter have at least


PARAPHRASE = 0.65  # ... from which they speak of it in other words ("flu", "influenza")


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
