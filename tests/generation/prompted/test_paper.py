"""The paper's pipeline and its baselines, as printed."""

from collections.abc import Callable
from contextlib import suppress
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.generation.prompted.pairs import RELATIONS, Labels, pair_labels
from discorag.generation.prompted.paper import (
    answer_of,
    graph_lines,
    graph_of,
    hint_of,
    plan_of,
    planned_of,
)
from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import EDGE_RELATIONS, ChunkRelation, Edge, Plan, RhetoricalGraph
from tests.strategies import chunk_over


def _case(k: int) -> AnswerInputs:
    return AnswerInputs(query="q", chunks=tuple(chunk_over("x", id=f"c{i}") for i in range(k)))


@st.composite
def _graphs(draw: st.DrawFn) -> RhetoricalGraph:
    ids = [f"c{i}" for i in range(draw(st.integers(1, 5)))]
    relations = st.sampled_from([None, *EDGE_RELATIONS])
    drawn = [(a, b, draw(relations)) for a in ids for b in ids if a != b]
    edges = tuple(Edge(source=a, target=b, relation=r) for a, b, r in drawn if r)
    return RhetoricalGraph(chunks=tuple(ids), edges=edges)


def _lines(graph: RhetoricalGraph) -> list[str]:
    """A line for every ordered pair, as fig. 11 asks for them."""
    labels = {(e.source, e.target): e.relation for e in graph.edges}
    pairs = permutations(enumerate(graph.chunks, start=1), 2)
    return [f"CHUNK[{i}] -> CHUNK[{j}]: {labels.get((a, b), ChunkRelation.UNRELATED)}" for (i, a), (j, b) in pairs]


def _read(k: int, text: str) -> Labels:
    return pair_labels(text, k, names=RELATIONS, other=ChunkRelation.UNRELATED)


@given(_graphs(), st.randoms())
def test_lines_in_any_order_give_the_graph_back(graph: RhetoricalGraph, random: Random) -> None:
    inputs = _case(len(graph.chunks))
    lines = _lines(graph)
    random.shuffle(lines)
    found = graph_of(inputs, _read(len(graph.chunks), "\n".join(lines)))
    assert (found.chunks, set(found.edges)) == (graph.chunks, set(graph.edges))


def test_related_pairs_have_a_line_and_one_sentence_covers_the_others() -> None:
    supports = Edge(source="c1", target="c0", relation=ChunkRelation.SUPPORTS)
    chunks = ("c0", "c1", "c2")
    assert graph_lines(_case(3).chunks, RhetoricalGraph(chunks=chunks, edges=(supports,))) == (
        "CHUNK[2] -> CHUNK[1]: SUPPORTS\nAll other ordered pairs are UNRELATED."
    )
    assert graph_lines(_case(3).chunks, RhetoricalGraph(chunks=chunks)) == "All ordered pairs are UNRELATED."


_THREE = [f"CHUNK[{i}] -> CHUNK[{j}]: UNRELATED" for i, j in permutations(range(1, 4), 2)]


@pytest.mark.parametrize(
    "instead",
    [
        "",
        "CHUNK[1] -> CHUNK[2]: ANNOYS",
        "CHUNK[1] <- CHUNK[2]: SUPPORTS",
        "CHUNK[1] -> CHUNK[2]: SUPPORTS or CAUSES",
        "CHUNK[1] -> CHUNK[2]: SUPPORTS, CAUSES",
        "CHUNK[1] -> CHUNK[2]:",
        "CHUNK[1] -> CHUNK[4]: SUPPORTS\nCHUNK[1] -> CHUNK[1]: SUPPORTS",
        f"CHUNK[{'1' * 5000}] -> CHUNK[2]: SUPPORTS",
        "Here is the graph:",
    ],
)
def test_a_pair_without_a_line_that_can_be_read_is_missing_and_the_others_are_not(instead: str) -> None:
    labels = _read(3, "\n".join([instead, *_THREE[1:]]))
    assert (1, 2) not in labels
    assert len(labels) == 5
    assert graph_of(_case(3), labels).edges == ()


