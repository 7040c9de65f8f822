"""The claims that a judge decides: sentences of an answer, each with the places that may support it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from discorag.schema.answer import Outcome, Support
from discorag.schema.document import Chunk
from discorag.verification.guards import missing_details


@dataclass(frozen=True)
class Place:
    """A sentence of a chunk, alone or with its neighbours; ``context`` is what these are labelled with.

    ``units`` are indices in the sentence table.
    """

    units: tuple[int, ...]
    text: str
    context: str = ""

    @property
    def evidence(self) -> str:
        """The text in which details are looked up."""
        return f"{self.context}\n{self.text}"


def label(chunk: Chunk, headings: Iterable[str]) -> str:
    """All that a part of a chunk under these headings is labelled with when a model reads it."""
    labels = (chunk.source, chunk.title, *headings, *chunk.byline, chunk.columns)
    return "\n".join(filter(None, dict.fromkeys(labels)))


@dataclass(frozen=True)
class Claim:
    """A sentence of an answer, without citations, and the places that may support it, the likeliest first.

    ``closest`` has the place of each cited chunk that is closest to the sentence, in the order of the chunks. Names and
    values of the ``question``, except dates, need no source.
    """

    sentence: str
    places: tuple[Place, ...]
    closest: tuple[Place, ...] = ()
    question: str = ""


@dataclass(frozen=True)
class Verdict:
    """The decision about a claim, and the reason in one plain sentence.

    ``places`` are those that support or contradict the claim; empty if none does. ``probability`` is the model's
    probability of support; None if it gives none.
    """

    support: Support
    places: tuple[Place, ...] = ()
    probability: float | None = None
    reason: str = ""


def verdict_on(claim: Claim, places: tuple[Place, ...], reason: str, probability: float | None = None) -> Verdict:
    """The verdict on a claim, after a model has named the places that support it together.

    The claim is not supported if all of them lack a figure, date, name or quotation of the sentence.
    """
    if missing := missing_details(claim.sentence, [place.evidence for place in places], question=claim.question):
        lacking = "passage that the model names lacks" if len(places) == 1 else "passages that the model names lack"
        return Verdict(Support.NOT_SUPPORTED, places, probability, f"The {lacking} {missing[0]}.")
    return Verdict(Support.SUPPORTED, places, probability, reason)


class Judge(Protocol):
    """Decides claims, each of which has at least one place."""

    async def judge(self, claims: Sequence[Claim]) -> Outcome[Sequence[Verdict]]:
        """A verdict for each claim, in order. Raises `ModelError` if a model failed."""
        ...
