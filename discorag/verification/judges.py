"""The judges: an NLI model, and a language model that decides all sentences in one call."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from pydantic import BaseModel, Field

from discorag.discourse.parse.inline import escape
from discorag.models.nli import ENTAILMENT, NliModel, named_nli
from discorag.models.protocol import LanguageModel, Message, Request, Template
from discorag.models.toolbox import Toolbox
from discorag.schema.answer import JudgeName, Outcome, Support
from discorag.verification.claims import Claim, Place, Verdict, verdict_on
from discorag.verification.tracing import TracingVerifier

_NLI_SAID = "The NLI model finds a passage that says so."
_NLI_UNSAID = "The NLI model finds no passage that says so."


def verifier_of(tools: Toolbox, judge: JudgeName) -> TracingVerifier:
    """The verifier with this judge; ``auto`` is the NLI model if there is one. Raises as `Toolbox.require_model`."""
    nli = tools.settings.nli
    if judge == "llm":
        chosen = LlmJudge(tools.require_model("judge"), tools.template("support"))
    else:
        chosen = NliJudge(named_nli(nli.model), nli.threshold) if nli.model else None
    return TracingVerifier(tools.encoder, tools.reranker, chosen)


@dataclass(frozen=True)
class NliJudge:
    """Decides claims by an NLI model.

    The place that most probably entails a sentence supports it, if the probability reaches ``threshold`` and the place
    has the sentence's figures, dates, quotations and names.
    """

    model: NliModel
    threshold: float = 0.5

    async def judge(self, claims: Sequence[Claim]) -> Outcome[Sequence[Verdict]]:
        """See `Judge.judge`. Raises as `NliModel.probabilities`."""
        pairs = [(place.text, claim.sentence) for claim in claims for place in claim.places]
        likely: list[float] = (await self.model.probabilities(pairs))[:, ENTAILMENT].tolist() if pairs else []
        ends = [*accumulate(len(c.places) for c in claims)]
        own = (likely[end - len(c.places) : end] for c, end in zip(claims, ends, strict=True))
        return Outcome(value=[self._verdict(claim, places) for claim, places in zip(claims, own, strict=True)])

    def _verdict(self, claim: Claim, likely: Sequence[float]) -> Verdict:
        best = max(range(len(likely)), key=likely.__getitem__)
        if likely[best] < self.threshold:
            return Verdict(Support.NOT_SUPPORTED, probability=likely[best], reason=_NLI_UNSAID)
        return verdict_on(claim, (claim.places[best],), _NLI_SAID, likely[best])


_TOKENS = 40
"""Output tokens for each sentence."""
_SAID = "The language model finds that a passage says so."
_OTHERWISE = "The language model finds that a passage says otherwise."
_UNSAID = "The language model finds no passage that says so."


class _Verdict(BaseModel, extra="forbid"):
    sentence: int = Field(ge=1)
    verdict: Literal["supported", "contradicted", "not stated"]
    passages: list[int]


class _Verdicts(BaseModel, extra="forbid"):
    verdicts: list[_Verdict]


@dataclass(frozen=True)
class LlmJudge:
    """Decides claims by a language model, which names the passages that support or contradict each sentence.

    Those that support one must have its figures, dates, quotations and names. The variables of the prompt are
    ``passages`` and ``sentences``.
    """

    model: LanguageModel
    template: Template

    async def judge(self, claims: Sequence[Claim]) -> Outcome[Sequence[Verdict]]:
        """See `Judge.judge`; one call for all claims. Raises as `LanguageModel.complete`."""
        if not claims:
            return Outcome(value=())
        passages = _widest([place for claim in claims for place in claim.places])
        reply = await self.model.complete(self._request(claims, passages))
        verdicts = [_verdict(c, v, passages) for c, v in zip(claims, reply.value, strict=True)]
        return Outcome(value=verdicts, usage=reply.usage, prompt_hash=self.template.hash)

    def _request(self, claims: Sequence[Claim], passages: Sequence[Place]) -> Request[list[_Verdict]]:
        shown = [f"({', '.join(p.context.splitlines())}) {p.text}" if p.context else p.text for p in passages]
        prompt = self.template.render(passages=_number(shown), sentences=_number([c.sentence for c in claims]))

        def parse(text: str) -> list[_Verdict]:
            return _check(text, len(claims), len(passages))

        return Request(
            stage="verify",
            messages=(Message(role="user", content=prompt),),
            parse=parse,
            schema=_Verdicts.model_json_schema(),
            max_tokens=_TOKENS * (len(claims) + 1),
        )


def _widest(places: Sequence[Place]) -> list[Place]:
    """The places that are not part of another one, each once, in the order of the passages."""
    units = {frozenset(place.units) for place in places}
    widest = {place.units: place for place in places if not any(own > {*place.units} for own in units)}
    return [widest[key] for key in sorted(widest)]


def _number(texts: Sequence[str]) -> str:
    return "\n".join(f"{n}. {escape(' '.join(text.split()))}" for n, text in enumerate(texts, start=1))


def _check(text: str, sentences: int, passages: int) -> list[_Verdict]:
    """The verdicts in a reply.

    Raises:
        ValueError: A verdict is missing, or it names no passage or one that does not exist.
    """
    found = _Verdicts.model_validate_json(text).verdicts
    if [v.sentence for v in found] != list(range(1, sentences + 1)):
        raise ValueError(f"There must be one verdict for each of the sentences 1 to {sentences}, in order.")
    if wrong := [n for v in found for n in v.passages if not 1 <= n <= passages]:
        raise ValueError(f"There is no passage {wrong[0]}; there are {passages}.")
    if unnamed := [v.sentence for v in found if v.verdict != "not stated" and not v.passages]:
        raise ValueError(f"The verdict on sentence {unnamed[0]} must name the passages that it rests on.")
    return found


def _verdict(claim: Claim, found: _Verdict, passages: Sequence[Place]) -> Verdict:
    """The model's verdict, with the claim's closest place inside each passage that the model names."""
    if found.verdict == "not stated":
        return Verdict(Support.NOT_SUPPORTED, reason=_UNSAID)
    named = tuple(passages[n - 1] for n in dict.fromkeys(found.passages))
    if found.verdict == "contradicted":
        return Verdict(Support.NOT_SUPPORTED, _narrowed(claim, named), reason=_OTHERWISE)
    verdict = verdict_on(claim, named, _SAID)
    narrow = verdict_on(claim, _narrowed(claim, named), _SAID)
    return narrow if narrow.support is verdict.support else verdict


def _narrowed(claim: Claim, named: Sequence[Place]) -> tuple[Place, ...]:
    """Each named passage, or the claim's likeliest place inside it."""
    return tuple(next((own for own in claim.places if {*own.units} <= {*p.units}), p) for p in named)
