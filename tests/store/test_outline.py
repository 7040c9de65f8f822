"""Trees as arrays: the structure that the nodes have, joined or stored, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.retrieval.forest import Forest
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.schema.values import Vectors
from discorag.store.outline import LazyTree, Outline, Shape
from discorag.text.bm25 import Runs
from tests.retrieval.strategies import retrieval_trees, small_tree
from tests.store.samples import unit


def mean_vectors(tree: RetrievalTree) -> Vectors:
    leaves = unit(tree.leaves, 0)
    sums = np.stack([leaves[list(below)].sum(axis=0) for below in tree.leaves_of])
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


def leaves_in(groups: Runs) -> list[tuple[int, ...]]:
    """The leaves of every group, written out."""
    ends = [*groups.first.tolist(), len(groups.starts)][1:]
    runs = [range(a, b) for a, b in zip(groups.starts.tolist(), groups.stops.tolist(), strict=True)]
    return [tuple(i for run in runs[a:b] for i in run) for a, b in zip(groups.first.tolist(), ends, strict=True)]


def bare(tree: RetrievalTree) -> RetrievalTree:
    shape = Shape.of(tree)
    return LazyTree.made(tree.builder, shape, shape.node)


def assert_same_structure(lazy: RetrievalTree, tree: RetrievalTree) -> None:
    assert [n.children for n in lazy.nodes] == [n.children for n in tree.nodes]
    assert [n.spans for n in lazy.nodes[: lazy.leaves]] == [n.spans for n in tree.nodes[: tree.leaves]]
    assert (lazy.leaves, lazy.roots, lazy.parents, lazy.leaves_of) == (
        tree.leaves,
        tree.roots,
        tree.parents,
        tree.leaves_of,
    )
    assert lazy.first_leaf.tolist() == tree.first_leaf.tolist()
    assert lazy.words.tolist() == tree.words.tolist()
    assert leaves_in(Shape.of(lazy).groups) == list(tree.leaves_of)


@given(st.lists(retrieval_trees(), min_size=1, max_size=4))
def test_trees_without_texts_have_the_structure_of_the_trees_also_as_a_forest(trees: list[RetrievalTree]) -> None:
    for tree in trees:
        assert_same_structure(bare(tree), tree)
    whole = Forest({str(i): tree for i, tree in enumerate(trees)})
    lazy = Forest({str(i): bare(tree) for i, tree in enumerate(trees)})
    assert_same_structure(lazy.tree, whole.tree)
    assert [lazy.place(i) for i in range(lazy.tree.leaves)] == [whole.place(i) for i in range(whole.tree.leaves)]


def test_a_text_that_was_not_read_is_an_error_not_an_empty_text() -> None:
    lazy = bare(small_tree(3, (0, 1, 2)))
    with pytest.raises(AttributeError):
        _ = lazy.nodes[0].text
    with pytest.raises(AttributeError):
        _ = lazy.nodes[-1].spans
    with pytest.raises(IndexError):
        _ = lazy.nodes[4]


@given(retrieval_trees(), st.booleans())
def test_an_outline_comes_back_from_bytes(tree: RetrievalTree, means: bool) -> None:
    made = Outline.of(tree, unit(tree.leaves if means else len(tree.nodes), 0))
    back = Outline.unpack(tree.builder, made.pack(), "key")
    assert_same_structure(back.tree, tree)
    assert [a.tolist() for a in vars(back.terms).values()] == [a.tolist() for a in vars(made.terms).values()]
    assert back.pack() == made.pack()


@given(retrieval_trees())
def test_cosines_of_means_follow_from_those_of_the_leaves(tree: RetrievalTree) -> None:
    vectors, query = mean_vectors(tree), unit(1, 9)[0]
    outline = Outline.of(tree, vectors[: tree.leaves])
    assert outline.cosines(vectors[: tree.leaves] @ query) == pytest.approx(vectors @ query, abs=1e-5)


@pytest.mark.parametrize("columns", [1, 3, 8])
def test_the_length_of_a_mean_does_not_depend_on_how_it_is_summed(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setattr("discorag.store.outline._COLUMNS", columns)
    outline, leaves = Outline.of(small_tree(4, (0, 1), (4, 2)), unit(4, 0)), unit(4, 0)
    assert outline.lengths == pytest.approx([np.linalg.norm(leaves[:n].sum(axis=0)) for n in (2, 3)], abs=1e-6)


def test_leaves_that_cancel_out_are_as_far_from_a_question_as_from_its_opposite() -> None:
    one = unit(1, 0)[0]
    outline = Outline.of(small_tree(2, (0, 1)), np.stack([one, -one]))
    assert outline.cosines(np.array([0.5, -0.5], np.float32))[2] == 0
