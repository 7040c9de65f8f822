"""What a row chooses: by a selector, or as the retriever of the product does whose name it has."""

from __future__ import annotations

from collections.abc import Sequence

from bench.retrieval.forest_scores import Scored
from bench.retrieval.methods import Method
from discorag.models.protocol import Encoder
from discorag.models.reranker import reranker_from
from discorag.settings import RerankerSettings
from discorag.trees.registry import RETRIEVERS, Asked
from discorag.trees.routers.local import LocalRouter
from discorag.trees.scores import Scores


class Remembering:
    """A reranker that knows what it was asked last: a question is measured at several budgets."""

    version = "remembering"

    def __init__(self) -> None:
        self._reranker = reranker_from(RerankerSettings())
        self._last: tuple[str, tuple[str, ...]] | None = None
        self._scores: tuple[float, ...] = ()

    async def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """As the packaged reranker gives them."""
        if self._last != (query, tuple(texts)):
            self._scores = await self._reranker.scores(query, texts)
            self._last = query, tuple(texts)
        return self._scores


class Choice:
    """Chooses for every row, without a language model: the packaged reranker reranks, similarity routes.

    Args:
        encoder: The router's.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._reranker, self._router = Remembering(), LocalRouter(encoder)

    async def of(self, method: Method, scored: Scored, words: int) -> Sequence[int]:
        """The nodes in the order in which the reader gets them; none where the retriever refuses."""
        if not isinstance(method.choose, str):
            return method.choose(scored, words).nodes
        scores = Scores(scored.forest, scored.nodes, scored.words)
        asked = Asked(scored.question, scores, words, self._reranker, self._router)
        chosen = await RETRIEVERS[method.choose].choose(asked)
        return () if chosen.refused else chosen.nodes
