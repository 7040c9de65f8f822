"""Any OpenAI-compatible ``/v1/embeddings`` endpoint as an encoder."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from discorag.config import EncoderSettings
from discorag.models.encoder import BaseEncoder, Prefixes
from discorag.models.endpoint import Endpoint, typed_errors
from discorag.models.tokens import FastTokens, PackagedTokens, tokenizer_named
from discorag.schema.errors import ConfigError, DiscoRagError, InvalidOutputError
from discorag.schema.values import Vectors, unit

VARIABLES = "DISCO_RAG_ENCODER"


class ServerEncoder(BaseEncoder):
    """An encoder over an endpoint; make it with `connect`, which learns the dimension.

    Its tokenizer is the one that the settings name; without one the packaged MiniLM's, as an estimate.

    Texts are sent as text, whole: a server that finds one too long answers 400, which is raised, or cuts it by its
    own settings, which no client can see.
    """

    def __init__(self, endpoint: Endpoint, settings: EncoderSettings, dimension: int, tokens: FastTokens) -> None:
        self._endpoint, self._settings = endpoint, settings
        prefixes = Prefixes(settings.query_prefix, settings.passage_prefix)
        super().__init__(f"{settings.model}@server/{dimension}{prefixes.version}", tokens, dimension, prefixes)

    @classmethod
    async def connect(cls, settings: EncoderSettings) -> ServerEncoder:
        """Ask the endpoint for one vector, to learn the dimension.

        Args:
            settings: Address, model and limits.

        Raises:
            ModelError: As `Endpoint.call`.
            ConfigError: There is no address, no tokenizer of this name, or no window.
        """
        endpoint = Endpoint(settings, VARIABLES)
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
                hint=f"Another model may be served now at {VARIABLES}__BASE_URL.",
            )
        return vectors


async def _vectors(endpoint: Endpoint, settings: EncoderSettings, texts: Sequence[str]) -> Vectors:
    """Unit vectors of one batch, shape (len(texts), d)."""
    response = await endpoint.call(
        # Not every server knows the client's default, base64.
        lambda client: client.embeddings.create(model=settings.model, input=list(texts), encoding_format="float")
    )
    with typed_errors(VARIABLES):
        rows = [item.embedding for item in sorted(response.data, key=lambda item: item.index)]
    return unit_vectors(rows, len(texts))


async def _served_window(endpoint: Endpoint, settings: EncoderSettings) -> int | None:
    """Tokens that the model reads, special ones included, where the server says so (vLLM: ``max_model_len``)."""
    listed = (await endpoint.call(lambda client: client.models.list())).data
    own = [model for model in listed if model.id == settings.model] or listed
    said = (own[0].model_extra or {}).get("max_model_len") if own else None
    return said if isinstance(said, int) else None


async def _tokens(endpoint: Endpoint, settings: EncoderSettings) -> FastTokens:
    if settings.tokenizer is None:
        if settings.max_tokens:
            hint = f"Set {VARIABLES}__TOKENIZER too, or leave {VARIABLES}__MAX_TOKENS out."
            raise ConfigError("The encoder's MAX_TOKENS is set, but its TOKENIZER is not.", hint=hint)
        return await asyncio.to_thread(PackagedTokens)
    tokenizer = await asyncio.to_thread(tokenizer_named, settings.tokenizer)
    window = settings.max_tokens or await _served_window(endpoint, settings)
    if window is None:
        raise ConfigError(
            f"The endpoint does not say how many tokens '{settings.model}' reads.",
            hint=f"Set {VARIABLES}__MAX_TOKENS to the model's window.",
        )
    prefixes = Prefixes(settings.query_prefix, settings.passage_prefix)
    return prefixes.less(FastTokens(tokenizer, window))


def unit_vectors(rows: list[list[float]], expected: int, giver: str = "The endpoint") -> Vectors:
    """The vectors made as long as one, shape (expected, d).

    Raises:
        InvalidOutputError: They are not as many, not of equal length, or have no direction.
    """
    if len(rows) != expected or len({len(row) for row in rows}) > 1:
        raise InvalidOutputError(
            f"{giver} gave {len(rows)} vectors for {expected} texts, or vectors of unequal length.",
            hint="Check the embedding server.",
        )
    vectors = np.asarray(rows, dtype=np.float32)
    norms = np.linalg.norm(vectors, axis=1)
    if not np.all(np.isfinite(norms)) or np.any(norms == 0):
        raise InvalidOutputError(
            f"{giver} gave a vector of zeros or of numbers that are not finite.", hint="Check the embedding server."
        )
    return unit(vectors)
