"""Whether a place of the documents supports a sentence: what is asked, what is answered, and who can be asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Place:
    """Up to three units that follow each other in one chunk.

    Args:
        units: Their indices in the case's table.
        text: How they read.

    Example:
        >>> from discorag.verification.judge import Place
        >>> Place((3, 4), "Tides rise. Bees dance.").units
        (3, 4)
    """

    units: tuple[int, ...]
    text: str


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
    """What was decided of a claim.

    Args:
        places: Numbers of the places that support it: one, or one for each part that stands on its own; none if it
            is not supported.
        probability: That it is supported, 0 to 1.
        reason: Why it is not, in one plain sentence; empty if it is.

    Example:
        >>> from discorag.verification.judge import Verdict
        >>> Verdict((0,), 0.9).supported
        True
    """

    places: tuple[int, ...]
    probability: float
    reason: str = ""

    @property
    def supported(self) -> bool:
        """Whether a place supports it."""
        return bool(self.places)


class Judge(Protocol):
    """Decides claims."""

    async def judge(self, claims: Sequence[Claim]) -> Sequence[Verdict]:
        """A verdict for each claim, in order; every claim has a place.

        Raises:
            ModelError: A model failed.
        """
        ...
