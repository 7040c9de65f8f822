"""The reranker that asks a server: ``/rerank`` as Cohere and Jina have it, or vLLM's ``/score``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel, FiniteFloat, SecretStr

from discorag.config import FAILURES, PAUSE_S, RerankerSettings
from discorag.models.breaker import Call, breaker_of
from discorag.models.endpoint import ENDPOINT_ERRORS, Backoff, as_model_error, client_of
from discorag.models.loops import PerLoop
from discorag.schema.errors import ConfigError, InvalidOutputError

VARIABLES = "DISCO_RAG_RERANKER"


def served_reranker(settings: RerankerSettings) -> ServerReranker:
    """For the registry. Raises `ConfigError` without a ``base_url``."""
    if settings.base_url is None:
        raise ConfigError("An endpoint is to rerank, but none is named.", hint=f"Set {VARIABLES}__BASE_URL.")
    where = RerankerEndpoint(settings.base_url, settings.model or "default", settings.api_key, settings.path)
    limits = {"timeout_s": settings.timeout_s, "failures": settings.failures, "pause_s": settings.pause_s}
    return ServerReranker(replace(where, **limits))


@dataclass(frozen=True)
class RerankerEndpoint:
    """Where a reranker is served.

    Args:
        base_url: E.g. ``http://localhost:8002/v1``.
        model: Its name there.
        api_key: If it wants one.
        path: ``/rerank`` (Jina's and Cohere's form; vLLM has it too) or ``/score`` (vLLM's own).
        batch_size: Texts a request.
        timeout_s: Limit of one request.
        failures: Calls in a row without an answer, after which it is left alone.
        pause_s: For so long (`discorag.models.breaker`).

    Example:
        >>> from discorag.models.reranker_server import RerankerEndpoint
        >>> RerankerEndpoint("http://localhost:8002/v1", "bge-reranker-v2-m3").path
        '/rerank'
    """

    base_url: str
    model: str
    api_key: SecretStr | None = None
    path: Literal["/rerank", "/score"] = "/rerank"
    batch_size: int = 64
    timeout_s: float = 60.0
    failures: int = FAILURES
    pause_s: float = PAUSE_S


class _Ranked(BaseModel):
    index: int
    relevance_score: FiniteFloat


class _RerankReply(BaseModel):
    results: list[_Ranked]


class _Scored(BaseModel):
    index: int
    score: FiniteFloat


class _ScoreReply(BaseModel):
    data: list[_Scored]


class ServerReranker:
    """A `Reranker` over an endpoint.

    Args:
        endpoint: Where.
        retries: Further attempts on timeout, connection error, 429 and 5xx.
        base_wait_s: First wait before a retry, in seconds.

    Source: vLLM documentation, "Re-rank API" and "Score API".

    Example:
        >>> from discorag.models.reranker_server import RerankerEndpoint, ServerReranker
        >>> reranker = ServerReranker(RerankerEndpoint(rerank_url, "bge-reranker-v2-m3"))
        >>> asyncio.run(reranker.scores("Why?", ["short", "a longer text"]))
        (5.0, 13.0)
    """

    def __init__(self, endpoint: RerankerEndpoint, *, retries: int = 3, base_wait_s: float = 0.5) -> None:
        self._endpoint = endpoint
        self._backoff = Backoff(retries, base_wait_s)
        self._breaker = breaker_of(endpoint.base_url, endpoint.model, endpoint.failures, endpoint.pause_s)
        self._clients = PerLoop(lambda: client_of(endpoint.base_url, endpoint.api_key, endpoint.timeout_s))

    @property
    def version(self) -> str:
        """The model's name, and that it is served."""
        return f"{self._endpoint.model}@server"

    async def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """As the model gives them, ``batch_size`` texts a request.

        Raises:
            ModelError: Timeout, 429 or 5xx to the end; refused; InvalidOutputError unless there is one finite score
                for each text.
        """
        size = self._endpoint.batch_size
        batches = [await self._batch(query, texts[i : i + size]) for i in range(0, len(texts), size)]
        return tuple(score for batch in batches for score in batch)

    async def aclose(self) -> None:
        """Close the running loop's connections."""
        if client := self._clients.pop():
            await client.close()

    async def _batch(self, query: str, texts: Sequence[str]) -> list[float]:
        with self._breaker.call() as call:
            try:
                found = _indexed(await self._backoff.attempts()(self._once, query, texts, call))
            except ENDPOINT_ERRORS as error:
                raise as_model_error(error, variables=VARIABLES) from error
        if sorted(index for index, _ in found) != list(range(len(texts))):
            raise InvalidOutputError(
                f"The reranker gave scores for texts {[index for index, _ in found][:10]}, not one for each of "
                f"{len(texts)}.",
                hint=f"Check the server at {VARIABLES}__BASE_URL.",
            )
        return [score for _, score in sorted(found)]

    async def _once(self, query: str, texts: Sequence[str], call: Call) -> object:
        call.ask()
        client = await self._clients.get()
        one, many = ("query", "documents") if self._endpoint.path == "/rerank" else ("text_1", "text_2")
        body = {"model": self._endpoint.model, one: query, many: list(texts)}
        async with asyncio.timeout(self._endpoint.timeout_s):
            return await client.post(self._endpoint.path, body=body, cast_to=object)


def _indexed(reply: object) -> list[tuple[int, float]]:
    """Each text's place in the request, and its score.

    Raises:
        ValueError: The reply has neither form.
    """
    if isinstance(reply, dict) and "data" in reply:
        return [(item.index, item.score) for item in _ScoreReply.model_validate(reply).data]
    return [(item.index, item.relevance_score) for item in _RerankReply.model_validate(reply).results]
