from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.retrieval.selectors import (
    Evidence,
    Floats,
    Ints,
    Selector,
    Variant,
    algorithm1,
    collapsed_set,
    collapsed_tree,
    traversal,
)
from discorag.schema.retrieval_tree import RetrievalTree
from tests.retrieval.strategies import ordered_trees, retrieval_trees


@dataclass
class Case:
    tree: RetrievalTree
    scores: Floats
    sizes: Ints
    limit: int

    def run(self, name: str) -> Evidence:
        return SELECTORS[name](self.tree, self.scores, self.sizes, self.limit)


@st.composite
def cases(draw: st.DrawFn, trees: st.SearchStrategy[RetrievalTree]) -> Case:
    """Few different scores, so that ties are common."""
    tree = draw(trees)
    count = len(tree.nodes)
    scores = draw(st.lists(st.sampled_from([0, 0.25, 0.5, 1]), min_size=count, max_size=count))
    sizes = draw(st.lists(st.integers(1, 20), min_size=count, max_size=count))
    return Case(tree, np.array(scores, np.float64), np.array(sizes), draw(st.integers(1, 100)))


SELECTORS: dict[str, Selector] = {
    **{variant: partial(algorithm1, variant=variant) for variant in Variant},
    "collapsed_tree": collapsed_tree,
    "collapsed_set": collapsed_set,
    "traversal": traversal,
}
ALL = [*SELECTORS]
PREFIXES = [name for name in ALL if name != "traversal"]
"""Selectors that give a beginning of one ranking, whatever the budget.

RAPTOR's traversal does not: the wider it is, the more nodes compete on a layer, and a child of the second best may push
aside the child of the best that a narrower traversal gave.
"""


@given(cases(retrieval_trees()))
def test_evidence_keeps_the_budget_or_is_the_best_node_alone(case: Case) -> None:
    for name in ALL:
        found = case.run(name)
        assert len(found.nodes) == 1 or case.sizes[list(found.nodes)].sum() <= case.limit, name


@given(cases(retrieval_trees()))
def test_leaves_are_in_text_order_and_no_node_comes_twice(case: Case) -> None:
    for name in ALL:
        found = case.run(name)
        assert found.leaves == tuple(sorted(i for i in found.nodes if i < case.tree.leaves)), name
        assert len(set(found.nodes)) == len(found.nodes), name


@given(cases(retrieval_trees()))
def test_there_is_evidence_and_more_budget_never_takes_any_away(case: Case) -> None:
    small = {name: case.run(name).nodes for name in ALL}
    case.limit += 15
    for name in ALL:
        assert small[name], name
    for name in PREFIXES:
        assert set(small[name]) <= set(case.run(name).nodes), name


@given(cases(retrieval_trees()))
def test_a_traversal_is_the_widest_that_keeps_the_budget_else_the_end_of_the_narrowest(case: Case) -> None:
    def whole(k: int) -> tuple[int, ...]:
        return traversal(case.tree, case.scores, case.sizes, int(case.sizes.sum()), k=k).nodes

    paths = [whole(k) for k in range(1, 6)]
    fitting = [path for path in paths if case.sizes[list(path)].sum() <= case.limit]
    found = case.run("traversal").nodes
    assert found == fitting[-1] if fitting else found == paths[0][-len(found) :]


@given(cases(retrieval_trees()))
def test_choosing_stops_before_the_first_node_that_would_exceed_and_at_no_other(case: Case) -> None:
    for name in PREFIXES:
        nodes = case.run(name).nodes
        size = int(case.sizes[list(nodes)].sum())
        exact = Case(case.tree, case.scores, case.sizes, size)
        assert exact.run(name).nodes == nodes, name
        less = Case(case.tree, case.scores, case.sizes, max(1, size - 1))
        assert len(nodes) == 1 or len(less.run(name).nodes) < len(nodes), name


@given(cases(retrieval_trees()))
def test_the_same_question_has_the_same_evidence_and_nothing_given_is_changed(case: Case) -> None:
    scores, sizes = case.scores.copy(), case.sizes.copy()
    assert [case.run(name) for name in ALL] == [case.run(name) for name in ALL]
    assert (case.scores == scores).all()
    assert (case.sizes == sizes).all()


@given(cases(ordered_trees()), st.data())
def test_evidence_does_not_depend_on_how_inner_nodes_are_numbered(case: Case, data: st.DataObject) -> None:
    order = data.draw(numberings(case.tree))
    new = {old: i for i, old in enumerate(order)}
    nodes = [case.tree.nodes[old] for old in order]
    nodes = [n.model_copy(update={"children": tuple(sorted(new[c] for c in n.children))}) for n in nodes]
    other = Case(RetrievalTree(builder="t", nodes=tuple(nodes)), case.scores[order], case.sizes[order], case.limit)
    for name in ALL:
        assert other.run(name).nodes == tuple(new[old] for old in case.run(name).nodes), name


@st.composite
def numberings(draw: st.DrawFn, tree: RetrievalTree) -> list[int]:
    """Old numbers in a new order: leaves as they are, inner nodes in any order that has children before parents."""
    order = list(range(tree.leaves))
    while ready := [
        i for i, n in enumerate(tree.nodes) if i not in order and all(child in order for child in n.children)
    ]:
        order.append(draw(st.sampled_from(ready)))
    return order


@pytest.mark.parametrize("k", [1, 2, 5])
@given(case=cases(retrieval_trees()))
def test_algorithm_1_chooses_what_its_plain_reading_chooses(k: int, case: Case) -> None:
    found = algorithm1(case.tree, case.scores, case.sizes, case.limit, k=k, variant=Variant.RANKING_ORDER)
    assert found.nodes == plainly(case, k)


def plainly(case: Case, k: int) -> tuple[int, ...]:
    def by_score(nodes: list[int]) -> list[int]:
        return sorted(nodes, key=lambda i: (-case.scores[i], case.tree.nodes[i].spans[0].start, i))

    chosen: list[int] = []
    for node in by_score(list(range(len(case.tree.nodes)))):
        for leaf in by_score([i for i in case.tree.leaves_of[node] if i not in chosen])[:k]:
            if chosen and case.sizes[[*chosen, leaf]].sum() > case.limit:
                return tuple(chosen)
            chosen.append(leaf)
    return tuple(chosen)
