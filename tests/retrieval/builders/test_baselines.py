"""The papers' baselines: flat trees, chunks, halves of halves, windows; and node texts that need no parser."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.models.tokens import PackagedTokens
from discorag.retrieval.builders.base import Source, chunk_leaves, units_of
from discorag.retrieval.builders.baselines import BisectionBuilder, WindowBuilder
from discorag.retrieval.builders.node_text import Concat
from tests.retrieval.builders.checks import checked, source_of, sources


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


_FIVE = source_of("Ann ate. Bob bit. Cid cut. Dan dug. Eva ebbed.")


@given(sources)
async def test_bisection_is_a_binary_tree_of_least_depth(source: Source):
    tree = checked(source, (await BisectionBuilder(Concat()).build(source)).tree)
    assert len(tree.nodes) == 2 * tree.leaves - 1
    assert tree.nodes[-1].layer == math.ceil(math.log2(tree.leaves))
    assert not any(node.relation for node in tree.nodes)


async def test_concatenated_text_is_cut_after_the_limit_and_not_before():
    tree = (await BisectionBuilder(Concat(words=10)).build(_FIVE)).tree
    assert tree.nodes[-1].text == "Ann ate. Bob bit. Cid cut. Dan dug. Eva ebbed."
    tree = (await BisectionBuilder(Concat(words=9)).build(_FIVE)).tree
    assert tree.nodes[-1].text == "Ann ate. Bob bit. Cid cut. Dan dug. Eva"


async def test_text_without_white_space_is_cut_too():
    source = source_of("\n\n".join("ACGT" * 5000 for _ in range(64)))
    tree = checked(source, (await BisectionBuilder(Concat()).build(source)).tree)
    assert max(len(node.text) for node in tree.nodes[tree.leaves :]) <= 256 * 8


@pytest.mark.parametrize(
    ("sentences", "windows"), [(7, [7]), (8, [7, 8]), (9, [7, 2, 9]), (50, [7, 7, 7, 7, 7, 7, 7, 49, 50])]
)
async def test_windows_of_seven_are_joined_until_one_is_left(sentences: int, windows: list[int]):
    source = source_of(" ".join(f"Sam{i} ate." for i in range(sentences)))
    tree = checked(source, (await WindowBuilder(Concat(), chunk_words=1).build(source)).tree)
    assert [len(tree.leaves_of[i]) for i in range(tree.leaves, len(tree.nodes))] == windows
