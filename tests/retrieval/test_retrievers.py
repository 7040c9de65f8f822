"""Every retriever from scored trees to evidence: within its budget, nothing twice, in the order of the text."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.models.tokens import PackagedTokens
from discorag.retrieval.builders.base import inner
from discorag.retrieval.forest import Forest, Scores, in_tokens
from discorag.retrieval.registry import SelectedNodes, TreeQuery, tree_retrievers
from discorag.retrieval.routers.walk import Decision, RetrievalSubtree
from discorag.retrieval.search import evidence_of
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import Span, count_words
from tests.retrieval.builders.checks import joined, source_of
from tests.retrieval.builders.every import every_builder

RETRIEVERS = tree_retrievers()
NAMES = sorted(RETRIEVERS)
ROUTED = "rdr2"
QUESTION = "Why does iron rust?"
_IRON = "# Metals\n\nIron rusts. However, gold does not. It is noble, which is why rings are made of it.\n\n"
DOCUMENTS = (
    _IRON + "## Rings\n\nA ring lasts. A ring of iron would rust, for example in a wet cellar by the sea. It is so.",
    "# Rain\n\nRain is wet. Because it is wet, iron rusts outside. Paint helps.\n\nSalt does not.\n\n# End\n\nDry it.",
    "One long line that says of iron, of gold, of rings and of rain what all others say, and says it again. Short.",
)


class MostWords:
    """A reranker that prefers long texts."""

    version = "most-words"

    async def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        return tuple(map(float, map(count_words, texts)))


@cache
def forest_of(builder: str, documents: int) -> Forest:
    made = every_builder(window=8)[builder]
    built = [asyncio.run(made.build(source_of(text))).tree for text in DOCUMENTS[:documents]]
    return joined({f"d{i}": tree for i, tree in enumerate(built)})


@dataclass(frozen=True)
class Case:
    """A retriever and what it is asked."""

    name: str
    asked: TreeQuery

    def within(self, words: int) -> SelectedNodes:
        return asyncio.run(RETRIEVERS[self.name].choose(replace(self.asked, words=words)))  # type: ignore[arg-type]


@st.composite
def cases(draw: st.DrawFn, name: str) -> Case:
    """Few different scores, so that ties are common."""
    forest = forest_of(RETRIEVERS[name].builder, draw(st.integers(1, len(DOCUMENTS))))
    count = len(forest.tree.words)
    nodes = draw(st.lists(st.sampled_from([0, 0.25, 0.5, 1]), min_size=count, max_size=count))
    scores = Scores(forest, np.array(nodes, np.float32), forest.tree.words)
    return Case(name, TreeQuery(QUESTION, scores, 1, MostWords(), Curious()))


budgets = st.integers(1, 120)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data(), words=budgets)
def test_evidence_keeps_the_budget_or_is_one_node_and_reads_in_the_order_of_the_text(
    name: str, data: st.DataObject, words: int
) -> None:
    case = data.draw(cases(name))
    nodes = case.within(words).nodes
    assert nodes
    evidence = evidence_of(case.asked.scores, nodes, words)
    said = [DOCUMENTS[int(d[1:])][s.start : s.end] for d, spans in evidence.items() for s in spans]
    assert len(said) == 1 or sum(map(count_words, said)) <= words
    assert all(a.end <= b.start for spans in evidence.values() for a, b in pairwise(spans))


def leaf(text: str, start: int) -> RetrievalNode:
    return RetrievalNode(text=text, spans=(Span(start=start, end=start + len(text)),))


def under_one_heading(*texts: str) -> Forest:
    """Leaves one after another, under one inner node."""
    starts = np.cumsum([0, *(len(text) + 1 for text in texts)]).tolist()
    leaves = [leaf(text, start) for text, start in zip(texts, starts, strict=False)]
    tree = RetrievalTree(builder="made", nodes=(*leaves, inner(leaves, range(len(leaves)), "All of it in five words")))
    return joined({"d": tree})


async def chosen(name: str, forest: Forest, nodes: Sequence[float], words: int, **parts: object) -> SelectedNodes:
    scores = Scores(forest, np.array(nodes, np.float32), forest.tree.words)
    asked = TreeQuery(QUESTION, scores, words, MostWords())
    return await RETRIEVERS[name].choose(replace(asked, **parts))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "parts", "nodes"),
    [
        (10_000, {}, [19, 18, 17, 16, 15, 14, 13, 12, 11, 10]),
        (39, {}, [19, 18]),
        (10_000, {"pool": 12, "k": 3}, [11, 10, 9]),
        (10_000, {"pool": 1, "k": 3}, [2, 1, 0]),
    ],
)
async def test_htsir_gives_the_k_that_the_reranker_puts_first_of_a_pool(
    words: int, parts: dict[str, int], nodes: list[int]
) -> None:
    forest = under_one_heading(*("word " * (i + 1) for i in range(20)))  # the shorter, the nearer
    nearness = [*(1 - i / 20 for i in range(20)), 0.0]
    assert list((await chosen("htsir", forest, nearness, words, **parts)).nodes) == nodes


async def test_a_budget_in_tokens_counts_the_tokens_of_the_nodes_own_texts() -> None:
    forest = under_one_heading("Internationally acclaimed.", "Iron rusts.", "Gold does not.")
    scores = in_tokens(Scores(forest, np.array([0.9, 0.8, 0.7, 0.1], np.float32), forest.tree.words), PackagedTokens())
    assert scores.sizes.tolist() == [3, 4, 4, 6]
    asked = TreeQuery(QUESTION, scores, 7, MostWords())
    assert list((await RETRIEVERS["raptor"].choose(asked)).nodes) == [0, 1]


async def test_a_summary_that_was_chosen_stands_for_its_best_leaves_as_many_as_are_no_longer() -> None:
    forest = under_one_heading("Iron rusts.", "Gold does not.", "Rings last.", "So they say of it.")
    scores = Scores(forest, np.array([0.1, 0.2, 0.5, 0.4, 0.9], np.float32), forest.tree.words)
    assert count_words(forest.node(4).text) == 6
    # By cosine: leaf 2 (two words), then leaf 3 (five), which would make seven.
    assert evidence_of(scores, [4], 100) == {"d": [forest.place(2)[1]]}


class Refusing:
    """A router that selects nothing."""

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        return Decision()


class Curious:
    """A router that takes all it can."""

    def __init__(self) -> None:
        self.questions = 0

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        self.questions += 1
        return Decision(subtree.passages, subtree.collapsed)


async def test_where_the_router_refuses_every_document_that_is_the_outcome_and_no_failure() -> None:
    forest = under_one_heading("Iron rusts.", "Gold does not.", "Rings last.")
    made = await chosen(ROUTED, forest, [0.1, 0.9, 0.5, 0], 5, router=Refusing())
    assert (made.refused, list(made.nodes), made.failures) == (True, [1, 2], ())


async def test_routing_starts_from_the_five_best_passages_of_all_documents_or_from_k() -> None:
    tree = under_one_heading(*(f"Fact {i}." for i in range(12))).of(0)
    forest = joined({"a": tree, "b": tree, "c": tree})
    scores = np.zeros(len(forest.tree.words))
    scores[[0, 1, 2, 30]] = 1.0
    scores[[12, 13, 14]] = [0.9, 0.5, 0.4]
    router = Curious()
    made = await chosen(ROUTED, forest, scores.tolist(), 10_000, router=router)
    assert {forest.place(node)[0] for node in made.nodes} == {"a", "b", "c"}
    made = await chosen(ROUTED, forest, scores.tolist(), 10_000, router=router, k=4)
    assert {forest.place(node)[0] for node in made.nodes} == {"a", "c"}
    assert router.questions == 3 + 2
