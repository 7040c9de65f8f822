"""Statement graphs and plans: one JSON form, and a text form that a person edits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from discorag.schema.errors import InputError
from discorag.schema.statements import (
    Dropped,
    PlanStep,
    Quotation,
    Statement,
    StatementGraph,
    StatementPlan,
    StatementRelation,
    StatementRelationKind,
    StatementRole,
    format_plan,
    parse_plan,
)
from discorag.schema.values import Span
from tests.strategies import spans, texts

FULL = texts.filter(lambda text: bool(text.split()))


@st.composite
def graphs(draw: st.DrawFn) -> StatementGraph:
    quotations = st.builds(
        Quotation,
        passage=st.integers(1, 40),
        chunk_id=st.text(),
        text=FULL,
        spans=st.lists(spans(), min_size=1, max_size=2),
    )
    count = draw(st.integers(1, 6))
    statements = [
        Statement(
            number=n,
            says=draw(FULL),
            quotations=tuple(draw(st.lists(quotations, min_size=1, max_size=3))),
            role=draw(st.sampled_from(StatementRole)),
        )
        for n in range(1, count + 1)
    ]
    pairs = draw(st.sets(st.tuples(st.integers(1, count), st.integers(1, count)).filter(lambda p: p[0] != p[1])))
    kinds = st.sampled_from(StatementRelationKind)
    relations = [
        StatementRelation(source=a, relation=draw(kinds), target=b, about=draw(texts)) for a, b in sorted(pairs)
    ]
    return StatementGraph(statements=tuple(statements), relations=tuple(relations), missing=draw(texts))


@st.composite
def planned(draw: st.DrawFn) -> tuple[StatementGraph, StatementPlan]:
    graph = draw(graphs())
    numbers = st.lists(st.sampled_from(sorted(graph.by_number)), min_size=1, unique=True).map(tuple)
    steps = st.builds(PlanStep, statements=numbers, role=st.sampled_from(StatementRole), text=FULL)
    return graph, StatementPlan(steps=tuple(draw(st.lists(steps, max_size=5))))


@given(planned())
def test_a_plan_is_the_same_after_it_was_written_as_text_and_as_json(
    case: tuple[StatementGraph, StatementPlan],
) -> None:
    graph, plan = case
    assert parse_plan(format_plan(plan), graph) == plan
    assert StatementPlan.model_validate_json(plan.model_dump_json()) == plan
    assert StatementGraph.model_validate_json(graph.model_dump_json()) == graph


def graph_of(count: int) -> StatementGraph:
    quotation = Quotation(passage=1, chunk_id="c", text="x", spans=(Span(start=0, end=1),))
    made = (Statement(number=n, says=f"It says {n}.", quotations=(quotation,)) for n in range(1, count + 1))
    return StatementGraph(statements=tuple(made))


@pytest.mark.parametrize(
    "text",
    [
        "1. answers: Vitamin D did not lower the risk {2}\n2. restricts: only of adults {1, 3}",
        "answers: Vitamin D did not lower the risk { 2 }\n\n  restricts: only of adults {1,3,1}\n",
        "7) Answers: Vitamin D did not lower the risk{2}\r\n7) RESTRICTS： only   of adults {1，3}",
    ],
)
def test_a_person_may_write_a_plan_loosely(text: str) -> None:
    steps = parse_plan(text, graph_of(3)).steps
    assert [(s.statements, s.role.value, s.text) for s in steps] == [
        ((2,), "answers", "Vitamin D did not lower the risk"),
        ((1, 3), "restricts", "only of adults"),
    ]


def test_a_step_without_text_says_what_its_statements_say() -> None:
    assert format_plan(parse_plan("answers: {1, 2}", graph_of(2))) == "1. answers: It says 1; It says 2 {1, 2}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("answers: yes {1}\nanswers: no {4}", "Line 2 .* statement 4, .*There are statements 1 to 3"),
        ("answers: no {0}", "Line 1 .* statement 0"),
        ("\nFirst the answer.", "Line 2 .* cannot be read: 'First the answer.'"),
        ("answers: no statement {}", "Line 1 .* cannot be read"),
        ("answers: one brace {1", "Line 1 .* cannot be read"),
        ("refutes: it {1}", "unknown role 'refutes'. Roles: answers, opposes"),
    ],
)
def test_a_line_that_cannot_be_followed_is_named_with_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_plan(text, graph_of(3))


@pytest.mark.parametrize("pair", [(1, 1), (1, 3), (0, 1)])
def test_a_relation_joins_two_statements_of_its_graph(pair: tuple[int, int]) -> None:
    relation = StatementRelation(source=pair[0], relation=StatementRelationKind.LIMITS, target=pair[1])
    with pytest.raises(ValidationError):
        StatementGraph(statements=graph_of(2).statements, relations=(relation,))


def test_roles_and_relations_have_no_name_in_common_and_counts_add_up() -> None:
    assert not {r.value for r in StatementRole} & {k.value.lower() for k in StatementRelationKind}
    assert Dropped(quotations=1, moved=2) + Dropped(quotations=2) == Dropped(quotations=3, moved=2)
