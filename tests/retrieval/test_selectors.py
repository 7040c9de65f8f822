"""What selectors choose, by hand on a small tree, and what holds of all of them on any tree."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.retrieval.selectors import (
    Floats,
    Ints,
    Nodes,
    algorithm1,
    best_leaves,
    collapsed_tree,
    leaves_by_node,
    traversal,
    within_budget,
)
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.store.outline import TreeArrays
from tests.retrieval.strategies import leaves_of, retrieval_trees, small_tree

# 8 is above the leaves 0-3, 9 above 4-5, 10 above 6-7, 11 above all. Best first: 9 5 11 8 1 2 3 6 7 4 0 10.
TREE = TreeArrays.of(small_tree(8, (0, 1, 2, 3), (4, 5), (6, 7), (8, 9, 10)))
SCORES = np.array([0.1, 0.5, 0.5, 0.4, 0.2, 0.9, 0.3, 0.3, 0.8, 0.9, 0.05, 0.85])
ONES = np.ones(12, np.int64)
SIZES = np.array([10, 10, 10, 10, 10, 10, 10, 10, 50, 30, 30, 100])
ALL = 10_000
SELECTORS: dict[str, Callable[[TreeArrays, Floats, Ints, int], Nodes]] = {
    "best_leaves": best_leaves,
    "algorithm1": algorithm1,
    "collapsed_tree": collapsed_tree,
    "traversal": traversal,
}


@pytest.mark.parametrize(
    ("k", "limit", "order"),
    [
        # 9 (its tie with leaf 5 goes to what starts first) gives 5 and 4; 11 gives 1 and 2 (a tie); 8 is left with 3
        # and 0; then leaves 6 and 7; 10 has nothing left.
        (2, 8, [5, 4, 1, 2, 3, 0, 6, 7]),
        (1, 8, [5, 1, 2, 3, 6, 7, 4, 0]),
        (2, 5, [5, 4, 1, 2, 3]),
        (8, 7, [5, 4, 1, 2, 3, 6, 7]),
    ],
)
def test_algorithm_1_by_hand(k: int, limit: int, order: list[int]) -> None:
    assert list(leaves_by_node(TREE, SCORES, k))[:limit] == order
    assert list(algorithm1(TREE, SCORES, ONES, limit, k=k)) == sorted(order)


def test_the_best_leaves_are_given_in_text_order() -> None:
    assert best_leaves(TREE, SCORES, ONES, 3) == (1, 2, 5)


def test_the_collapsed_tree_gives_the_best_nodes_of_all_layers_and_counts_summaries_with_their_own_length() -> None:
    assert collapsed_tree(TREE, SCORES, SIZES, ALL) == (9, 5, 11, 8, 1, 2, 3, 6, 7, 4, 0, 10)
    assert collapsed_tree(TREE, SCORES, SIZES, 140) == (9, 5, 11)
    assert collapsed_tree(TREE, SCORES, SIZES, 139) == (9, 5)


@pytest.mark.parametrize(
    ("k", "limit", "nodes"),
    [
        (1, ALL, (11, 9, 5)),
        (2, ALL, (11, 9, 8, 5, 1)),
        (2, 200, (11, 9, 8, 5, 1)),
        (2, 199, (11, 9, 5)),  # over the budget: fewer of each layer, down to the leaves all the same
        (5, 139, (9, 5)),  # even one of each layer is too much: the lowest ones
        (5, 1, (5,)),
    ],
)
def test_the_traversal_descends_from_the_roots_through_the_best_of_each_layer(k: int, limit: int, nodes: Nodes) -> None:
    assert traversal(TREE, SCORES, SIZES, limit, k=k) == nodes


def test_the_traversal_sees_nothing_below_a_pruned_node_and_no_node_twice() -> None:
    assert 6 not in traversal(TREE, np.where(np.arange(12) == 6, 1, SCORES), SIZES, ALL, k=2)
    shared = TreeArrays.of(small_tree(2, (0, 1), (0, 2)))
    assert traversal(shared, np.array([0.4, 0.3, 0.5, 0.1]), ONES[:4], ALL) == (3, 2, 0, 1)
    root_leaf = TreeArrays.of(small_tree(3, (0, 1)))
    assert traversal(root_leaf, np.array([0.1, 0.2, 0.9, 0.5]), ONES[:4], ALL, k=2) == (2, 3, 1, 0)


@dataclass
class Case:
    tree: RetrievalTree
    scores: Floats
    sizes: Ints
    limit: int

    def run(self, name: str, limit: int | None = None) -> Nodes:
        return SELECTORS[name](TreeArrays.of(self.tree), self.scores, self.sizes, limit or self.limit)

    def size(self, nodes: Nodes) -> int:
        return int(self.sizes[list(nodes)].sum())


@st.composite
def cases(draw: st.DrawFn, trees: st.SearchStrategy[RetrievalTree]) -> Case:
    """Few different scores, so that ties are common."""
    tree = draw(trees)
    count = len(tree.nodes)
    scores = draw(st.lists(st.sampled_from([0, 0.25, 0.5, 1]), min_size=count, max_size=count))
    sizes = draw(st.lists(st.integers(1, 20), min_size=count, max_size=count))
    return Case(tree, np.array(scores, np.float64), np.array(sizes), draw(st.integers(1, 100)))


@given(cases(retrieval_trees()))
def test_evidence_keeps_the_budget_or_is_the_best_node_alone_and_no_node_comes_twice(case: Case) -> None:
    for name in SELECTORS:
        nodes = case.run(name)
        assert len(nodes) == 1 or case.size(nodes) <= case.limit, name
        assert len(nodes) == len(set(nodes)) > 0, name


@pytest.mark.parametrize("k", [1, 2, 5])
@given(case=cases(retrieval_trees()))
def test_algorithm_1_chooses_what_its_plain_reading_chooses(k: int, case: Case) -> None:
    def by_score(nodes: list[int]) -> list[int]:
        return sorted(nodes, key=lambda i: (-case.scores[i], case.tree.nodes[i].spans[0].start, i))

    plain, leaves = list[int](), leaves_of(case.tree)
    for node in by_score(list(range(len(case.tree.nodes)))):
        plain += by_score([i for i in leaves[node] if i not in plain])[:k]
    while len(plain) > 1 and case.size(tuple(plain)) > case.limit:
        plain.pop()
    order = leaves_by_node(TreeArrays.of(case.tree), case.scores, k)
    assert within_budget(order, case.sizes, case.limit) == tuple(plain)
