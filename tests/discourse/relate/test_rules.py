import json
from dataclasses import replace
from typing import Any

import pytest

from discorag.models.protocol import Encoder
from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import ChunkRelation
from discorag.schema.values import Span
from tests.conftest import EXAMPLES
from tests.inputs import inputs_from, load_inputs, with_graph

GOLD: dict[str, list[dict[str, Any]]] = json.loads(
    (EXAMPLES.parent / "tests" / "data" / "disagreements.json").read_text(encoding="utf-8")
)
FLU = "Does vitamin D prevent flu?"
SCHOOL = "Do later school start times improve sleep, attendance and grades?"


def disagreements(inputs: AnswerInputs) -> set[frozenset[str]]:
    """The two sentences of every edge at odds."""
    chunks = {c.id: c for c in inputs.chunks}
    assert inputs.graph is not None
    found: set[frozenset[str]] = set()
    for e in inputs.graph.edges:
        if e.disagrees:
            assert e.source_span is not None
            assert e.target_span is not None
            found.add(frozenset({chunks[e.source].slice(e.source_span), chunks[e.target].slice(e.target_span)}))
    return found


# Of school-start one pair is debatable: a leader's "every subject" against "their overall average did not improve".
@pytest.mark.parametrize(
    ("corpus", "query", "least", "debatable"), [("vitamin-d", FLU, 4, 0), ("school-start", SCHOOL, 2, 1)]
)
async def test_sources_that_disagree_are_found_and_what_is_found_is_what_a_reader_would_report(
    corpus: str, query: str, least: int, debatable: int, encoder: Encoder
) -> None:
    inputs = await with_graph(await load_inputs(corpus, query, encoder, k=40), encoder)
    gold = {frozenset({p["a"]["text"], p["b"]["text"]}) for p in GOLD[corpus]}
    found = disagreements(inputs)
    assert len(found & gold) >= least
    assert len(found - gold) <= debatable


@pytest.mark.parametrize(
    ("corpus", "query"),
    [
        ("tides", "Why are some tides higher than others?"),
        ("bees", "How do honey bees tell each other where food is?"),
        ("library-handbook", "When may a fine be waived?"),
    ],
)
async def test_concordant_sources_give_no_disagreement(corpus: str, query: str, encoder: Encoder) -> None:
    assert disagreements(await with_graph(await load_inputs(corpus, query, encoder, k=60), encoder)) == set()


@pytest.mark.parametrize(
    ("a", "b", "relation"),
    [
        (
            "Coffee reduces the risk of heart disease.",
            "Coffee has no effect on the risk of heart disease.",
            ChunkRelation.CONTRADICTS,
        ),
        (
            "The new feed increased milk yield on the farms.",
            "The new feed decreased milk yield on the farms.",
            ChunkRelation.CONTRADICTS,
        ),
        (
            "Coffee reduces the risk of heart disease among adults who smoke.",
            "Coffee had no overall effect on the risk of heart disease.",
            ChunkRelation.CONTRASTS_WITH,
        ),
        ("Coffee reduces the risk of heart disease.", "Coffee reduced the risk of heart disease by 9 %.", None),
        ("Coffee reduces the risk of heart disease.", "Tea has no effect on sleep.", None),
        ("Coffee may reduce the risk of heart disease.", "Coffee has no effect on the risk of heart disease.", None),
    ],
    ids=["null effect", "opposite direction", "other conditions", "same direction", "other matter", "possibility"],
)
async def test_claims_about_one_outcome_are_at_odds_only_if_they_differ(
    a: str, b: str, relation: ChunkRelation | None, encoder: Encoder
) -> None:
    inputs = await with_graph(await inputs_from({"a": a, "b": b}, "coffee", encoder), encoder)
    assert inputs.graph is not None
    assert [e.relation for e in inputs.graph.edges if e.disagrees] == ([relation] if relation else [])


async def test_two_chunks_of_one_document_are_never_reported_as_sources_at_odds(encoder: Encoder) -> None:
    text = "Coffee reduces the risk of heart disease. " + "Beans are roasted. " * 120
    text += "Coffee has no effect on the risk of heart disease."
    inputs = await with_graph(await inputs_from({"a": text}, "coffee", encoder), encoder)
    assert len(inputs.chunks) > 1
    assert disagreements(inputs) == set()


async def test_neighbours_in_a_document_are_related_by_how_the_later_one_opens(encoder: Encoder) -> None:
    inputs = await inputs_from({"a": "Beans are roasted. " * 120}, "coffee", encoder)
    assert len(inputs.chunks) > 1
    for opening, relation in (
        ("For example, light roasts are ready early.", ChunkRelation.EXEMPLIFIES),
        ("As a result, prices rose.", ChunkRelation.RESULTS_FROM),
        ("Then the beans are sold.", ChunkRelation.FOLLOWS),
        ("Beans keep for weeks.", ChunkRelation.ELABORATES),
    ):
        first, then = inputs.chunks[:2]
        span = Span(start=then.span.start, end=then.span.start + len(opening))
        other = then.model_copy(update={"text": opening, "span": span, "sentences": (span,), "tree": None})
        related = await with_graph(replace(inputs, chunks=(first, other)), encoder)
        assert related.graph is not None
        assert [(e.source, e.relation) for e in related.graph.edges] == [(other.id, relation)]


async def test_a_definition_is_background_for_what_speaks_of_the_thing(encoder: Encoder) -> None:
    texts = {
        "a": "Neap tides have a small range, and neap tides come a week after spring tides.",
        "b": "A neap tide is a tide with a small range between high and low water.",
    }
    inputs = await with_graph(await inputs_from(texts, "neap tides", encoder), encoder)
    assert inputs.graph is not None
    assert [(e.relation, inputs.number(e.source)) for e in inputs.graph.edges] == [(ChunkRelation.BACKGROUND_FOR, 2)]
