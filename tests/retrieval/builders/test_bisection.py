"""Bisection and windows: balanced, contiguous, one root; and the node texts that need no parser."""

import math

import pytest
from hypothesis import given

from discorag.retrieval.builder import Source
from discorag.retrieval.builders.bisection import BisectionBuilder
from discorag.retrieval.builders.node_text import Concat
from discorag.retrieval.builders.windows import WindowBuilder
from discorag.schema.errors import ConfigError
from tests.retrieval.builders.checks import below, checked, source_of, sources

_FIVE = source_of("Ann ate. Bob bit. Cid cut. Dan dug. Eva ebbed.")


@given(sources)
async def test_bisection_is_a_binary_tree_of_least_depth(source: Source):
    tree = checked(source, (await BisectionBuilder(Concat()).build(source)).tree)
    assert len(tree.nodes) == 2 * tree.leaves - 1
    assert tree.nodes[-1].layer == math.ceil(math.log2(tree.leaves))
    assert not any(node.relation for node in tree.nodes)


async def test_bisection_joins_neighbouring_halves():
    tree = (await BisectionBuilder(Concat()).build(_FIVE)).tree
    assert below(tree) == {(0, 1), (0, 1, 2), (3, 4), (0, 1, 2, 3, 4)}


async def test_concatenated_text_is_all_below_in_text_order():
    tree = (await BisectionBuilder(Concat()).build(_FIVE)).tree
    assert tree.nodes[-1].text == "Ann ate. Bob bit. Cid cut. Dan dug. Eva ebbed."


async def test_concatenated_text_is_cut_after_the_limit_and_not_before():
    tree = (await BisectionBuilder(Concat(words=10)).build(_FIVE)).tree
    assert tree.nodes[-1].text == "Ann ate. Bob bit. Cid cut. Dan dug. Eva ebbed."
    tree = (await BisectionBuilder(Concat(words=9)).build(_FIVE)).tree
    assert tree.nodes[-1].text == "Ann ate. Bob bit. Cid cut. Dan dug. Eva"


async def test_text_without_white_space_is_cut_too():
    source = source_of("\n\n".join("ACGT" * 5000 for _ in range(64)))
    tree = checked(source, (await BisectionBuilder(Concat()).build(source)).tree)
    assert max(len(node.text) for node in tree.nodes[tree.leaves :]) <= 256 * 8


async def test_one_sentence_is_a_tree():
    source = source_of("Alone.")
    for builder in (BisectionBuilder(Concat()), WindowBuilder(Concat())):
        tree = checked(source, (await builder.build(source)).tree)
        assert [node.text for node in tree.nodes] == ["Alone."]


@given(sources)
async def test_windows_over_sentences_are_one_tree(source: Source):
    checked(source, (await WindowBuilder(Concat(), size=3, chunk_words=1).build(source)).tree)


@pytest.mark.parametrize(
    ("sentences", "windows"), [(7, [7]), (8, [7, 8]), (9, [7, 2, 9]), (50, [7, 7, 7, 7, 7, 7, 7, 49, 50])]
)
async def test_windows_of_seven_are_joined_until_one_is_left(sentences: int, windows: list[int]):
    source = source_of(" ".join(f"Sam{i} ate." for i in range(sentences)))
    tree = checked(source, (await WindowBuilder(Concat(), chunk_words=1).build(source)).tree)
    assert [len(tree.leaves_of[i]) for i in range(tree.leaves, len(tree.nodes))] == windows


def test_windows_that_would_never_end_are_refused():
    with pytest.raises(ConfigError, match="Windows of 1"):
        WindowBuilder(Concat(), size=1)


async def test_leaves_under_windows_are_chunks():
    tree = (await WindowBuilder(Concat(), size=2, chunk_words=4).build(_FIVE)).tree
    texts = ["Ann ate. Bob bit.", "Cid cut. Dan dug.", "Eva ebbed."]
    assert [n.text for n in tree.nodes] == [*texts, " ".join(texts[:2]), " ".join(texts)]
