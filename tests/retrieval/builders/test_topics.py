"""Cuts between sentences: by length, and where the theme changes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discorag.ingest.segment.headings import build_hierarchy
from discorag.models.encoder import PackagedEncoder
from discorag.models.tokens import PackagedTokens
from discorag.retrieval.builders.topics import Unit, encode_cut, pack, room, sentences_of, span_of, theme_starts
from discorag.schema.document import Document
from discorag.schema.span import Span
from discorag.schema.words import count_words

TOKENS = PackagedTokens()


def units(text: str) -> list[Unit]:
    document = Document(uri="u", title="t", text=text, media_type="text/markdown")
    return sentences_of(text, build_hierarchy(document), TOKENS)


def sized(*words: int) -> list[Unit]:
    return [Unit(Span(start=i, end=i + 1), w, w, 0, heading=False) for i, w in enumerate(words)]


def sizes(chunks: list[list[Unit]]) -> list[list[int]]:
    return [[unit.words for unit in chunk] for chunk in chunks]


def test_a_sentence_that_exceeds_the_limit_goes_whole_into_the_next_chunk() -> None:
    assert sizes(pack(sized(60, 40, 1, 250, 99, 2), tokens=1000, words=100)) == [[60, 40], [1], [250], [99], [2]]


def test_the_limit_in_tokens_holds_beside_that_in_words() -> None:
    assert sizes(pack(sized(30, 30, 30), tokens=60, words=100)) == [[30, 30], [30]]


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 60))
def test_chunks_hold_every_sentence_in_order_and_none_could_take_one_more(words: list[int], limit: int) -> None:
    chunks = pack(sized(*words), tokens=limit)
    assert [unit for chunk in chunks for unit in chunk] == sized(*words)
    found = sizes(chunks)
    assert all(len(chunk) == 1 or sum(chunk) <= limit for chunk in found)
    assert all(sum(a) + b[0] > limit for a, b in pairwise(found))


def test_words_are_counted_in_english_and_chinese() -> None:
    assert count_words("one two-three 4\nfive.") == 4
    assert count_words("今天 OK 天气") == 5


def test_units_know_their_section_and_whether_they_are_its_heading() -> None:
    found = units("Before.\n\n# One\n\nFirst. Second.\n\n## Two\n\nThird.")
    assert [(u.section > 0, u.heading) for u in found] == [
        (False, False),
        (True, True),
        (True, False),
        (True, False),
        (True, True),
        (True, False),
    ]
    assert found[1].section == found[3].section != found[5].section


def test_a_sentence_longer_than_the_window_comes_in_pieces_that_fit_and_lose_nothing() -> None:
    text = " ".join(f"word{i}" for i in range(400))
    found = units(text)
    pieces = [u.span.of(text) for u in found]
    assert len(found) > 1
    assert "".join(pieces).replace(" ", "") == text.replace(" ", "")
    assert max(TOKENS.counts(pieces)) <= TOKENS.max_tokens


async def test_a_text_longer_than_the_window_is_embedded_as_far_as_it_is_seen() -> None:
    encoder = PackagedEncoder()
    text = "cats and dogs " * 200
    vectors = await encode_cut(encoder, [text, "cats"])
    assert vectors.shape == (2, 384)
    assert room(TOKENS) == 254


def test_themes_start_where_the_vectors_change() -> None:
    axes = np.eye(3, dtype=np.float32)
    vectors = np.repeat(axes, [10, 6, 12], axis=0)
    assert theme_starts(vectors, [10] * 28, target=100) == [0, 10, 16]


def test_themes_of_a_text_all_of_one_kind_have_about_the_wanted_length() -> None:
    vectors = np.ones((50, 1), dtype=np.float32)
    starts = theme_starts(vectors, [20] * 50, target=200)
    assert np.diff([*starts, 50]).tolist() == [10] * 5


@given(st.lists(st.integers(1, 500), min_size=1, max_size=40), st.integers(1, 300))
def test_no_theme_of_several_sentences_is_twice_too_long(words: list[int], target: int) -> None:
    rng = np.random.default_rng(len(words))
    vectors = rng.normal(size=(len(words), 4)).astype(np.float32)
    starts = theme_starts(vectors, words, target=target)
    assert starts[0] == 0
    assert starts == sorted(set(starts))
    for a, b in zip(starts, [*starts[1:], len(words)], strict=True):
        assert b - a == 1 or sum(words[a:b]) <= 2 * target


def test_a_chunk_spans_from_its_first_sentence_to_its_last() -> None:
    assert span_of(sized(1, 1, 1)) == Span(start=0, end=3)
