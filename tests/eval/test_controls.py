"""Controls over statements: each changes what it says and nothing else, and the writer reads the result."""

import json
from collections import Counter
from itertools import pairwise, permutations
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discorag.schema.statements import (
    Quotation,
    Statement,
    StatementGraph,
    StatementPlan,
    StatementRelation,
    StatementRelationKind,
    StatementRole,
    plan_in_order,
)
from discorag.schema.values import Span
from eval.controls.statements import borrow_plan, only_statements, permute_relations, remove_relations
from tests.conftest import Pipelines
from tests.eval.helpers import answer_toy, toy
from tests.graphs.scripts import ANSWER, at_odds, model, prompt_of, turn_of
from tests.servers.scripted import Body, ScriptedServer

SEEDS = st.integers(0, 50)


@st.composite
def graphs(draw: st.DrawFn, most: int = 7) -> StatementGraph:
    """Statements of any passages and roles, with any relations, each pair once."""
    n = draw(st.integers(0, most))
    places = draw(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 99)), min_size=n, max_size=n))
    statements = (
        Statement(
            number=number,
            says=f"Point {number}",
            role=draw(st.sampled_from(StatementRole)),
            quotations=(
                Quotation(passage=passage, chunk_id=f"c{passage}", text="words", spans=(Span(start=at, end=at + 5),)),
            ),
        )
        for number, (passage, at) in enumerate(places, start=1)
    )
    pairs = draw(st.lists(st.sampled_from([*permutations(range(1, n + 1), 2)]), unique=True)) if n > 1 else []
    relations = (
        StatementRelation(source=a, relation=draw(st.sampled_from(StatementRelationKind)), target=b) for a, b in pairs
    )
    return StatementGraph(statements=tuple(statements), relations=tuple(relations), missing="The year.")


@st.composite
def planned(draw: st.DrawFn) -> tuple[StatementGraph, StatementPlan]:
    """A graph with a plan that tells some of its statements, in any order and steps."""
    graph = draw(graphs())
    told = draw(st.lists(st.sampled_from([*graph.by_number]), unique=True)) if graph.statements else []
    cuts = sorted(draw(st.sets(st.integers(0, len(told)))) | {0, len(told)})
    steps = [told[a:b] for a, b in pairwise(cuts)]
    return graph, plan_in_order(graph, [step for step in steps if step])


def ends(graph: StatementGraph) -> set[tuple[int, str, int]]:
    return {(r.source, r.relation, r.target) for r in graph.relations}


def degrees(graph: StatementGraph) -> list[tuple[int, int]]:
    """How many relations leave and reach each statement, whichever statement it is."""
    out, into = (Counter(getattr(r, end) for r in graph.relations) for end in ("source", "target"))
    return sorted((out[n], into[n]) for n in graph.by_number)


@settings(max_examples=60)
@given(graph=graphs(), seed=SEEDS)
def test_permuted_relations_keep_number_labels_and_shape(graph: StatementGraph, seed: int) -> None:
    moved = permute_relations(graph, Random(seed), 1.0)
    assert moved.statements == graph.statements
    assert Counter(r.relation for r in moved.relations) == Counter(r.relation for r in graph.relations)
    assert degrees(moved) == degrees(graph)
    assert moved == permute_relations(graph, Random(seed), 1.0)


@settings(max_examples=60)
@given(graph=graphs(most=5), seed=SEEDS)
def test_permuted_relations_are_others_wherever_a_permutation_makes_them_so(graph: StatementGraph, seed: int) -> None:
    numbers, found = [*graph.by_number], set[frozenset[tuple[int, str, int]]]()
    for order in permutations(numbers):
        other = dict(zip(numbers, order, strict=True))
        found.add(frozenset((other[a], kind, other[b]) for a, kind, b in ends(graph)))
    assert (ends(permute_relations(graph, Random(seed), 1.0)) != ends(graph)) == (len(found) > 1)


@given(graph=graphs(), seed=SEEDS, rate=st.floats(0, 1))
def test_the_rate_says_how_many_relations_are_removed(graph: StatementGraph, seed: int, rate: float) -> None:
    left = remove_relations(graph, Random(seed), rate)
    assert ends(left) <= ends(graph)
    assert left.statements == graph.statements
    gone = len(graph.relations) - len(left.relations)
    assert gone == min(len(graph.relations), max(round(rate * len(graph.relations)), 1 if rate else 0))


