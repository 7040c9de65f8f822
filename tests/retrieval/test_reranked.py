"""HTSIR's reranker orders the nodes that similarity found; where it fails, similarity orders them."""

from __future__ import annotations

import numpy as np
import pytest
from fastapi import Response

from discorag.models.encoder import PackagedEncoder
from discorag.retrieval.forest import Forest, Scores
from discorag.retrieval.registry import SelectedNodes, TreeQuery, tree_retrievers
from discorag.retrieval.routers.decide import LocalRouter
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import Span
from tests.models.test_reranker import Answer, by_length, failing, reranker, saying, served

TEXTS = ("one", "two two", "three three three", "four four four four")
SIMILARITY = np.array([0.3, 0.9, 0.1, 0.5], dtype=np.float32)


def scores() -> Scores:
    starts = np.cumsum([0, *(len(t) + 1 for t in TEXTS)]).tolist()
    spans = [Span(start=s, end=s + len(t)) for s, t in zip(starts, TEXTS, strict=False)]
    nodes = tuple(RetrievalNode(text=t, spans=(s,)) for t, s in zip(TEXTS, spans, strict=True))
    return Scores(Forest({"d": RetrievalTree(builder="b", nodes=nodes)}), SIMILARITY, np.array([1, 2, 3, 4]))


async def chosen(answer: Answer, words: int = 100) -> SelectedNodes:
    with served(answer) as seen:
        made = reranker(seen)
        try:
            asked = TreeQuery("which?", scores(), words, made, LocalRouter(PackagedEncoder()))
            return await tree_retrievers()["htsir"].choose(asked)
        finally:
            await made.aclose()


def not_a_number(body: dict[str, object]) -> Response:
    rows = ", ".join(f'{{"index": {i}, "relevance_score": NaN}}' for i in range(len(TEXTS)))
    return Response(f'{{"results": [{rows}]}}', media_type="application/json")


async def test_the_reranker_decides_the_order() -> None:
    found = await chosen(by_length)
    assert (list(found.nodes), found.failures) == ([3, 2, 1, 0], ())


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (failing(503), "ModelUnavailableError"),
        (failing(429), "RateLimitedError"),
        (failing(401), "ModelRejectedError"),
        (saying({"results": [{"index": 0, "relevance_score": 1.0}]}), "InvalidOutputError"),
        (saying({"data": [{"index": i, "score": 1.0} for i in range(5)]}), "InvalidOutputError"),
        (not_a_number, "ModelRejectedError"),
    ],
    ids=["down", "limit", "key", "too few", "too many", "nan"],
)
async def test_a_reranker_that_fails_leaves_the_order_of_similarity_and_is_counted(answer: Answer, kind: str) -> None:
    found = await chosen(answer)
    assert list(found.nodes) == [1, 3, 0, 2]
    [failure] = found.failures
    assert (failure.stage, failure.kind, failure.fallback) == ("retrieve", kind, "the order by similarity")
    assert failure.message


async def test_the_order_of_similarity_keeps_to_the_budget_too() -> None:
    assert list((await chosen(failing(401), words=6)).nodes) == [1, 3]
