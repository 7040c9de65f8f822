"""Flat baselines: every sentence once, no inner nodes."""

import pytest
from hypothesis import given

from discorag.retrieval.builder import Source
from discorag.retrieval.builders.flat import FlatChunkBuilder, FlatSentenceBuilder
from discorag.retrieval.builders.leaves import chunk_leaves, paragraph_leaves
from discorag.schema.errors import EmptyDocumentError
from discorag.schema.hierarchy import Kind
from tests.retrieval.builders.checks import source_of, sources

_SIX = "One two three. Four five six. Seven eight nine ten."


def _chunks(text: str, words: int) -> list[str]:
    return [leaf.text for leaf in chunk_leaves(source_of(text), words)]


@given(sources)
async def test_flat_sentences_are_the_sentences_and_nothing_else(source: Source):
    tree = (await FlatSentenceBuilder().build(source)).tree
    assert tree.leaves == len(tree.nodes)
    assert [n.spans[0] for n in tree.nodes] == [n.span for _, n in source.hierarchy.of_kind(Kind.SENTENCE)]
    assert all(n.text == n.spans[0].of(source.document.text) for n in tree.nodes)


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


def test_chinese_characters_are_words():
    assert _chunks("铁会生锈。金不会。", 6) == ["铁会生锈。", "金不会。"]


def test_paragraphs_are_ranges_of_sentence_leaves():
    assert paragraph_leaves(source_of("# T\n\nAnn bit. Cid dug.\n\nEva fed.")) == [range(1), range(1, 3), range(3, 4)]


async def test_a_blank_document_is_refused():
    with pytest.raises(EmptyDocumentError, match=r"d\.md holds no sentence"):
        await FlatSentenceBuilder().build(source_of(" \n"))
