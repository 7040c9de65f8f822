"""The verifier without a language model: a small model of support, and figures and quotations that must be there."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from discorag.claims.features import Seen, contrary, seen
from discorag.claims.pair_model import PairModel
from discorag.models.toolbox import Toolbox
from discorag.text.sentences import language_of
from discorag.verification.guards import lacking, literal
from discorag.verification.judge import Claim, Verdict
from discorag.verification.support import load_support
from discorag.verification.tracing import TracingVerifier

_PART = re.compile(r"(?<=[;,:—])\s+")
_LEAST_PART = 5  # words of a part that may stand on its own
SURER = 0.5
"""Share of the way from the threshold to certainty that each of several parts must have gone."""


def local_verifier(tools: Toolbox) -> TracingVerifier:
    """For the registry."""
    return TracingVerifier(tools.encoder, LocalJudge())


@dataclass(frozen=True)
class LocalJudge:
    """Decides claims by the packaged model. Implements `discorag.verification.judge.Judge`.

    Support comes from one place. Where no place has all of a sentence, its parts between commas or semicolons may each
    have one of their own, of which the model must be surer.

    Args:
        model: The model of support; the packaged one if not given.

    Example:
        >>> from discorag.verification.judge import Claim, Place
        >>> from discorag.verification.local import LocalJudge
        >>> places = (Place((0,), "Bees dance."), Place((1,), "The moon pulls the sea twice a day."))
        >>> [verdict] = asyncio.run(LocalJudge().judge([Claim("Twice a day the moon pulls the sea.", places)]))
        >>> verdict.places
        (1,)
    """

    model: PairModel = field(default_factory=load_support)

    async def judge(self, claims: Sequence[Claim]) -> Sequence[Verdict]:
        """A verdict for each claim, in order."""
        return await asyncio.to_thread(lambda: [self._judged(claim) for claim in claims])

    def _judged(self, claim: Claim) -> Verdict:
        if language_of(claim.sentence) != "en":
            return literal(claim)
        whole = self._whole(claim)
        if whole.supported:
            return whole
        return next((v for parts in _split(claim.sentence) if (v := self._each(claim, parts))), whole)

    def _whole(self, claim: Claim) -> Verdict:
        """By the likeliest place that supports it and has its figures and quotations."""
        found = [seen(claim.sentence, place.text) for place in claim.places]
        likely = self.model.probabilities(found)
        best = int(likely.argmax())
        for i in map(int, np.argsort(-likely, kind="stable")):
            if likely[i] >= self.model.threshold and not _objection(claim.sentence, claim.places[i].text):
                return Verdict((i,), float(likely[i]))
        reason = _objection(claim.sentence, claim.places[best].text) or _reason(found[best], self.model)
        return Verdict((), min(float(likely[best]), self.model.threshold), reason)

    def _each(self, claim: Claim, parts: Sequence[str]) -> Verdict | None:
        """Supported part by part, each surely; None if not."""
        least = self.model.threshold + SURER * (1 - self.model.threshold)
        verdicts = [self._whole(replace(claim, sentence=part)) for part in parts]
        if not all(v.supported and v.probability >= least for v in verdicts):
            return None
        places = tuple(dict.fromkeys(i for v in verdicts for i in v.places))
        return Verdict(places, min(v.probability for v in verdicts))


def _split(sentence: str) -> Iterator[tuple[str, str]]:
    """The sentence in two parts that are long enough to say something."""
    for cut in _PART.finditer(sentence):
        parts = sentence[: cut.start()].rstrip(",;:— "), sentence[cut.end() :]
        if all(len(part.split()) >= _LEAST_PART for part in parts):
            yield parts


def _objection(sentence: str, evidence: str) -> str:
    """What a place must not lack or deny, however likely it is to support the sentence."""
    if missing := lacking(sentence, evidence):
        return missing
    denied = contrary(sentence, evidence)
    return f'With "{denied}" one of sentence and evidence denies what the other affirms.' if denied else ""


def _reason(found: Seen, model: PairModel) -> str:
    """What in the closest place speaks against it most plainly."""
    numbers = dict(zip(model.names, found.numbers.tolist(), strict=True))
    if numbers["unsaid"] > 0:
        return "No one place says all of it."
    return "No one place says it in this way."