@given(graph=graphs())
def test_only_statements_have_no_structure_and_stand_in_the_order_of_the_passages(graph: StatementGraph) -> None:
    alone = only_statements(graph, Random(0), 1.0)
    assert (alone.relations, {s.role for s in alone.statements} - {StatementRole.ANSWERS}) == ((), set())
    assert sorted(s.says for s in alone.statements) == sorted(s.says for s in graph.statements)
    places = [(q.passage, q.spans[0].start) for s in alone.statements for q in s.quotations]
    assert places == sorted(places)
    assert alone.missing == graph.missing


@given(own=planned(), other=planned())
def test_a_borrowed_plan_tells_the_same_statements_each_once(
    own: tuple[StatementGraph, StatementPlan], other: tuple[StatementGraph, StatementPlan]
) -> None:
    borrowed = borrow_plan(*own, *other)
    told = [n for step in borrowed.steps for n in step.statements]
    assert sorted(told) == sorted(own[1].numbers)
    assert borrow_plan(*own, *own).numbers == own[1].numbers


def test_a_borrowed_plan_has_the_order_and_the_steps_of_the_other() -> None:
    def graph(*passages: int) -> StatementGraph:
        return StatementGraph(
            statements=tuple(
                Statement(
                    number=n,
                    says=f"Point {n}",
                    quotations=(Quotation(passage=p, chunk_id="c", text="w", spans=(Span(start=0, end=1),)),),
                )
                for n, p in enumerate(passages, start=1)
            )
        )

    other, own = graph(1, 2, 3), graph(4, 3, 2, 1)
    theirs = plan_in_order(other, [[3], [1, 2]])  # the third among its passages first, then the other two together
    borrowed = borrow_plan(own, plan_in_order(own, [[1], [2], [3], [4]]), other, theirs)
    assert [step.statements for step in borrowed.steps] == [(2,), (4, 3), (1,)]


# --- in a run -------------------------------------------------------------------------------------


QUESTIONS = ("Does vitamin D prevent influenza?", "Did other trials see an effect of vitamin D?")


def related(body: Body) -> str:
    """What the scripted model finds, the last statement told first in a step of its own."""
    reply = json.loads(at_odds(body))
    told = [n for [n] in reply["order"]]
    return json.dumps(reply | {"order": [told[-1:], told[:-1]]})


async def test_the_writer_reads_the_changed_statements_over_the_same_passages(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    names = ["two-calls", "relations-permuted", "relations-removed", "only-statements", "plan-shuffled", "other-plan"]
    with ScriptedServer(model({"statements": related})) as server:
        rag = pipeline(llm=server.base_url, cache=tmp_path / "replies")
        systems = ["written", *(f"written~{name}" for name in names)]
        records = await answer_toy(rag, tmp_path, toy(*QUESTIONS), systems)
        first = next(i for i, r in enumerate(server.requests) if turn_of(r) == "answer")
        asked = [r for r in server.requests[first:] if QUESTIONS[0] in prompt_of(r) and turn_of(r) == "answer"]
    assert {(r.error, r.answer != "") for r in records} == {("", True)}
    assert len({r.evidence for r in records if r.sample == "q1"}) == 1
    plans = [prompt_of(r).rpartition("<plan>")[2].partition("</plan>")[0] for r in asked]
    said = dict(zip(names, plans, strict=False))
    decided = "contradict each other, and nothing decides between them"
    assert decided in said["two-calls"]
    assert decided in said["relations-permuted"]
    assert said["relations-permuted"] != said["two-calls"]
    assert decided not in said["relations-removed"]
    lines = [line for line in said["only-statements"].splitlines() if "makes a point" in line]
    assert lines == [f"{n}. Passage {n} makes a point" for n in (1, 2, 3)]
    assert said["plan-shuffled"] != said["two-calls"]
    by_system = {r.system: r for r in records if r.sample == "q1"}
    assert by_system["written~only-statements"].plan == ""
    assert by_system["written~two-calls"].plan == by_system["written"].plan
    assert by_system["written"].ledger.usage.calls == 1


@pytest.mark.parametrize("name", ["relations-permuted", "other-plan"])
async def test_where_a_model_found_no_statements_nothing_is_changed(
    pipeline: Pipelines, tmp_path: Path, name: str
) -> None:
    with ScriptedServer(model({"both": "No JSON here."})) as server:
        rag = pipeline(llm=server.base_url)
        records = await answer_toy(rag, tmp_path, toy(*QUESTIONS), ["written", f"written~{name}"])
    assert {r.answer for r in records} == {ANSWER.replace(" [1]", "").replace(" [2]", "")}
