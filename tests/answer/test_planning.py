from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.answer.planning import SATELLITE_SOURCE
from discorag.models.protocol import Encoder
from discorag.text.citations import references, steps, with_citation, without_references
from discorag.types.plan import Plan, Reference
from tests.cases import case_of, with_graph, with_plan

FLU = "Does vitamin D prevent flu?"


def test_steps_are_the_sentences_with_what_they_cite() -> None:
    plan = Plan(paragraph="Open with [2]. Set [1.3-4] against [10.1].")
    assert [s.references for s in steps(plan)] == [
        (Reference(chunk=2),),
        (Reference(chunk=1, first=3, last=4), Reference(chunk=10, first=1, last=1)),
    ]


@pytest.mark.parametrize("text", ["[0]", "[1.0]", "[1.4-2]", "[a]", "[12345]", "(3)", "[1.2.3]"])
def test_what_only_looks_like_a_reference_is_none(text: str) -> None:
    assert references(text) == ()


@given(st.text(max_size=60).filter(lambda t: "[" not in t and "]" not in t), st.integers(1, 99), st.integers(1, 99))
def test_a_citation_can_be_put_in_and_taken_out_again(sentence: str, chunk: int, unit: int) -> None:
    cited = with_citation(sentence, f"[{chunk}.{unit}]")
    assert references(cited) == (Reference(chunk=chunk, first=unit, last=unit),)
    assert "".join(without_references(cited, chunks=99).split()) == "".join(sentence.split())


async def test_a_contrast_stands_beside_the_point_that_it_contrasts_with(encoder: Encoder) -> None:
    case = await with_graph(await case_of("vitamin-d", FLU, encoder), encoder)
    case = await with_plan(case, encoder)
    assert case.plan is not None
    assert case.graph is not None
    at_odds = {frozenset({case.number(e.source), case.number(e.target)}) for e in case.graph.edges if e.disagrees}
    told = steps(case.plan)
    against = [i for i, s in enumerate(told) if s.text.startswith("Set against it")]
    assert against
    for i in against:
        point = next(s for s in reversed(told[:i]) if not s.text.startswith("Set against it"))
        assert frozenset({point.references[0].chunk, told[i].references[0].chunk}) in at_odds


async def test_background_comes_first(encoder: Encoder) -> None:
    case = await with_graph(await case_of("tides", "Why are some tides higher than others?", encoder), encoder)
    case = await with_plan(case, encoder)
    assert case.plan is not None
    told = ["background" in s.text for s in steps(case.plan)]
    assert any(told)
    assert told == sorted(told, reverse=True)


async def test_without_a_graph_the_plan_keeps_the_order_of_retrieval(encoder: Encoder) -> None:
    case = await with_plan(await case_of("vitamin-d", FLU, encoder), encoder)
    assert case.plan is not None
    cited = [(r.chunk, r.first or 0) for s in steps(case.plan) for r in s.references]
    assert len(cited) > 2
    assert cited == sorted(cited)


async def test_passages_without_a_statement_give_a_plan_that_says_so(encoder: Encoder) -> None:
    from tests.cases import case_from

    case = await with_plan(await case_from({"a": "Is it? Who knows?"}, "what", encoder), encoder)
    assert case.plan is not None
    assert [s.references for s in steps(case.plan)] == [()]


async def test_a_claim_gets_its_counter_claim_also_when_the_graph_names_no_spans(encoder: Encoder) -> None:
    case = await with_graph(await case_of("vitamin-d", FLU, encoder), encoder)
    assert case.graph is not None
    bare = tuple(e.model_copy(update={"source_span": None, "target_span": None}) for e in case.graph.edges)
    case = await with_plan(replace(case, graph=case.graph.model_copy(update={"edges": bare})), encoder)
    assert case.plan is not None
    assert "Set against it" in case.plan.paragraph


async def test_behind_the_main_point_what_supports_another_comes_after_it(encoder: Encoder) -> None:
    for corpus, query in (("tides", "Why are some tides higher than others?"), ("bees", "How do bees dance?")):
        case = await with_plan(await with_graph(await case_of(corpus, query, encoder), encoder), encoder)
        assert case.plan is not None
        assert case.graph is not None
        added = [r.chunk for s in steps(case.plan) if s.text.startswith("Add") for r in s.references]
        satellites = {
            (case.number(e.source), case.number(e.target)) for e in case.graph.edges if e.relation in SATELLITE_SOURCE
        }
        assert len(added) > 2
        for i, earlier in enumerate(added):
            for later in set(added[i + 1 :]) - {earlier}:
                assert (earlier, later) not in satellites or (later, earlier) in satellites
