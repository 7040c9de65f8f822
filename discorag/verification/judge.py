"""Whether a place of the documents supports a sentence: what is asked, what is answered, and who can be asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from discorag.schema.answer import Support
from discorag.verification.guards import missing_detail


@dataclass(frozen=True)
class Place:
    """A sentence of a chunk, alone or with its neighbours.

    Args:
        units: Their indices in the case's table.
        text: How they read.
        context: Title and headings above them.

    Example:
        >>> from discorag.verification.judge import Place
        >>> Place((3, 4), "Tides rise. Bees dance.").units
        (3, 4)
    """

    units: tuple[int, ...]
    text: str
    context: str = ""

    @property
    def evidence(self) -> str:
        """All that is looked up in it."""
        return f"{self.context}\n{self.text}"


@dataclass(frozen=True)
class Claim:
    """A sentence of an answer, without citations, and where its support may stand, the likeliest place first.

    Example:
        >>> from discorag.verification.judge import Claim, Place
        >>> Claim("The tide rises.", (Place((0,), "Tides rise."),)).places[0].text
        'Tides rise.'
    """

    sentence: str
    places: tuple[Place, ...]


@dataclass(frozen=True)
class Verdict:
    """What was decided about a claim.

    Args:
        support: Whether a place supports it.
        place: Number of the place that does; None if none does.
        probability: That it is supported, 0 to 1; None if no model said so.
        reason: Why, in one plain sentence.

    Example:
        >>> from discorag.schema.answer import Support
        >>> from discorag.verification.judge import Verdict
        >>> str(Verdict(Support.NOT_SUPPORTED, reason="No passage says so.").support)
        'not supported'
    """

    support: Support
    place: int | None = None
    probability: float | None = None
    reason: str = ""


def verdict_on(claim: Claim, place: int, probability: float, reason: str) -> Verdict:
    """Return that a place supports a claim, unless the place lacks a figure, date, name or quotation of the sentence.

    Args:
        claim: The claim.
        place: Number of the place that a model named.
        probability: What the model said.
        reason: Why the claim counts as supported.
    """
    if missing := missing_detail(claim.sentence, claim.places[place].evidence):
        return Verdict(Support.NOT_SUPPORTED, reason=missing)
    return Verdict(Support.SUPPORTED, place, probability, reason)


class Judge(Protocol):
    """Decides claims."""

    async def judge(self, claims: Sequence[Claim]) -> Sequence[Verdict]:
        """Return a verdict for each claim, in order; every claim has a place.

        Raises:
            ModelError: A model failed.
        """
        ...
