"""The papers' baselines: flat trees, halves of halves, windows; and node texts that need no parser."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

from discorag.retrieval.builders.base import Source, chunk_leaves, paragraph_leaves
from discorag.retrieval.builders.baselines import BisectionBuilder, FlatChunkBuilder, FlatSentenceBuilder, WindowBuilder
from discorag.retrieval.builders.node_text import Concat
from discorag.schema.document import Kind
from discorag.schema.errors import ConfigError, EmptyDocumentError
from tests.retrieval.builders.checks import below, checked, source_of, sources

_SIX = "One two three. Four five six. Seven eight nine ten."


def _chunks(text: str, words: int) -> list[str]:
    return [leaf.text for leaf in chunk_leaves(source_of(text), words)]


@given(sources)
async def test_chunks_hold_every_sentence_once_and_are_slices(source: Source):
    tree = (await FlatChunkBuilder(words=5).build(source)).tree
    sentences = [n.span for _, n in source.hierarchy.of_kind(Kind.SENTENCE)]
    held = [s for n in tree.nodes for s in sentences if n.spans[0].contains(s)]
    assert held == sentences
    assert all(n.text == n.spans[0].of(source.document.text) for n in tree.nodes)


def test_a_chunk_may_have_exactly_its_limit_in_words():
    assert _chunks(_SIX, 6) == ["One two three. Four five six.", "Seven eight nine ten."]
    assert _chunks(_SIX, 5) == ["One two three.", "Four five six.", "Seven eight nine ten."]


def test_a_sentence_longer_than_a_chunk_is_a_chunk_alone():
    assert _chunks(f"Ann bit. {_SIX}", 3)[-1] == "Seven eight nine ten."
    assert len(_chunks(f"Ann bit. {_SIX}", 3)) == 4


def test_paragraphs_are_ranges_of_sentence_leaves():
    assert paragraph_leaves(source_of("# T\n\nAnn bit. Cid dug.\n\nEva fed.")) == [range(1), range(1, 3), range(3, 4)]


async def test_a_blank_document_is_refused():
    with pytest.raises(EmptyDocumentError, match=r"d\.md holds no sentence"):
        await FlatSentenceBuilder().build(source_of(" \n"))


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


def test_windows_that_would_never_end_are_refused():
    with pytest.raises(ConfigError, match="Windows of 1"):
        WindowBuilder(Concat(), size=1)


async def test_leaves_under_windows_are_chunks():
    tree = (await WindowBuilder(Concat(), size=2, chunk_words=4).build(_FIVE)).tree
    texts = ["Ann ate. Bob bit.", "Cid cut. Dan dug.", "Eva ebbed."]
    assert [n.text for n in tree.nodes] == [*texts, " ".join(texts[:2]), " ".join(texts)]
