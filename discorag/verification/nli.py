"""The verifiers that ask a model of natural language inference: ``auto`` if there is one, ``nli`` in any case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from discorag.models.nli import ENTAILMENT, VARIABLES, NliModel, nli_from
from discorag.models.toolbox import Toolbox
from discorag.schema.answer import Support
from discorag.schema.errors import ConfigError
from discorag.verification.judge import Claim, Verdict, verdict_on
from discorag.verification.tracing import TracingVerifier

_SAID = "The NLI model finds a passage that says so."
_UNSAID = "The NLI model finds no passage that says so."


def auto_verifier(tools: Toolbox) -> TracingVerifier:
    """For the registry: written sentences are judged if an NLI model is configured, else not verified."""
    settings = tools.settings.nli
    model = nli_from(settings)
    judge = NliJudge(model, settings.threshold) if model else None
    return TracingVerifier(tools.encoder, tools.reranker, judge)


def nli_verifier(tools: Toolbox) -> TracingVerifier:
    """For the registry. Raises `ConfigError` if no model is named."""
    verifier = auto_verifier(tools)
    if verifier.judge is None:
        raise ConfigError(
            "An NLI model is to verify, but none is named.",
            hint=f"Set {VARIABLES}__MODEL to a folder or hub name, or {VARIABLES}__BASE_URL.",
        )
    return verifier


@dataclass(frozen=True)
class NliJudge:
    """Decides claims by an NLI model. Implements `discorag.verification.judge.Judge`.

    A sentence is supported by the place that most probably entails it, if that has its figures, dates, quotations and
    names.

    Args:
        model: The model.
        threshold: Probability from which a place entails a sentence.

    Example:
        >>> from discorag.models.nli import CrossEncoderNli
        >>> from discorag.verification.judge import Claim, Place
        >>> from discorag.verification.nli import NliJudge
        >>> claim = Claim("The tide rises.", (Place((0,), "Tides rise."),))
        >>> [verdict] = asyncio.run(NliJudge(CrossEncoderNli(str(cross_encoder)), threshold=0.0).judge([claim]))
        >>> verdict.place
        0
    """

    model: NliModel
    threshold: float = 0.5

    async def judge(self, claims: Sequence[Claim]) -> Sequence[Verdict]:
        """Return a verdict for each claim, in order. Raises as `NliModel.probabilities`."""
        pairs = [(place.text, claim.sentence) for claim in claims for place in claim.places]
        likely: list[float] = (await self.model.probabilities(pairs))[:, ENTAILMENT].tolist() if pairs else []
        ends = [*accumulate(len(c.places) for c in claims)]
        return [self._verdict(c, likely[end - len(c.places) : end]) for c, end in zip(claims, ends, strict=True)]

    def _verdict(self, claim: Claim, likely: Sequence[float]) -> Verdict:
        best = max(range(len(likely)), key=likely.__getitem__)
        if likely[best] < self.threshold:
            return Verdict(Support.NOT_SUPPORTED, probability=likely[best], reason=_UNSAID)
        return verdict_on(claim, best, likely[best], _SAID)
