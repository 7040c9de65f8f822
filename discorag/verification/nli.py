"""The verifier that asks a model of natural language inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from discorag.models.nli import ENTAILMENT, VARIABLES, NliModel, nli_from
from discorag.models.toolbox import Toolbox
from discorag.types.errors import ConfigError
from discorag.verification.guards import guarded
from discorag.verification.judge import Claim, Verdict
from discorag.verification.tracing import TracingVerifier

_UNSAID = "The model of inference finds no place that entails it."


def nli_verifier(tools: Toolbox) -> TracingVerifier:
    """For the registry. Raises `ConfigError` if no model is named."""
    settings = tools.settings.nli
    model = nli_from(settings)
    if model is None:
        raise ConfigError(
            "A model of inference is to verify, but none is named.",
            hint=f"Set {VARIABLES}__MODEL to a folder or hub name, or {VARIABLES}__BASE_URL.",
        )
    return TracingVerifier(tools.encoder, NliJudge(model, settings.threshold))


@dataclass(frozen=True)
class NliJudge:
    """Decides claims by a model of inference. Implements `discorag.verification.judge.Judge`.

    A sentence is supported by the place that most probably entails it, if that has its figures and quotations.

    Args:
        model: The model.
        threshold: Probability from which a place entails a sentence.

    Example:
        >>> from discorag.models.nli import CrossEncoderNli
        >>> from discorag.verification.judge import Claim, Place
        >>> from discorag.verification.nli import NliJudge
        >>> claim = Claim("The tide rises.", (Place((0,), "Tides rise."),))
        >>> [verdict] = asyncio.run(NliJudge(CrossEncoderNli(str(cross_encoder)), threshold=0.0).judge([claim]))
        >>> verdict.places
        (0,)
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
            return Verdict((), likely[best], _UNSAID)
        return guarded(claim, Verdict((best,), likely[best]))
