"""A sentence of a source, and what of it decides whether another contradicts it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from discorag.conflicts.claims import cues
from discorag.conflicts.claims.effects import Claim, claim_of, odds
from discorag.schema.discourse import ChunkRelation


@dataclass(frozen=True)
class Statement:
    """A sentence of a source.

    Example:
        >>> from discorag.conflicts.statement import Statement
        >>> Statement("In adults vitamin D did not lower the risk of influenza.").claim.direction.name
        'NONE'
    """

    text: str

    @cached_property
    def claim(self) -> Claim | None:
        """The effect that it claims."""
        return claim_of(self.text)

    @cached_property
    def denied(self) -> bool:
        """Whether it has a negation."""
        return bool(cues.NEGATION.search(self.text))

    @cached_property
    def asserted(self) -> bool:
        """Whether it is said to be so, not asked, supposed or reported."""
        loose = cues.HYPOTHETICAL.search(self.text) or cues.ATTRIBUTION.search(self.text)
        return not loose and not self.text.rstrip().endswith(("?", "？"))

    @cached_property
    def qualifiers(self) -> frozenset[str]:
        """What limits it to a group, a dose, a time or a supposition."""
        return frozenset(m[0].lower() for m in cues.QUALIFIER.finditer(self.text))


@dataclass(frozen=True)
class Compared:
    """Two statements of different sources, and the cosine of the two.

    Example:
        >>> from discorag.conflicts.statement import Compared, Statement
        >>> Compared(Statement("It rose."), Statement("It fell."), similarity=0.8).turned.a.text
        'It fell.'
    """

    a: Statement
    b: Statement
    similarity: float

    @property
    def turned(self) -> Compared:
        """The same the other way round."""
        return Compared(self.b, self.a, self.similarity)

    @property
    def effect(self) -> ChunkRelation | None:
        """How the two claims about effects disagree; None if they do not, or one makes no claim."""
        a, b = self.a.claim, self.b.claim
        return odds(a, b, similarity=self.similarity) if a and b else None
