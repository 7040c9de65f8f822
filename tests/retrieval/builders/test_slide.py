"""Windows as nodes, by hand: every run of a width, or the runs that follow a tree."""

from __future__ import annotations

from discorag.discourse.parse.rules import RuleParser
from discorag.retrieval.builders.bisection import BisectionBuilder
from discorag.retrieval.builders.discourse import DiscourseBuilder, DiscourseBuilt
from discorag.retrieval.builders.node_text import Concat
from discorag.retrieval.builders.slide import SlideBuilder, SnappedBuilder
from discorag.schema.retrieval_tree import RetrievalTree
from tests.retrieval.builders.checks import source_of

_SIX = source_of("Ann ate. Bob bit. Cid cut. Dan dug. Eva ebbed. Flo fed.")


def runs(tree: RetrievalTree) -> list[tuple[int, int]]:
    """First leaf and the one behind the last, of every inner node."""
    return [(node.children[0], node.children[-1] + 1) for node in tree.nodes[tree.leaves :]]


async def test_every_run_of_each_width_is_a_node_also_those_at_the_ends() -> None:
    tree = (await SlideBuilder((2, 5)).build(_SIX)).tree
    assert runs(tree) == [(0, 2), (1, 3), (2, 4), (3, 5), (4, 6), (0, 5), (1, 6)]
    assert tree.nodes[6].text == "Ann ate. Bob bit."


async def test_widths_are_two_to_sixteen_and_wider_ones_than_the_document_are_left_out() -> None:
    tree = (await SlideBuilder().build(_SIX)).tree
    assert {end - start for start, end in runs(tree)} == {2, 4}
    sixteen = (await SlideBuilder().build(source_of(" ".join(f"Sam{i} ate." for i in range(16))))).tree
    assert runs(sixteen)[-1] == (0, 16)


async def test_snapped_windows_are_subtrees_and_pairs_of_subtrees_that_touch() -> None:
    # By hand: bisection of six joins ((0 1) 2) and ((3 4) 5). Leaves 1 to 3 are no two subtrees: 1-2 cuts 0-1.
    tree = (await SnappedBuilder(BisectionBuilder(Concat())).build(_SIX)).tree
    subtrees = {(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (0, 2), (0, 3), (3, 5), (3, 6), (0, 6)}
    pairs = {(a, d) for a, b in subtrees for c, d in subtrees if b == c}
    assert set(runs(tree)) == {run for run in subtrees | pairs if run[1] - run[0] > 1}
    assert (1, 4) not in runs(tree)


async def test_snapped_windows_are_no_wider_than_allowed() -> None:
    tree = (await SnappedBuilder(BisectionBuilder(Concat()), widest=3).build(_SIX)).tree
    assert max(end - start for start, end in runs(tree)) == 3


async def test_snapped_tells_what_the_tree_below_it_took() -> None:
    built = await SnappedBuilder(DiscourseBuilder(RuleParser(), Concat())).build(
        source_of("Ann ate. Bob bit.\n\nCid cut.")
    )
    assert isinstance(built, DiscourseBuilt)
    assert (built.parsed, built.tree.builder) == (2, "snapped")
