"""A reranker behind an endpoint."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, FiniteFloat

from discorag.config import RerankerSettings
from discorag.models.endpoint import Endpoint, typed_errors
from discorag.models.reranker import VARIABLES
from discorag.schema.errors import InvalidOutputError

_BATCH = 64
"""Texts a request."""


class _Ranked(BaseModel):
    index: int
    relevance_score: FiniteFloat


class _RerankReply(BaseModel):
    results: list[_Ranked]


class ServerReranker:
    """A `Reranker` over an endpoint's ``/rerank``, as Cohere, Jina and vLLM have it.

    Args:
        settings: Address, model and limits.

    Raises:
        ConfigError: No address is configured.

    Source: vLLM documentation, "Re-rank API".
    """

    def __init__(self, settings: RerankerSettings) -> None:
        self._model = settings.model or "default"
        self._endpoint = Endpoint(settings, VARIABLES)
        self.version = f"{self._model}@server"

    async def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return the scores as the server gives them.

        Raises:
            ModelError: As `Endpoint.call`; InvalidOutputError unless there is one finite score for each text.
        """
        batches = [await self._batch(query, texts[i : i + _BATCH]) for i in range(0, len(texts), _BATCH)]
        return tuple(score for batch in batches for score in batch)

    async def _batch(self, query: str, texts: Sequence[str]) -> list[float]:
        reply = await self._endpoint.post("/rerank", {"model": self._model, "query": query, "documents": list(texts)})
        with typed_errors(VARIABLES):
            found = sorted((item.index, item.relevance_score) for item in _RerankReply.model_validate(reply).results)
        if [index for index, _ in found] != list(range(len(texts))):
            raise InvalidOutputError(
                f"The reranker scored the texts {[index for index, _ in found][:10]}; one score for each of "
                f"{len(texts)} texts was expected.",
                hint=f"Check the server at {VARIABLES}__BASE_URL.",
            )
        return [score for _, score in found]
