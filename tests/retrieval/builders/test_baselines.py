"""The papers' baselines, windows along a tree, and discourse trees."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.discourse.parse.parser import Unit
from discorag.discourse.parse.rules import RuleParser
from discorag.models.tokens import PackagedTokens
from discorag.retrieval.builders.base import Source, chunk_leaves, units_of
from discorag.retrieval.builders.baselines import BisectionBuilder
from discorag.retrieval.builders.discourse import DiscourseBuilder, ParagraphBuilder
from discorag.retrieval.builders.node_text import Concat, Tau
from discorag.retrieval.builders.summaries import ExtractiveSummariser, Summary
from discorag.retrieval.builders.tree_windows import TreeWindowBuilder, windows_along
from discorag.schema.discourse import RstTree
from discorag.schema.retrieval_tree import RetrievalTree
from eval.retrievers import WindowBuilder
from tests.retrieval.builders.checks import RightBranchingUnits, below, checked, source_of, sources
from tests.retrieval.strategies import leaves_of, small_tree


@given(sources, st.integers(1, 12))
def test_chunks_hold_every_sentence_in_order_and_none_could_take_one_more(source: Source, words: int):
    units, text = units_of(source), source.document.text
    chunks = chunk_leaves(source, units, words=words)
    held = [[unit.words for unit in units if chunk.spans[0].contains(unit.span)] for chunk in chunks]
    assert [size for chunk in held for size in chunk] == [unit.words for unit in units]
    assert all(len(chunk) == 1 or sum(chunk) <= words for chunk in held)
    assert all(sum(a) + b[0] > words for a, b in pairwise(held))
    assert all(chunk.text == chunk.spans[0].of(text) for chunk in chunks)


def test_a_sentence_longer_than_the_window_comes_in_pieces_that_fit_and_lose_nothing():
    source, counter = source_of(" ".join(f"word{i}" for i in range(400))), PackagedTokens()
    pieces = [unit.span.of(source.document.text) for unit in units_of(source, counter)]
    assert len(pieces) > 1
    assert "".join(pieces).replace(" ", "") == source.document.text.replace(" ", "")
    assert max(counter.counts(pieces)) <= counter.max_tokens


@given(sources)
async def test_bisection_is_a_binary_tree_of_least_depth(source: Source):
    tree = checked(source, (await BisectionBuilder(Concat()).build(source)).tree)
    assert len(tree.nodes) == 2 * tree.leaves - 1
    assert tree.nodes[-1].layer == math.ceil(math.log2(tree.leaves))


@pytest.mark.parametrize(
    ("width", "sentences", "windows"),
    [(7, 7, [7]), (7, 8, [7, 8]), (7, 9, [7, 2, 9]), (7, 50, [7, 7, 7, 7, 7, 7, 7, 49, 50]), (3, 7, [3, 3, 7])],
)
async def test_windows_are_joined_until_one_is_left(width: int, sentences: int, windows: list[int]):
    source = source_of(" ".join(f"Sam{i} ate." for i in range(sentences)))
    tree = checked(source, (await WindowBuilder(Concat(), chunk_words=1, width=width).build(source)).tree)
    assert [len(below) for below in leaves_of(tree)[tree.leaves :]] == windows


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


def windows(tree: RetrievalTree, widest: int) -> set[tuple[int, int]]:
    return {(int(start), int(start + beyond + 1)) for start, beyond in np.argwhere(windows_along(tree, widest))}


def test_windows_of_a_flat_tree_are_runs_of_siblings_and_two_subtrees_that_touch() -> None:
    tree = small_tree(6, (0, 1, 2), (3, 4, 5), (6, 7))
    runs = {(a, b) for low in (0, 3) for a in range(low, low + 3) for b in range(a + 1, low + 4)}
    touching = {(2, 4), (0, 4), (2, 6), (0, 6)}
    assert windows(tree, 6) == runs | touching
    assert windows(tree, 3) == runs | {(2, 4)}


_THREE = source_of("Ann ate. Bob bit. Cid cut.\n\nDan dug.\n\nEva ebbed. Flo fed.")


class _Initials:
    """A summariser whose text says what it was given."""

    version = "initials"

    async def summarise(self, texts: Sequence[str], *, words: int) -> Summary:
        return Summary("+".join(text[0] for text in texts))


class _Noted:
    """The rules, keeping what they are asked."""

    version = "noted"

    def __init__(self) -> None:
        self.asked: list[tuple[tuple[str, ...], Unit]] = []

    def parse_units(self, texts: Sequence[str], kind: Unit) -> RstTree:
        self.asked.append((tuple(texts), kind))
        return RuleParser().parse_units(texts, kind)


@given(sources)
async def test_it_is_one_binary_tree_over_all_sentences(source: Source):
    for text in (Concat(), Tau(ExtractiveSummariser(), tau=4, words=4)):
        tree = checked(source, (await DiscourseBuilder(RuleParser(), text).build(source)).tree)
        assert len(tree.nodes) == 2 * tree.leaves - 1


async def test_each_paragraphs_tree_stands_where_the_documents_tree_had_a_leaf():
    tree = checked(_THREE, (await DiscourseBuilder(RightBranchingUnits(), Concat()).build(_THREE)).tree)
    assert below(tree) == {(1, 2), (0, 1, 2), (4, 5), (3, 4, 5), (0, 1, 2, 3, 4, 5)}


async def test_the_second_parse_is_over_the_texts_of_the_paragraphs_roots():
    parser = _Noted()
    await DiscourseBuilder(parser, Tau(_Initials(), tau=5)).build(_THREE)
    assert parser.asked == [
        (("Ann ate.", "Bob bit.", "Cid cut."), "sentence"),
        (("Eva ebbed.", "Flo fed."), "sentence"),
        (("A+B", "Dan dug.", "Eva ebbed. Flo fed."), "paragraph"),
    ]


@pytest.mark.parametrize(("tau", "text"), [(4, "A+B"), (5, "Ann ate. Bob bit.")])
async def test_texts_of_exactly_tau_words_are_summarised_and_of_one_less_put_together(tau: int, text: str):
    source = source_of("Ann ate. Bob bit.")
    tree = (await DiscourseBuilder(RuleParser(), Tau(_Initials(), tau=tau)).build(source)).tree
    assert tree.nodes[-1].text == text


_TEXT = "Opening line.\n\n# Metals\n\nIron rusts. It is wet.\n\nGold shines.\n\n## Rings\n\nRings last.\n\n# End"


async def test_sections_stand_over_their_heading_paragraphs_and_subsections():
    source = source_of(_TEXT)
    tree = checked(source, (await ParagraphBuilder(Concat()).build(source)).tree)
    assert below(tree) == {(2, 3), (5, 6), (1, 2, 3, 4, 5, 6), (0, 1, 2, 3, 4, 5, 6, 7)}
    headings = {leaves_of(tree)[i]: n.heading for i, n in enumerate(tree.nodes) if n.heading}
    assert headings == {(1, 2, 3, 4, 5, 6): "Metals", (5, 6): "Rings"}
