"""The local router selects and unfolds by similarity, and its thresholds can be fitted."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest

from discorag.models.protocol import Encoder
from discorag.models.tokens import PackagedTokens
from discorag.retrieval.builder import inner
from discorag.retrieval.routers.local import Example, LocalRouter, Thresholds, fit
from discorag.retrieval.routers.subtree import derive
from discorag.retrieval.routers.walk import Ending, Routed, route
from discorag.schema.errors import ConfigError
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.span import Span
from discorag.schema.vectors import Vectors
from discorag.text.tokens import TokenCounter
from tests.retrieval.routers.parks import QUESTION, ids, nodes

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


async def walked(question: str, start: int, thresholds: Thresholds, encoder: Encoder | None = None) -> Routed:
    router = LocalRouter(encoder or BagOfWords(), thresholds)
    return (await route(question, [derive(park(), [start])], router)).documents[0]


async def test_passages_from_the_threshold_on_are_selected():
    routed = await walked("coaster", 1, Thresholds(answer=0.8, expand=2))
    assert routed.steps == ((2,),)
    assert (await walked("coaster", 1, Thresholds(answer=0.7, expand=2))).steps == ((1, 2),)
    assert (await walked("coaster", 1, Thresholds(answer=1, expand=2))).steps == ((2,),)


async def test_the_nearest_collapsed_heading_is_unfolded_if_it_is_near_enough():
    routed = await walked("records coaster", 1, Thresholds(answer=0.4, expand=0.7, sibling=0))
    assert routed.steps == ((1, 2), (3,))
    assert (await walked("records coaster", 1, Thresholds(answer=0.4, expand=0.8, sibling=0))).steps == ((1, 2),)


async def test_a_heading_beside_a_section_that_answers_is_nearer_than_one_elsewhere():
    beside = Thresholds(answer=0.9, expand=0.05, sibling=0.1)
    assert (await walked("coaster", 1, beside)).steps[:2] == ((2,), ())
    assert (await walked("gate", 0, beside)).steps == ((0,),)


async def test_a_document_with_nothing_near_is_refused():
    routed = await walked("weather", 0, Thresholds(answer=0.1, expand=0.1))
    assert (routed.ending, routed.in_step_order) == (Ending.REFUSED, ())


async def test_a_document_of_leaves_alone_is_routed():
    tree = RetrievalTree(builder="flat", nodes=park().nodes[:5])
    router = LocalRouter(BagOfWords(), Thresholds(answer=0.9))
    assert (await route("coaster", [derive(tree, [0])], router)).documents[0].steps == ((2,),)


async def test_a_passage_beyond_the_window_is_compared_as_far_as_it_is_read(encoder: Encoder):
    leaf = RetrievalNode(text="The coaster is tall. " + "gate " * 400, spans=(Span(start=0, end=9),))
    tree = RetrievalTree(builder="long", nodes=(leaf,))
    routed = (await route("coaster", [derive(tree, [0])], LocalRouter(encoder, Thresholds(answer=-1)))).documents[0]
    assert routed.in_step_order == (0,)


async def test_the_packaged_encoder_finds_the_record_that_the_question_asks_for(encoder: Encoder, parks: RetrievalTree):
    subtree = derive(parks, nodes(parks, 19))
    router = LocalRouter(encoder)
    [routed] = (await route(QUESTION, [subtree], router, expand_iter=12)).documents
    assert 44 in ids(parks, routed.in_step_order)
    assert (await route(QUESTION, [subtree], router, expand_iter=12)).documents == (routed,)


def example(question: str, start: int, *gold: int) -> Example:
    return Example(question, derive(park(), [start]), frozenset(gold))


_GRID = [Thresholds(a, e, 0) for a in (0.1, 0.6, 0.9) for e in (0.1, 0.6, 0.9)]


async def test_fitted_thresholds_select_the_gold_passages_of_the_development_questions():
    examples = [example("records coaster", 1, 1, 2, 3), example("weather", 0), example("food gate", 0, 0, 4)]
    best = await fit(BagOfWords(), examples, grid=_GRID)
    assert best == Thresholds(0.1, 0.1, 0)
    not_food = [example("titan coaster food", 1, 1, 2)]
    assert await fit(BagOfWords(), not_food, grid=_GRID) == Thresholds(0.1, 0.6, 0)


async def test_a_selection_where_there_is_no_gold_counts_as_an_error():
    assert (await fit(BagOfWords(), [example("titan", 1)], grid=_GRID)).answer == 0.9


async def test_equals_go_to_the_first_of_the_grid_and_each_example_is_encoded_once():
    encoder = BagOfWords()
    assert await fit(encoder, [example("weather", 0)] * 3, grid=_GRID) == _GRID[0]
    assert encoder.questions == 3


@pytest.mark.parametrize(("examples", "grid"), [([], _GRID), ([example("coaster", 1)], [])])
async def test_nothing_to_fit_on_is_refused(examples: list[Example], grid: list[Thresholds]):
    with pytest.raises(ConfigError, match="cannot be fitted"):
        await fit(BagOfWords(), examples, grid=grid)
