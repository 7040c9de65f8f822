"""Invariants of the core types hold on construction, whatever the input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from discorag.schema.chunk import Chunk
from discorag.schema.chunk_relations import EDGE_RELATIONS, ChunkRelation
from discorag.schema.errors import InvariantError
from discorag.schema.graph import Edge, RhetoricalGraph
from discorag.schema.hierarchy import Hierarchy, Kind, Node
from discorag.schema.ids import fingerprint, stable_id
from discorag.schema.rst_relations import BY_CODE, PAPER_RELATIONS, Relation
from discorag.schema.span import Span


@given(st.integers(), st.integers())
def test_a_span_is_never_empty_nor_negative(start: int, end: int) -> None:
    if 0 <= start < end:
        assert Span(start=start, end=end).end - start > 0
    else:
        with pytest.raises(ValidationError):
            Span(start=start, end=end)


@given(st.text(min_size=1), st.data())
def test_a_span_covers_exactly_its_characters(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    assert Span(start=start, end=end).of(text) == text[start:end]


spans = st.tuples(st.integers(0, 20), st.integers(1, 10)).map(lambda p: Span(start=p[0], end=p[0] + p[1]))


@given(spans, spans)
def test_containing_agrees_with_the_characters(a: Span, b: Span) -> None:
    left, right = set(range(a.start, a.end)), set(range(b.start, b.end))
    assert a.contains(b) == (right <= left)


IDS = ["a", "b", "c", "d"]
edges = st.builds(
    Edge, source=st.sampled_from(IDS), target=st.sampled_from(IDS), relation=st.sampled_from(ChunkRelation)
)


@given(st.lists(edges, max_size=8))
def test_a_graph_has_at_most_one_real_edge_for_each_ordered_pair_of_its_chunks(drawn: list[Edge]) -> None:
    pairs = [(e.source, e.target) for e in drawn]
    sound = (
        len(set(pairs)) == len(pairs)
        and all(a != b and "d" not in (a, b) for a, b in pairs)
        and all(e.relation is not ChunkRelation.UNRELATED for e in drawn)
    )
    if sound:
        graph = RhetoricalGraph(chunks=("a", "b", "c"), edges=tuple(drawn))
        assert RhetoricalGraph.model_validate_json(graph.model_dump_json()) == graph
    else:
        with pytest.raises(ValidationError):
            RhetoricalGraph(chunks=("a", "b", "c"), edges=tuple(drawn))


def test_a_chunk_appears_once_in_a_graph() -> None:
    with pytest.raises(ValidationError, match="twice"):
        RhetoricalGraph(chunks=("a", "a"))


def test_the_inventories_are_the_papers() -> None:
    assert (len(PAPER_RELATIONS), len(Relation), len(ChunkRelation), len(EDGE_RELATIONS)) == (24, 25, 21, 20)
    assert len(BY_CODE) == len(Relation)


def node(start: int, end: int, depth: int, parent: int | None, kind: Kind = Kind.PARAGRAPH) -> Node:
    return Node(kind=kind, span=Span(start=start, end=end), depth=depth, parent=parent)


ROOT = node(0, 20, 0, None, Kind.DOCUMENT)


@pytest.mark.parametrize(
    "nodes",
    [
        (),
        (node(0, 5, 1, 0),),
        (ROOT, node(15, 25, 1, 0)),
        (ROOT, node(0, 5, 2, 0)),
        (ROOT, node(0, 5, 1, 1)),
        (ROOT, node(0, 5, 1, None)),
        (ROOT, node(0, 8, 1, 0), node(5, 9, 1, 0)),
        (ROOT, node(8, 9, 1, 0), node(2, 5, 1, 0)),
    ],
    ids=["empty", "no root", "outside", "wrong depth", "own parent", "second root", "overlap", "out of order"],
)
def test_a_hierarchy_that_does_not_nest_is_refused(nodes: tuple[Node, ...]) -> None:
    with pytest.raises(ValidationError):
        Hierarchy(nodes=nodes)


def chunk(**changes: object) -> Chunk:
    text = "One. Two."
    fields: dict[str, object] = {
        "id": "c",
        "doc_id": "d",
        "order": 0,
        "span": Span(start=10, end=10 + len(text)),
        "text": text,
        "sentences": (Span(start=10, end=14), Span(start=15, end=19)),
    }
    return Chunk.model_validate(fields | changes)


def test_a_chunk_slices_by_document_offsets() -> None:
    assert [chunk().slice(s) for s in chunk().sentences] == ["One.", "Two."]
    with pytest.raises(InvariantError, match="not inside"):
        chunk().slice(Span(start=0, end=12))


@pytest.mark.parametrize(
    "changes",
    [
        {"span": Span(start=10, end=12)},
        {"sentences": ()},
        {"sentences": (Span(start=0, end=14),)},
        {"tree": {"edus": [{"start": 0, "end": 5}]}},
    ],
    ids=["length", "no sentence", "sentence outside", "tree outside"],
)
def test_a_chunk_whose_parts_do_not_fit_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        chunk(**changes)


parts = st.lists(st.one_of(st.text(), st.integers()), max_size=4)


@given(parts, parts)
def test_different_parts_give_different_ids(a: list[str | int], b: list[str | int]) -> None:
    assert (stable_id(*a) == stable_id(*b)) == (a == b)


@given(st.text(), st.dictionaries(st.text(), st.text()), st.dictionaries(st.text(), st.text()))
def test_a_fingerprint_changes_with_any_version_and_not_with_their_order(
    content: str, a: dict[str, str], b: dict[str, str]
) -> None:
    assert (fingerprint(content, a) == fingerprint(content, b)) == (a == b)
    assert fingerprint(content, a) == fingerprint(content, dict(reversed(a.items())))
