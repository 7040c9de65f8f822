"""Changed graphs over statements, and plans over them that know nothing of the question."""

from collections.abc import Mapping
from random import Random

from discorag.schema.statements import (
    Statement,
    StatementGraph,
    StatementPlan,
    StatementRelation,
    StatementRole,
    plan_in_order,
)
from eval.controls.drawing import draw, permute


def keep_all(graph: StatementGraph, _: Random, __: float) -> StatementGraph:
    """Nothing is changed: the answer is written again, in a call that reads the statements instead of finding them."""
    return graph


def permute_relations(graph: StatementGraph, random: Random, _: float) -> StatementGraph:
    """The same relations between other statements: as many, with the same labels, words and shape.

    The result is another graph wherever the statements can be exchanged so that it is.
    """
    return permute(
        list(graph.by_number),
        random,
        lambda other: _move_relations(graph, other),
        lambda moved: set(moved.relations) == set(graph.relations),
    )


def remove_relations(graph: StatementGraph, random: Random, rate: float) -> StatementGraph:
    """Relations are missing."""
    chosen = draw(len(graph.relations), random, rate)
    return _replace_relations(graph, [r for i, r in enumerate(graph.relations) if i not in chosen])


def only_statements(graph: StatementGraph, _: Random, __: float) -> StatementGraph:
    """The statements alone, numbered in the order of the passages, without relations and roles."""
    ordered = sorted(graph.statements, key=_place)
    alone = (s.model_copy(update={"number": n, "role": StatementRole.ANSWERS}) for n, s in enumerate(ordered, start=1))
    return StatementGraph(statements=tuple(alone), missing=graph.missing, dropped=graph.dropped)


def borrow_plan(
    graph: StatementGraph, plan: StatementPlan, other: StatementGraph, its_plan: StatementPlan
) -> StatementPlan:
    """The statements of ``plan`` in the order and the steps of another question's plan.

    Statements are exchanged by their places among the passages: where the other plan begins with the statement that is
    the third of its own in that order, this one begins with its third. Those that the other plan has no place for come
    last, each in a step of its own.
    """
    theirs = {n: rank for rank, n in enumerate(_in_text_order(other, its_plan))}
    own = dict(enumerate(_in_text_order(graph, plan)))
    order = [[own.pop(rank) for n in step.statements if (rank := theirs[n]) in own] for step in its_plan.steps]
    return plan_in_order(graph, [*filter(None, order), *([n] for n in own.values())])


def _in_text_order(graph: StatementGraph, plan: StatementPlan) -> list[int]:
    return sorted(plan.numbers, key=lambda number: _place(graph.by_number[number]))


def _place(statement: Statement) -> tuple[int, int]:
    """The first passage that a statement quotes, and where in it."""
    return min((q.passage, q.spans[0].start) for q in statement.quotations)


def _move_relations(graph: StatementGraph, other: Mapping[int, int]) -> StatementGraph:
    """The graph with relations between the statements that take the places of others."""
    moved = [r.joining(other[r.source], other[r.target]) for r in graph.relations]
    return _replace_relations(graph, moved)


def _replace_relations(graph: StatementGraph, relations: list[StatementRelation]) -> StatementGraph:
    return StatementGraph(
        statements=graph.statements, relations=tuple(relations), missing=graph.missing, dropped=graph.dropped
    )
