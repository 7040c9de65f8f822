"""Several documents' trees as one: the same nodes, the same order, and the way back."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discorag.retrieval.forest import Forest
from discorag.schema.retrieval_tree import RetrievalTree
from tests.retrieval.strategies import retrieval_trees

TREES = st.lists(retrieval_trees(), min_size=1, max_size=4).map(lambda trees: {f"d{i}": t for i, t in enumerate(trees)})


@given(TREES)
def test_a_forest_is_a_tree_whose_children_are_those_of_its_documents(trees: dict[str, RetrievalTree]) -> None:
    forest = Forest(trees)
    joined = forest.tree
    assert joined.leaves == sum(t.leaves for t in trees.values())
    for i, node in enumerate(joined.nodes):
        assert all(c < i for c in node.children)
        assert list(node.children) == sorted(node.children)
    for d, tree in enumerate(trees.values()):
        for i, node in enumerate(tree.nodes):
            at = forest.number(d, i)
            assert joined.nodes[at].text == node.text
            assert joined.nodes[at].children == tuple(forest.number(d, c) for c in node.children)
            assert forest.place(at) == (forest.documents[d], node.spans)


@given(TREES)
def test_what_belongs_to_nodes_goes_where_the_nodes_go(trees: dict[str, RetrievalTree]) -> None:
    forest = Forest(trees)
    rows = [np.array([hash((d, i)) for i in range(len(t.nodes))]) for d, t in enumerate(trees.values())]
    joined = forest.join(rows)
    for d, row in enumerate(rows):
        assert [joined[forest.number(d, i)] for i in range(len(row))] == row.tolist()
    for leaf in range(forest.tree.leaves):
        assert forest.number(int(forest.owners[leaf]), forest.local(leaf)) == leaf
