"""Invariants of the shared types hold on construction, whatever the input."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from discorag.schema.discourse import (
    BY_CODE,
    EDGE_RELATIONS,
    PAPER_RELATIONS,
    ChunkRelation,
    Edge,
    Nuclearity,
    Relation,
    RhetoricalGraph,
    RstTree,
    Split,
)
from discorag.schema.document import Chunk
from discorag.schema.errors import InvariantError, ModelUnavailableError, Usage
from discorag.schema.ledger import Failure, Ledger, StageRecord
from discorag.schema.values import Span, fingerprint, stable_id
from tests.strategies import trees

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


def test_the_inventories_are_the_papers() -> None:
    assert (len(PAPER_RELATIONS), len(Relation), len(ChunkRelation), len(EDGE_RELATIONS)) == (24, 25, 21, 20)
    assert len(BY_CODE) == len(Relation)


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


def _weight_above(tree: RstTree, edu: int) -> float:
    start, end, weight = 0, len(tree.edus), 0.0
    while end - start > 1:
        s = tree.split_at(start, end)
        left = edu < s.mid
        if s.nuclearity == (Nuclearity.SN if left else Nuclearity.NS):
            weight += 1.0 if s.confidence is None else s.confidence
        start, end = (start, s.mid) if left else (s.mid, end)
    return weight


@given(trees(), st.sampled_from([0.5, None]))
def test_a_satellite_link_weighs_as_much_as_it_is_sure_and_some_edu_has_none(
    tree: RstTree, confidence: float | None
) -> None:
    splits = tuple(s.model_copy(update={"confidence": confidence}) for s in tree.splits)
    tree = RstTree(edus=tree.edus, splits=splits)
    assert list(tree.satellite_weight) == [_weight_above(tree, i) for i in range(len(tree.edus))]
    assert min(tree.satellite_weight) == 0


@given(trees(), st.data())
def test_no_tree_lacks_a_split(tree: RstTree, data: st.DataObject) -> None:
    assume(tree.splits)
    gone = data.draw(st.integers(0, len(tree.splits) - 1))
    with pytest.raises(ValidationError, match="whole"):
        RstTree(edus=tree.edus, splits=tree.splits[:gone] + tree.splits[gone + 1 :])


@given(trees(), st.data())
def test_overlapping_edus_are_refused(tree: RstTree, data: st.DataObject) -> None:
    assume(len(tree.edus) > 1)
    i = data.draw(st.integers(0, len(tree.edus) - 2))
    longer = Span(start=tree.edus[i].start, end=tree.edus[i + 1].start + 1)
    with pytest.raises(ValidationError, match="overlaps"):
        RstTree(edus=(*tree.edus[:i], longer, *tree.edus[i + 1 :]), splits=tree.splits)


@pytest.mark.parametrize("nuclearity", [Nuclearity.NS, Nuclearity.SN])
def test_joint_has_two_nuclei(nuclearity: Nuclearity) -> None:
    with pytest.raises(ValidationError, match="JOINT"):
        Split(start=0, mid=1, end=2, relation=Relation.JOINT, nuclearity=nuclearity)


def test_merging_keeps_every_failure_and_sums_per_stage_and_engine() -> None:
    failure = Failure.of("parse", ModelUnavailableError("down", hint="start it"), fallback="rules-1")
    records = [
        StageRecord(stage="parse", engine="llm", seconds=1, usage=Usage(tokens_in=5), failures=(failure,)),
        StageRecord(stage="parse", engine="llm", seconds=2, usage=Usage(tokens_in=7)),
        StageRecord(stage="parse", engine="local", seconds=4),
    ]
    ledger = Ledger.merged(records)
    assert [(s.engine, s.seconds, s.usage.tokens_in) for s in ledger.stages] == [("llm", 3, 12), ("local", 4, 0)]
    assert ledger.failures == (failure,)
    assert failure.kind == "ModelUnavailableError"
    assert "start it" in failure.message
