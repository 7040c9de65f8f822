"""Trees as arrays: the same structure as the nodes have, joined or stored, and only that."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.retrieval.forest import Forest, _sums
from discorag.schema.errors import InvariantError
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.schema.values import Vectors
from discorag.store.outline import LazyTree, Outline, Shape
from discorag.text.bm25 import Runs
from tests.retrieval.strategies import retrieval_trees, small_tree


def unit(count: int, seed: int = 0) -> Vectors:
    vectors = np.random.default_rng(seed).standard_normal((count, 8)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def mean_vectors(tree: RetrievalTree, seed: int = 0) -> Vectors:
    sums = _sums(tree, unit(tree.leaves, seed))
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


def leaves_in(groups: Runs) -> list[tuple[int, ...]]:
    """The leaves of every group, written out."""
    ends = [*groups.first.tolist(), len(groups.starts)][1:]
    runs = [range(a, b) for a, b in zip(groups.starts.tolist(), groups.stops.tolist(), strict=True)]
    return [tuple(i for run in runs[a:b] for i in run) for a, b in zip(groups.first.tolist(), ends, strict=True)]


def bare(tree: RetrievalTree) -> RetrievalTree:
    shape = Shape.of(tree)
    return LazyTree.made(tree.builder, shape, shape.node)


@given(retrieval_trees())
def test_groups_are_the_leaves_at_or_below_each_node(tree: RetrievalTree) -> None:
    assert leaves_in(Shape.of(tree).groups) == list(tree.leaves_of)


@given(retrieval_trees())
def test_a_tree_without_texts_has_the_structure_of_the_tree(tree: RetrievalTree) -> None:
    lazy = bare(tree)
    assert [n.children for n in lazy.nodes] == [n.children for n in tree.nodes]
    assert [n.spans for n in lazy.nodes[: lazy.leaves]] == [n.spans for n in tree.nodes[: tree.leaves]]
    assert (lazy.leaves, lazy.roots, lazy.parents) == (tree.leaves, tree.roots, tree.parents)
    assert lazy.first_leaf.tolist() == tree.first_leaf.tolist()
    assert lazy.words.tolist() == tree.words.tolist()
    assert lazy.leaves_of == tree.leaves_of


def test_a_text_that_was_not_read_is_an_error_not_an_empty_text() -> None:
    lazy = bare(small_tree(3, (0, 1, 2)))
    with pytest.raises(AttributeError):
        _ = lazy.nodes[0].text
    with pytest.raises(AttributeError):
        _ = lazy.nodes[-1].spans
    with pytest.raises(IndexError):
        _ = lazy.nodes[4]


@given(st.lists(retrieval_trees(), min_size=1, max_size=4))
def test_a_forest_without_texts_has_the_structure_of_the_forest(trees: list[RetrievalTree]) -> None:
    whole = Forest({str(i): tree for i, tree in enumerate(trees)})
    lazy = Forest({str(i): bare(tree) for i, tree in enumerate(trees)})
    assert [n.children for n in lazy.tree.nodes] == [n.children for n in whole.tree.nodes]
    assert lazy.tree.roots == whole.tree.roots
    assert lazy.tree.words.tolist() == whole.tree.words.tolist()
    assert lazy.tree.first_leaf.tolist() == whole.tree.first_leaf.tolist()
    assert leaves_in(lazy.shape.groups) == list(whole.tree.leaves_of)
    assert [lazy.place(i) for i in range(lazy.tree.leaves)] == [whole.place(i) for i in range(whole.tree.leaves)]


@given(retrieval_trees(), st.integers(0, 1))
def test_an_outline_comes_back_from_bytes(tree: RetrievalTree, means: int) -> None:
    made = Outline.of(tree, mean_vectors(tree) if means else unit(len(tree.nodes)))
    back = Outline.from_bytes(tree.builder, made.to_bytes(), "key")
    for name in ("words", "spans", "child_ends", "children"):
        assert getattr(back.shape, name).tolist() == getattr(made.shape, name).tolist()
    assert leaves_in(back.shape.groups) == list(tree.leaves_of)
    assert [a.tolist() for a in vars(back.terms).values()] == [a.tolist() for a in vars(made.terms).values()]
    assert (back.lengths is None) == (made.lengths is None or not len(made.lengths))
    if back.lengths is not None and made.lengths is not None:
        assert back.lengths.tolist() == made.lengths.tolist()


@given(retrieval_trees())
def test_cosines_of_means_follow_from_those_of_the_leaves(tree: RetrievalTree) -> None:
    vectors, query = mean_vectors(tree), unit(1, 9)[0]
    outline = Outline.of(tree, vectors)
    assert outline.cosines(vectors[: tree.leaves] @ query) == pytest.approx(vectors @ query, abs=1e-5)


def test_inner_nodes_with_vectors_of_their_own_are_told_from_means(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = small_tree(4, (0, 1), (2, 3), (4, 5))
    vectors = mean_vectors(tree)
    for block in (1, 2, 1024):
        monkeypatch.setattr("discorag.store.outline._BLOCK", block)
        assert Outline.of(tree, vectors).lengths is not None
        for changed in range(tree.leaves, len(tree.nodes)):
            own = vectors.copy()
            own[changed] = unit(1, 5)[0]
            outline = Outline.of(tree, own)
            assert outline.lengths is None
            with pytest.raises(InvariantError, match="no means"):
                outline.cosines(own[: tree.leaves, 0])


def test_leaves_that_cancel_out_have_no_mean() -> None:
    tree, one = small_tree(2, (0, 1)), unit(1)[0]
    assert Outline.of(tree, np.stack([one, -one, one])).lengths is None
