"""Windows that follow a tree."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discorag.retrieval.builders.borders import snapped_windows
from discorag.schema.retrieval_tree import RetrievalTree
from tests.retrieval.strategies import retrieval_trees, small_tree


def windows(tree: RetrievalTree, widest: int) -> set[tuple[int, int]]:
    return {(int(start), int(start + beyond + 1)) for start, beyond in np.argwhere(snapped_windows(tree, widest))}


def test_snapped_windows_of_a_flat_tree_are_runs_of_siblings_and_two_subtrees_that_touch() -> None:
    tree = small_tree(6, (0, 1, 2), (3, 4, 5), (6, 7))
    runs = {(a, b) for low in (0, 3) for a in range(low, low + 3) for b in range(a + 1, low + 4)}
    touching = {(2, 4), (0, 4), (2, 6), (0, 6)}
    assert windows(tree, 6) == runs | touching
    assert windows(tree, 3) == runs | {(2, 4)}


def test_snapped_windows_of_a_right_branching_tree_do_not_cut_a_subtree() -> None:
    tree = small_tree(4, (2, 3), (1, 4), (0, 5))
    assert windows(tree, 9) == {(0, 1), (1, 2), (2, 3), (3, 4), (0, 2), (1, 3), (2, 4), (1, 4), (0, 4)}


def test_roots_count_as_siblings() -> None:
    assert windows(small_tree(3), 3) == {(0, 1), (1, 2), (2, 3), (0, 2), (1, 3), (0, 3)}


def test_a_cluster_of_leaves_that_are_not_adjacent_makes_no_window() -> None:
    assert windows(small_tree(4, (0, 2), (1, 3)), 4) == {(0, 1), (1, 2), (2, 3), (3, 4), (0, 2), (1, 3), (2, 4)}


@given(retrieval_trees(), st.integers(1, 14))
def test_snapped_windows_hold_all_leaves_and_end_inside_the_text(tree: RetrievalTree, widest: int) -> None:
    found = windows(tree, widest)
    assert {(i, i + 1) for i in range(tree.leaves)} <= found
    assert all(end <= tree.leaves and end - start <= widest for start, end in found)


@given(retrieval_trees())
def test_every_narrow_subtree_of_adjacent_leaves_is_a_snapped_window(tree: RetrievalTree) -> None:
    spans = {(leaves[0], leaves[-1] + 1) for leaves in tree.leaves_of if leaves[-1] - leaves[0] + 1 == len(leaves)}
    assert {(start, end) for start, end in spans if end - start <= 5} <= windows(tree, 5)
