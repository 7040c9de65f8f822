"""The protocols of verifiers and judges, and the registry of verifiers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from discorag.models.toolbox import Toolbox
from discorag.registry import Registry
from discorag.schema.answer import Answer, AnswerInputs, Outcome, Support
from discorag.verification.guards import missing_detail


class Verifier(Protocol):
    """Traces a draft to its sources."""

    async def verify(self, inputs: AnswerInputs, draft: str) -> Outcome[Answer]:
        """Return the draft's sentences, each with its state, its evidence and the reason.

        The draft was made from the chunks, graph and plan of the inputs, and cites chunks as ``[2]`` or units as
        ``[2.3]``.

        Raises:
            ModelError: A model failed.
        """
        ...


VERIFIERS = Registry[Callable[[Toolbox], Verifier]]("verifier", "disco_rag.verifiers")
"""Verifiers by name, as ``verifier=`` knows them."""

register_verifier = VERIFIERS.register

VERIFIERS.offer(
    "auto", "discorag.verification.judges:auto_verifier", "the NLI model if one is configured, else nothing"
)
VERIFIERS.offer("nli", "discorag.verification.judges:nli_verifier", "the NLI model, by name or folder, or served")
VERIFIERS.offer("llm", "discorag.verification.judges:llm_verifier", "the language model, one call for all sentences")


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
