"""The verifier that asks a model of natural language inference: in this process, or served."""

# torch and transformers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any, Protocol

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from discorag.models.breaker import Call, breaker_of
from discorag.models.endpoint import ENDPOINT_ERRORS, Backoff, as_model_error, client_of
from discorag.models.loops import PerLoop
from discorag.models.toolbox import Toolbox
from discorag.settings import NliSettings
from discorag.types.errors import ConfigError, InvalidOutputError
from discorag.verification.guards import guarded
from discorag.verification.judge import Claim, Verdict
from discorag.verification.tracing import TracingVerifier

VARIABLES = "DISCO_RAG_NLI"
_UNSAID = "The model of inference finds no place that entails it."


class Entailment(Protocol):
    """Says how likely it is that one text entails another."""

    async def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Of each premise and hypothesis, in order.

        Raises:
            ModelError: An endpoint failed, or gave what cannot be used.
        """
        ...


def nli_verifier(tools: Toolbox) -> TracingVerifier:
    """For the registry. Raises `ConfigError` if no model is named."""
    settings = tools.settings.nli
    return TracingVerifier(tools.encoder, NliJudge(entailment_from(settings), settings.threshold))


def entailment_from(settings: NliSettings) -> Entailment:
    """The configured model, the same one for every question. Raises `ConfigError` if none is named."""
    return _entailment(settings)  # pyright: ignore[reportArgumentType]: settings are frozen, which pydantic hashes


@cache
def _entailment(settings: NliSettings) -> Entailment:
    if settings.base_url:
        return ServedEntailment(settings)
    if settings.model is None:
        raise ConfigError(
            "A model of inference is to verify, but none is named.",
            hint=f"Set {VARIABLES}__MODEL to a folder or hub name, or {VARIABLES}__BASE_URL.",
        )
    return LocalEntailment(settings.model)


@dataclass(frozen=True)
class NliJudge:
    """Decides claims by a model of inference. Implements `discorag.verification.judge.Judge`.

    A sentence is supported by the place that most probably entails it, if that has its figures and quotations.

    Args:
        entailment: The model.
        threshold: Probability from which a place entails a sentence.

    Example:
        >>> from discorag.verification.judge import Claim, Place
        >>> from discorag.verification.nli import LocalEntailment, NliJudge
        >>> claim = Claim("The tide rises.", (Place((0,), "Tides rise."),))
        >>> [verdict] = asyncio.run(NliJudge(LocalEntailment(str(cross_encoder)), threshold=0.0).judge([claim]))
        >>> verdict.places
        (0,)
    """

    entailment: Entailment
    threshold: float = 0.5

    async def judge(self, claims: Sequence[Claim]) -> Sequence[Verdict]:
        """A verdict for each claim, in order. Raises as `Entailment.probabilities`."""
        pairs = [(place.text, claim.sentence) for claim in claims for place in claim.places]
        found = await self.entailment.probabilities(pairs) if pairs else []
        ends = [*accumulate(len(c.places) for c in claims)]
        return [self._verdict(c, found[end - len(c.places) : end]) for c, end in zip(claims, ends, strict=True)]

    def _verdict(self, claim: Claim, likely: Sequence[float]) -> Verdict:
        best = max(range(len(likely)), key=likely.__getitem__)
        if likely[best] < self.threshold:
            return Verdict((), likely[best], _UNSAID)
        return guarded(claim, Verdict((best,), likely[best]))


class LocalEntailment:
    """A sequence-classification model in this process, with one label whose name begins with "entail", or one output.

    Args:
        name: A folder, or a name that transformers can load.
        batch_size: Pairs per forward pass.

    Example:
        >>> from discorag.verification.nli import LocalEntailment
        >>> model = LocalEntailment(str(cross_encoder))
        >>> [p] = asyncio.run(model.probabilities([("Tides rise.", "The tide rises.")]))
        >>> 0 <= p <= 1
        True
    """

    def __init__(self, name: str, batch_size: int = 16) -> None:
        self._name, self._batch_size = name, batch_size
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    async def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Of each pair; the model is loaded at the first call.

        Raises:
            ConfigError: It cannot be loaded, or names no label of entailment.
        """
        return await asyncio.to_thread(self._probabilities, pairs)

    def _probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        size = self._batch_size
        with self._lock:
            tokenizer, model = self._loaded = self._loaded or self._load()
            batches = [pairs[i : i + size] for i in range(0, len(pairs), size)]
            return [p for batch in batches for p in self._batch(tokenizer, model, batch)]

    def _batch(self, tokenizer: Any, model: Any, pairs: Sequence[tuple[str, str]]) -> list[float]:
        import torch

        premises, hypotheses = ([pair[k] for pair in pairs] for k in (0, 1))
        inputs = tokenizer(premises, hypotheses, truncation="only_first", padding=True, return_tensors="pt")
        with torch.inference_mode():
            logits = model(**inputs).logits.float()
        if logits.shape[1] == 1:
            return logits[:, 0].sigmoid().tolist()
        return logits.softmax(dim=-1)[:, self._entailed(model.config.id2label)].tolist()

    def _entailed(self, labels: dict[int, str]) -> int:
        named = [i for i, label in labels.items() if is_entailment(label)]
        if len(named) != 1:
            raise ConfigError(
                f"'{self._name}' has the labels {', '.join(labels.values())}, none of which says entailment.",
                hint="Name a model whose configuration calls a label 'entailment'.",
            )
        return named[0]

    def _load(self) -> tuple[Any, Any]:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        try:
            tokenizer: Any = AutoTokenizer.from_pretrained(self._name)
            model = AutoModelForSequenceClassification.from_pretrained(self._name)
        except (OSError, ValueError) as error:
            hint = "Name a folder that holds a model, or one that can be downloaded."
            raise ConfigError(f"The model '{self._name}' cannot be loaded: {error}", hint=hint) from error
        return tokenizer, model.eval()


