"""Relation-filtered retrieval: which questions ask for a relation, and which chunks are followed to."""

import pytest
from pydantic import ValidationError

from discorag.discourse.relate.follow import follow_relations, relation_filter
from discorag.schema.discourse import ChunkRelation, Edge, Nuclearity, Relation, RhetoricalGraph, RstTree, Split
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from nodes.context import AnswerContext


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What causes tides?", "cause"),
        ("Why did the pump fail?", "cause"),
        ("What were the effects of the flood?", "cause"),
        ("What is the evidence against later school starts?", "evidence against"),
        ("Which studies contradict each other?", "evidence against"),
        ("What is the evidence for it?", "evidence for"),
        ("Under what conditions does it help?", "condition"),
        ("哪些证据反对这个结论？", "evidence against"),
        ("Who had seven sons?", None),
        ("When was it built?", None),
    ],
)
def test_a_question_asks_for_a_relation_by_its_words(question: str, name: str | None) -> None:
    found = relation_filter(question)
    assert (found.name if found else None) == name


def _chunk(i: int, relation: Relation | None) -> Chunk:
    text = "Pumps failed because nobody looked."
    edus = (Span(start=0, end=12), Span(start=13, end=len(text)))
    splits = (Split(start=0, mid=1, end=2, relation=relation, nuclearity=Nuclearity.NS),) if relation else ()
    tree = RstTree(edus=edus, splits=splits) if splits else None
    whole = Span(start=0, end=len(text))
    return Chunk(id=str(i), doc_id="d", order=i, span=whole, text=text, sentences=(whole,), tree=tree)


def _followed(relations: dict[int, Relation], edges: list[tuple[int, int, ChunkRelation, str]], k: int) -> list[int]:
    chunks = [_chunk(i, relations.get(i)) for i in range(9)]
    made = tuple(Edge(source=str(a), target=str(b), relation=r, reason=why) for a, b, r, why in edges)
    causes = relation_filter("Why?")
    assert causes
    return follow_relations(chunks, RhetoricalGraph(chunks=tuple(c.id for c in chunks), edges=made), causes, k)


_ALL = dict.fromkeys(range(9), Relation.CAUSE)


def test_a_conflict_takes_the_last_place_before_what_is_only_stated() -> None:
    edges = [(5, 0, ChunkRelation.CAUSES, ""), (1, 7, ChunkRelation.RESULTS_FROM, "They disagree.")]
    assert _followed(_ALL, edges, 3) == [0, 1, 7]
    assert _followed(_ALL, edges, 6) == [0, 1, 2, 3, 4, 7]  # 5 is among the best six already


@pytest.mark.parametrize(
    ("relations", "edge"),
    [
        (_ALL, (5, 0, ChunkRelation.ELABORATES, "They disagree.")),  # another relation
        ({}, (5, 0, ChunkRelation.CAUSES, "They disagree.")),  # its own tree states none
        (_ALL, (5, 7, ChunkRelation.CAUSES, "They disagree.")),  # linked to none of the best
        (_ALL, (1, 0, ChunkRelation.CAUSES, "They disagree.")),  # among the best already
    ],
)
def test_without_a_wanted_link_the_search_stands(
    relations: dict[int, Relation], edge: tuple[int, int, ChunkRelation, str]
) -> None:
    assert _followed(relations, [edge], 3) == [0, 1, 2]


@pytest.mark.parametrize("switches", [{"retriever": "all"}, {"preset": "paper"}])
def test_following_needs_a_search(switches: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="follow"):
        AnswerContext.model_validate({"follow": True, **switches})
