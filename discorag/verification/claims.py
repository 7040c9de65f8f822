"""What a judge decides: sentences of an answer, each with the places that may support it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from discorag.schema.answer import Outcome, Support
from discorag.verification.guards import missing_details


@dataclass(frozen=True)
class Place:
    """A sentence of a chunk, alone or with its neighbours; ``context`` is its title and headings.

    ``units`` are indices in the sentence table.
    """

    units: tuple[int, ...]
    text: str
    context: str = ""

    @property
    def evidence(self) -> str:
        """The text in which details are looked up."""
        return f"{self.context}\n{self.text}"


@dataclass(frozen=True)
class Claim:
    """A sentence of an answer, without citations, and the places that may support it, the likeliest first.

    ``closest`` has the place of each cited chunk that is closest to the sentence, in the order of the chunks.
    """

    sentence: str
    places: tuple[Place, ...]
    closest: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """The decision about a claim, and the reason in one plain sentence.

    ``place`` is the index of the place that supports the claim; None if none does. ``probability`` is the model's
    probability of support; None without a model.
    """

    support: Support
    place: int | None = None
    probability: float | None = None
    reason: str = ""


def verdict_on(claim: Claim, place: int, probability: float, reason: str) -> Verdict:
    """The verdict on a claim, after a model has named a supporting place.

    The claim is not supported if the place lacks a figure, date, name or quotation of the sentence.
    """
    if missing := missing_details(claim.sentence, [claim.places[place].evidence]):
        return Verdict(Support.NOT_SUPPORTED, reason=f"The passage that the model names lacks {missing[0]}.")
    return Verdict(Support.SUPPORTED, place, probability, reason)


class Judge(Protocol):
    """Decides claims, each of which has at least one place."""

    async def judge(self, claims: Sequence[Claim]) -> Outcome[Sequence[Verdict]]:
        """A verdict for each claim, in order. Raises `ModelError` if a model failed."""
        ...
