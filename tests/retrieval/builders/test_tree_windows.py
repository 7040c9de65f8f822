"""Windows of sentences that follow the borders of a tree."""

from __future__ import annotations

import asyncio
from threading import Event

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.discourse.parse.rules import RuleParser
from discorag.retrieval.builders.baselines import BisectionBuilder
from discorag.retrieval.builders.discourse import DiscourseBuilder
from discorag.retrieval.builders.node_text import Concat
from discorag.retrieval.builders.tree_windows import TreeWindowBuilder, windows_along
from discorag.schema.retrieval_tree import RetrievalTree
from tests.retrieval.builders.checks import source_of
from tests.retrieval.strategies import retrieval_trees, small_tree

_SIX = source_of("Ann ate. Bob bit. Cid cut. Dan dug. Eva ebbed. Flo fed.")


def runs(tree: RetrievalTree) -> list[tuple[int, int]]:
    """First leaf and the one behind the last, of every inner node."""
    return [(node.children[0], node.children[-1] + 1) for node in tree.nodes[tree.leaves :]]


async def test_windows_are_subtrees_and_pairs_of_subtrees_that_touch() -> None:
    # By hand: bisection of six joins ((0 1) 2) and ((3 4) 5). Leaves 1 to 3 are not two subtrees: 1-2 cuts 0-1.
    tree = (await TreeWindowBuilder(BisectionBuilder(Concat())).build(_SIX)).tree
    subtrees = {(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (0, 2), (0, 3), (3, 5), (3, 6), (0, 6)}
    pairs = {(a, d) for a, b in subtrees for c, d in subtrees if b == c}
    assert set(runs(tree)) == {run for run in subtrees | pairs if run[1] - run[0] > 1}
    assert (1, 4) not in runs(tree)


async def test_windows_are_no_wider_than_allowed() -> None:
    tree = (await TreeWindowBuilder(BisectionBuilder(Concat()), widest=3).build(_SIX)).tree
    assert max(end - start for start, end in runs(tree)) == 3


async def test_snapped_tells_what_the_tree_below_it_took() -> None:
    built = await TreeWindowBuilder(DiscourseBuilder(RuleParser(), Concat())).build(
        source_of("Ann ate. Bob bit.\n\nCid cut.")
    )
    assert (built.parsed, built.tree.builder) == (2, "snapped")


async def test_a_server_goes_on_while_windows_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on = Event()
    asyncio.get_running_loop().call_soon(goes_on.set)

    def waits(tree: RetrievalTree, widest: int) -> object:
        assert goes_on.wait(30), "the event loop waits for a document"
        return windows_along(tree, widest)

    monkeypatch.setattr("discorag.retrieval.builders.tree_windows.windows_along", waits)
    assert runs((await TreeWindowBuilder(BisectionBuilder(Concat())).build(_SIX)).tree)


def windows(tree: RetrievalTree, widest: int) -> set[tuple[int, int]]:
    return {(int(start), int(start + beyond + 1)) for start, beyond in np.argwhere(windows_along(tree, widest))}


def test_windows_of_a_flat_tree_are_runs_of_siblings_and_two_subtrees_that_touch() -> None:
    tree = small_tree(6, (0, 1, 2), (3, 4, 5), (6, 7))
    runs = {(a, b) for low in (0, 3) for a in range(low, low + 3) for b in range(a + 1, low + 4)}
    touching = {(2, 4), (0, 4), (2, 6), (0, 6)}
    assert windows(tree, 6) == runs | touching
    assert windows(tree, 3) == runs | {(2, 4)}


def test_windows_of_a_right_branching_tree_do_not_cut_a_subtree() -> None:
    tree = small_tree(4, (2, 3), (1, 4), (0, 5))
    assert windows(tree, 9) == {(0, 1), (1, 2), (2, 3), (3, 4), (0, 2), (1, 3), (2, 4), (1, 4), (0, 4)}


def test_roots_count_as_siblings() -> None:
    assert windows(small_tree(3), 3) == {(0, 1), (1, 2), (2, 3), (0, 2), (1, 3), (0, 3)}


def test_a_cluster_of_leaves_that_are_not_adjacent_makes_no_window() -> None:
    assert windows(small_tree(4, (0, 2), (1, 3)), 4) == {(0, 1), (1, 2), (2, 3), (3, 4), (0, 2), (1, 3), (2, 4)}


@given(retrieval_trees(), st.integers(1, 14))
def test_windows_hold_all_leaves_and_end_inside_the_text(tree: RetrievalTree, widest: int) -> None:
    found = windows(tree, widest)
    assert {(i, i + 1) for i in range(tree.leaves)} <= found
    assert all(end <= tree.leaves and end - start <= widest for start, end in found)