@pytest.mark.parametrize("text", ["", "The chunks support each other.", "CHUNK[1] -> CHUNK[2]: ANNOYS"])
def test_a_reply_without_a_label_of_any_pair_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match=r"No pair has a label\. Write a line .* for each of 6 ordered pairs"):
        _read(3, text)


def test_of_two_lines_for_a_pair_the_last_counts_and_a_double_arrow_labels_both_directions() -> None:
    assert _read(3, "CHUNK[1] -> CHUNK[2]: CAUSES\nCHUNK[1] -> CHUNK[2]: SUPPORTS") == {(1, 2): "SUPPORTS"}
    assert _read(3, "CHUNK[1] <-> CHUNK[2]: CONTRADICTS") == {(1, 2): "CONTRADICTS", (2, 1): "CONTRADICTS"}


def test_a_closing_sentence_covers_all_pairs_without_a_line() -> None:
    labels = _read(3, "CHUNK[1] -> CHUNK[2]: SUPPORTS\nAll other ordered pairs are UNRELATED.")
    assert len(labels) == 6
    assert [pair for pair, label in labels.items() if label != ChunkRelation.UNRELATED] == [(1, 2)]
    assert set(_read(3, "All ordered pairs are UNRELATED.").values()) == {ChunkRelation.UNRELATED}


@given(_graphs(), st.integers(0, 99), st.integers(0, 99), st.text(alphabet="CHUNK[12]->: {}SUPORTS\n", max_size=30))
def test_a_damaged_reply_is_a_graph_or_a_value_error(graph: RhetoricalGraph, at: int, length: int, junk: str) -> None:
    inputs = _case(len(graph.chunks))
    lines = "\n".join(_lines(graph))
    with suppress(ValueError):
        found = graph_of(inputs, _read(len(graph.chunks), lines[:at] + junk + lines[at + length :]))
        assert found.chunks == graph.chunks


@pytest.mark.parametrize(
    "text",
    [
        "PLAN: First this.\nANSWER: Yes.\n\nTwo.",
        "PLAN First this.\nANSWER Yes.\n\nTwo.",
        "\nPLAN:\nFirst this.\n\n  ANSWER:\nYes.\n\nTwo.\n",
    ],
)
def test_plan_and_answer_are_split(text: str) -> None:
    assert planned_of(text) == (Plan(paragraph="First this."), "Yes.\n\nTwo.")


@pytest.mark.parametrize(
    ("lines", "queries"),
    [
        ("\n- one\n- two", ("one", "two")),
        (" one\n* two\n\n• three", ("one", "two", "three")),
        ("\n1. one\n2) two", ("one", "two")),
        ('\n- "one"\n- “two”', ("one", "two")),
        ("\n- one\n- one", ("one",)),
        (' ["one", "two"]', ("one", "two")),
        (" one; two；three", ("one", "two", "three")),
        ("\n2.5 mg of vitamin D\n- 1. FC Köln", ("2.5 mg of vitamin D", "1. FC Köln")),
    ],
)
def test_every_line_of_a_hint_is_a_query_without_its_bullet(lines: str, queries: tuple[str, ...]) -> None:
    assert hint_of(f"PLAN: First this.\nRETRIEVAL HINT:{lines}") == (Plan(paragraph="First this."), queries)


@pytest.mark.parametrize(
    ("read", "texts", "message"),
    [
        (answer_of, ["", "ANSWER:", "ANSWER: ...", "ANSWER: \n **", "ANSWER: None.", "回答：无"], "says nothing"),
        (plan_of, ["PLAN: None", "PLAN: <n/a>"], "says nothing"),
        (planned_of, ["PLAN:\nANSWER: y", "PLAN: x\nANSWER: ..."], "says nothing"),
        (planned_of, ["", "Yes.", "PLAN: x", "ANSWER: y", "PLAN: x ANSWER: y"], "PLAN and a paragraph, .* ANSWER"),
        (
            hint_of,
            ["", "PLAN: x", "RETRIEVAL HINT: a", "PLAN: x\nRETRIEVAL HINT:\n - \n", "a\nb"],
            "one query per line",
        ),
    ],
)
def test_an_empty_or_missing_part_is_refused(read: Callable[[str], object], texts: list[str], message: str) -> None:
    for text in texts:
        with pytest.raises(ValueError, match=message):
            read(text)
