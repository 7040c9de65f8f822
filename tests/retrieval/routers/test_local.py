"""The local router selects and unfolds by similarity."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from discorag.models.protocol import Encoder
from discorag.models.tokens import PackagedTokens
from discorag.retrieval.builders.base import inner
from discorag.retrieval.routers.decide import LocalRouter
from discorag.retrieval.routers.walk import Ending, Routed, derive
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import Span, Vectors
from discorag.text.tokens import TokenCounter
from tests.retrieval.routers.parks import QUESTION, ids, nodes, walk

_LEAVES = ("gate", "titan coaster", "coaster", "coaster record", "gate food")
"""The first under Park, the next two under Rides, then one under Records and one under Food."""


class BagOfWords:
    """An encoder whose cosines can be worked out by hand: 1 / sqrt(words) for each word in common."""

    version = "bag"
    dimension = 64

    def __init__(self) -> None:
        self.words: dict[str, int] = {}
        self.questions = 0
        self.tokens: TokenCounter = PackagedTokens()

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                row[self.words.setdefault(word, len(self.words))] = 1
            row /= np.linalg.norm(row)
        return vectors

    async def encode_query(self, text: str) -> Vectors:
        self.questions += 1
        return (await self.encode_documents([text]))[0]


def park() -> RetrievalTree:
    made = [
        RetrievalNode(text=text, spans=(Span(start=20 * i, end=20 * i + len(text)),)) for i, text in enumerate(_LEAVES)
    ]
    for heading, children in (("Rides", [1, 2]), ("Records", [3]), ("Food", [4]), ("Park", [0, 5, 6, 7])):
        made.append(inner(made, children, heading, heading=heading))
    return RetrievalTree(builder="made", nodes=tuple(made))


async def walked(question: str, start: int) -> Routed:
    return await walk(question, derive(park(), [start]), LocalRouter(BagOfWords()))


async def test_near_passages_are_selected_and_the_nearest_heading_is_unfolded_if_it_is_near() -> None:
    """By hand: "coaster" has cosine 0.71 with two words that hold it, and 0.5 with "records" among four."""
    assert (await walked("coaster", 1)).steps == ((1, 2),)
    assert (await walked("records coaster", 1)).steps == ((1, 2), (3,))


async def test_a_document_with_nothing_near_is_refused() -> None:
    routed = await walked("weather", 0)
    assert (routed.ending, routed.in_step_order) == (Ending.REFUSED, ())


async def test_a_document_of_leaves_alone_is_routed() -> None:
    tree = RetrievalTree(builder="flat", nodes=park().nodes[:5])
    assert (await walk("coaster", derive(tree, [0]), LocalRouter(BagOfWords()))).steps == ((1, 2, 3),)


async def test_a_passage_beyond_the_window_is_compared_as_far_as_it_is_read(encoder: Encoder) -> None:
    leaf = RetrievalNode(text="The coaster is tall. " * 200, spans=(Span(start=0, end=9),))
    tree = RetrievalTree(builder="long", nodes=(leaf,))
    assert (await walk("The coaster is tall.", derive(tree, [0]), LocalRouter(encoder))).in_step_order == (0,)


async def test_the_packaged_encoder_finds_the_record_that_the_question_asks_for(encoder: Encoder, parks: RetrievalTree):
    subtree = derive(parks, nodes(parks, 19))
    router = LocalRouter(encoder)
    routed = await walk(QUESTION, subtree, router, expand_iter=12)
    assert 44 in ids(parks, routed.in_step_order)
    assert await walk(QUESTION, subtree, router, expand_iter=12) == routed