def is_entailment(label: str) -> bool:
    """Whether a label is that of entailment; "not_entailment" is not."""
    return label.lower().startswith("entail")


class _Label(BaseModel):
    label: str
    score: float = Field(ge=0, le=1)


_REPLY = TypeAdapter(list[list[_Label]])


class ServedEntailment:
    """A served model, asked as text-embeddings-inference is: ``/predict`` with pairs, labels with scores back.

    Args:
        settings: Where, and its limits.

    Example:
        >>> from discorag.settings import NliSettings
        >>> from discorag.verification.nli import ServedEntailment
        >>> model = ServedEntailment(NliSettings(base_url=nli_url))
        >>> asyncio.run(model.probabilities([("Tides rise.", "The tide rises.")]))
        [0.75]
    """

    def __init__(self, settings: NliSettings) -> None:
        assert settings.base_url
        self._settings = settings
        self._backoff = Backoff(settings.retries, 0.5)
        name = settings.model or "default"
        self._breaker = breaker_of(settings.base_url, name, settings.failures, settings.pause_s)
        self._clients = PerLoop(lambda: client_of(settings.base_url, settings.api_key, settings.timeout_s))

    async def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Of each pair, in requests of ``batch_size``.

        Raises:
            ModelError: Timeout, 429 or 5xx to the end; refused; InvalidOutputError unless each pair gets its labels.
        """
        size = self._settings.batch_size
        batches = [pairs[i : i + size] for i in range(0, len(pairs), size)]
        return [p for batch in batches for p in await self._batch(batch)]

    async def _batch(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        with self._breaker.call() as call:
            try:
                reply = await self._backoff.attempts()(self._once, pairs, call)
            except ENDPOINT_ERRORS as error:
                raise as_model_error(error, variables=VARIABLES) from error
        return _entailed(reply, len(pairs))

    async def _once(self, pairs: Sequence[tuple[str, str]], call: Call) -> object:
        call.ask()
        client = await self._clients.get()
        body = {"inputs": [list(pair) for pair in pairs], "truncate": True}
        async with asyncio.timeout(self._settings.timeout_s):
            return await client.post("/predict", body=body, cast_to=object)


def _entailed(reply: object, pairs: int) -> list[float]:
    """The score of each pair's label of entailment. Raises `InvalidOutputError` if one is missing."""
    try:
        found = _REPLY.validate_python(reply)
    except ValidationError:
        found = []
    scores = [x.score for labels in found for x in labels if is_entailment(x.label)]
    if not len(scores) == len(found) == pairs:
        raise InvalidOutputError(
            f"The server did not give each of {pairs} pairs one label of entailment: {str(reply)[:200]}",
            hint=f"Check the server at {VARIABLES}__BASE_URL, and the names of its labels.",
        )
    return scores
