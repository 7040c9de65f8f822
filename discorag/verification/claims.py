"""What a judge decides: sentences of an answer, each with the places that may support it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from discorag.schema.answer import Outcome, Support
from discorag.verification.guards import missing_detail


@dataclass(frozen=True)
class Place:
    """A sentence of a chunk, alone or with its neighbours: indices in the table, their text, title and headings."""

    units: tuple[int, ...]
    text: str
    context: str = ""

    @property
    def evidence(self) -> str:
        """All of its text in which details are looked up."""
        return f"{self.context}\n{self.text}"


@dataclass(frozen=True)
class Claim:
    """A sentence of an answer without citations, and the places that may support it, the likeliest first."""

    sentence: str
    places: tuple[Place, ...]


@dataclass(frozen=True)
class Verdict:
    """The decision about a claim, and why in one plain sentence.

    ``place`` is the number of the place that supports the claim, or None; ``probability`` is the model's probability
    of support, or None without a model.
    """

    support: Support
    place: int | None = None
    probability: float | None = None
    reason: str = ""


def verdict_on(claim: Claim, place: int, probability: float, reason: str) -> Verdict:
    """Return the verdict on a claim for which a model named a supporting place.

    If the place lacks a figure, date, name or quotation of the sentence, the claim is not supported.
    """
    if missing := missing_detail(claim.sentence, claim.places[place].evidence):
        return Verdict(Support.NOT_SUPPORTED, reason=missing)
    return Verdict(Support.SUPPORTED, place, probability, reason)


class Judge(Protocol):
    """Decides claims."""

    async def judge(self, claims: Sequence[Claim]) -> Outcome[Sequence[Verdict]]:
        """Return a verdict for each claim, in order; every claim has a place.

        Raises:
            ModelError: A model failed.
        """
        ...
