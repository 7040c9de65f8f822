"""Models behind endpoints: encoders and rerankers, each by the protocol of its usual servers."""

import asyncio
from collections.abc import Sequence
from typing import Self

import numpy as np
from pydantic import BaseModel, FiniteFloat

from discorag.config import EncoderSettings, RerankerSettings
from discorag.models.encoder import BaseEncoder, Prefixes
from discorag.models.endpoint import Endpoint, typed_errors
from discorag.models.reranker import VARIABLES as RERANKER
from discorag.models.tokens import FastTokens, PackagedTokens, tokenizer_named
from discorag.schema.errors import ConfigError, DiscoRagError, InvalidOutputError
from discorag.schema.values import Vectors, unit

ENCODER = "DISCO_RAG_ENCODER"


class ServerEncoder(BaseEncoder):
    """An encoder over an OpenAI-compatible ``/v1/embeddings``; create it with `connect`, which finds out the dimension.

    Its tokenizer is the one that the settings name; without one, the packaged MiniLM's, as an estimate.

    Texts are sent whole. If one is too long, some servers refuse it (a `ModelError`); others cut it without notice.
    """

    def __init__(self, endpoint: Endpoint, settings: EncoderSettings, dimension: int, tokens: FastTokens) -> None:
        self._endpoint, self._settings = endpoint, settings
        prefixes = Prefixes(settings.query_prefix, settings.passage_prefix)
        super().__init__(f"{settings.model}@server/{dimension}{prefixes.version}", tokens, dimension, prefixes)

    @classmethod
    async def connect(cls, settings: EncoderSettings) -> Self:
        """Ask the endpoint for one vector, to learn the dimension. Raises `ModelError`, and `ConfigError`."""
        endpoint = Endpoint(settings, ENCODER)
        [probe] = await _vectors(endpoint, settings, ["dimension"])
        return cls(endpoint, settings, len(probe), await _tokens(endpoint, settings))

    async def _embed(self, texts: Sequence[str], prefix: str, too_long: type[DiscoRagError]) -> Vectors:
        """``settings.batch_size`` texts a request; nothing is counted here, since the tokenizer may be an estimate."""
        size = self._settings.batch_size
        given = [prefix + text for text in texts]
        return np.concatenate([await self._batch(given[i : i + size]) for i in range(0, len(given), size)])

    async def _batch(self, texts: Sequence[str]) -> Vectors:
        vectors = await _vectors(self._endpoint, self._settings, texts)
        if vectors.shape[1] != self.dimension:
            raise InvalidOutputError(
                f"The encoder '{self._settings.model}' gave {vectors.shape[1]} dimensions after {self.dimension}.",
                hint=f"Another model may be served now at {ENCODER}__BASE_URL.",
            )
        return vectors


async def _vectors(endpoint: Endpoint, settings: EncoderSettings, texts: Sequence[str]) -> Vectors:
    """Unit vectors of one batch, shape (len(texts), d).

    Raises:
        InvalidOutputError: Their number is wrong, they differ in length, or one is zero or not finite.
    """
    response = await endpoint.call(
        # Not every server knows the client's default, base64.
        lambda client: client.embeddings.create(model=settings.model, input=list(texts), encoding_format="float")
    )
    with typed_errors(ENCODER):
        rows = [item.embedding for item in sorted(response.data, key=lambda item: item.index)]
    if len(rows) != len(texts) or len({len(row) for row in rows}) > 1:
        raise InvalidOutputError(
            f"The endpoint gave {len(rows)} vectors for {len(texts)} texts, or vectors of unequal length.",
            hint="Check the embedding server.",
        )
    vectors = np.asarray(rows, dtype=np.float32)
    norms = np.linalg.norm(vectors, axis=1)
    if not np.all(np.isfinite(norms)) or np.any(norms == 0):
        raise InvalidOutputError(
            "The endpoint gave a vector of zeros or of numbers that are not finite.", hint="Check the embedding server."
        )
    return unit(vectors)


async def _served_window(endpoint: Endpoint, settings: EncoderSettings) -> int | None:
    """Tokens that the model reads, special ones included, where the server says so (vLLM: ``max_model_len``)."""
    listed = (await endpoint.call(lambda client: client.models.list())).data
    own = [model for model in listed if model.id == settings.model] or listed
    said = (own[0].model_extra or {}).get("max_model_len") if own else None
    return said if isinstance(said, int) else None


async def _tokens(endpoint: Endpoint, settings: EncoderSettings) -> FastTokens:
    if settings.tokenizer is None:
        if settings.max_tokens:
            hint = f"Set {ENCODER}__TOKENIZER too, or leave {ENCODER}__MAX_TOKENS out."
            raise ConfigError("The encoder's MAX_TOKENS is set, but its TOKENIZER is not.", hint=hint)
        return await asyncio.to_thread(PackagedTokens)
    tokenizer = await asyncio.to_thread(tokenizer_named, settings.tokenizer)
    window = settings.max_tokens or await _served_window(endpoint, settings)
    if window is None:
        raise ConfigError(
            f"The endpoint does not say how many tokens '{settings.model}' reads.",
            hint=f"Set {ENCODER}__MAX_TOKENS to the model's window.",
        )
    prefixes = Prefixes(settings.query_prefix, settings.passage_prefix)
    return prefixes.less(FastTokens(tokenizer, window))


_RERANK_BATCH = 64
"""Texts in a request to a reranker."""


class _Ranked(BaseModel):
    index: int
    relevance_score: FiniteFloat


class _RerankReply(BaseModel):
    results: list[_Ranked]


class ServerReranker:
    """A `Reranker` over an endpoint's ``/rerank``, as Cohere, Jina and vLLM have it.

    Source: vLLM documentation, "Re-rank API".
    """

    def __init__(self, settings: RerankerSettings) -> None:
        self._model = settings.model or "default"
        self._endpoint = Endpoint(settings, RERANKER)
        self.version = f"{self._model}@server"

    async def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """See `discorag.models.reranker.Reranker`; the scores are returned as the server gives them."""
        batches = [await self._batch(query, texts[i : i + _RERANK_BATCH]) for i in range(0, len(texts), _RERANK_BATCH)]
        return tuple(score for batch in batches for score in batch)

    async def _batch(self, query: str, texts: Sequence[str]) -> list[float]:
        body = {"model": self._model, "query": query, "documents": list(texts)}
        reply = await self._endpoint.call(lambda client: client.post("/rerank", body=body, cast_to=object))
        with typed_errors(RERANKER):
            found = {item.index: item.relevance_score for item in _RerankReply.model_validate(reply).results}
        if found.keys() != set(range(len(texts))):
            raise InvalidOutputError(
                f"The reranker scored {len(found)} of {len(texts)} texts.",
                hint=f"Check the server at {RERANKER}__BASE_URL.",
            )
        return [found[i] for i in range(len(texts))]
