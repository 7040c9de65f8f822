"""The judges: an NLI model, and a language model that decides all sentences in one call."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from pydantic import BaseModel, Field

from discorag.discourse.parse.inline import escape
from discorag.models.nli import ENTAILMENT, NliModel, named_nli
from discorag.models.protocol import LanguageModel, Message, Request, Template
from discorag.models.toolbox import Toolbox
from discorag.schema.answer import JudgeName, Outcome, Support
from discorag.verification.claims import Claim, Verdict, verdict_on
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
        return verdict_on(claim, best, likely[best], _NLI_SAID)


_TOKENS = 40
"""Output tokens for each sentence."""
_SAID = "The language model finds a passage that says so."
_UNSAID = "The language model finds no passage that says so."


class _Verdict(BaseModel, extra="forbid"):
    sentence: int = Field(ge=1)
    passage: int = Field(ge=0)
    confidence: int = Field(ge=0, le=100)


class _Verdicts(BaseModel, extra="forbid"):
    verdicts: list[_Verdict]


@dataclass(frozen=True)
class LlmJudge:
    """Decides claims by a language model.

    The passage that the model names must have the sentence's figures, dates, quotations and names. The variables of the
    prompt are ``passages`` and ``sentences``.
    """

    model: LanguageModel
    template: Template

    async def judge(self, claims: Sequence[Claim]) -> Outcome[Sequence[Verdict]]:
        """See `Judge.judge`; one call for all claims. Raises as `LanguageModel.complete`."""
        if not claims:
            return Outcome(value=())
        passages = list(dict.fromkeys(place.text for claim in claims for place in claim.places))
        reply = await self.model.complete(self._request(claims, passages))
        verdicts = [_verdict(c, v, passages) for c, v in zip(claims, reply.value, strict=True)]
        return Outcome(value=verdicts, usage=reply.usage, prompt_hash=self.template.hash)

    def _request(self, claims: Sequence[Claim], passages: Sequence[str]) -> Request[list[_Verdict]]:
        prompt = self.template.render(passages=_number(passages), sentences=_number([c.sentence for c in claims]))

        def parse(text: str) -> list[_Verdict]:
            return _check(text, len(claims), len(passages))

        return Request(
            stage="verify",
            messages=(Message(role="user", content=prompt),),
            parse=parse,
            schema=_Verdicts.model_json_schema(),
            max_tokens=_TOKENS * (len(claims) + 1),
        )


def _number(texts: Sequence[str]) -> str:
    return "\n".join(f"{n}. {escape(' '.join(text.split()))}" for n, text in enumerate(texts, start=1))


def _check(text: str, sentences: int, passages: int) -> list[_Verdict]:
    """The verdicts in a reply. Raises ``ValueError`` if one is missing or names a passage that does not exist."""
    found = _Verdicts.model_validate_json(text).verdicts
    if [v.sentence for v in found] != list(range(1, sentences + 1)):
        raise ValueError(f"There must be one verdict for each of the sentences 1 to {sentences}, in order.")
    if wrong := [v.passage for v in found if v.passage > passages]:
        raise ValueError(f"There is no passage {wrong[0]}; there are {passages}.")
    return found


def _verdict(claim: Claim, found: _Verdict, passages: Sequence[str]) -> Verdict:
    """The model's verdict; a passage does not count if it is not one of the claim's places."""
    probability = found.confidence / 100
    texts = [place.text for place in claim.places]
    if not found.passage or passages[found.passage - 1] not in texts:
        return Verdict(Support.NOT_SUPPORTED, probability=min(probability, 1 - probability), reason=_UNSAID)
    return verdict_on(claim, texts.index(passages[found.passage - 1]), probability, _SAID)
