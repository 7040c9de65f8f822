"""HTSIR's tree, worked by hand at the ends of sections; cuts by length, and where the theme changes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.ingest.segment.headings import build_hierarchy
from discorag.models.encoder import PackagedEncoder
from discorag.models.tokens import PackagedTokens
from discorag.retrieval.builders.base import Built, Source, Summary, Unit, encode_cut, pack, room, sentences_of
from discorag.retrieval.builders.sections import SectionBuilder, SectionSizes, theme_starts
from discorag.schema.document import Document
from discorag.schema.errors import ConfigError, Usage
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.schema.values import Span, count_words
from discorag.text.sentences import sentence_spans

ENCODER = PackagedEncoder()
_CAT = "The cat purred softly and slept beside the warm fire."
_STAR = "A telescope observes distant stars and galaxies in deep space."


class FirstSentences:
    """Joins the first sentence of each text; ``calls`` are the texts that it was given."""

    version = "first"

    def __init__(self, failure: str = "") -> None:
        self.calls: list[list[str]] = []
        self.words: set[int] = set()
        self._failure = failure

    async def summarise(self, texts: Sequence[str], *, words: int) -> Summary:
        self.calls.append(list(texts))
        self.words.add(words)
        return Summary(" ".join(sentence_spans(t)[0].of(t) for t in texts), Usage(calls=1), self._failure)


def body(words: int) -> str:
    """So many words in sentences of ten."""
    tens = [f"Alpha{i} bravo charlie delta echo foxtrot golf hotel india juliet." for i in range(words // 10)]
    rest = " ".join(["Kilo", *["lima"] * (words % 10 - 1)]) + "." if words % 10 else ""
    return " ".join([*tens, rest]).strip()


async def build(text: str, summariser: FirstSentences | None = None, sizes: SectionSizes | None = None) -> Built:
    document = Document(uri="u", title="t", text=text, media_type="text/markdown")
    builder = SectionBuilder(ENCODER, summariser or FirstSentences(), sizes)
    return await builder.build(Source(document, build_hierarchy(document)))


def shape(tree: RetrievalTree) -> list[tuple[tuple[int, ...], str]]:
    return [(node.children, node.heading) for node in tree.nodes[tree.leaves :]]


async def test_a_section_of_199_words_has_only_its_own_summary() -> None:
    built = await build("# Intro\n\n" + body(197))  # the heading is two words
    assert [count_words(n.text) for n in built.tree.nodes[:3]] == [92, 100, 7]
    assert shape(built.tree) == [((0, 1, 2), "Intro")]


async def test_a_section_of_200_words_has_groups_and_its_tail_is_one_of_its_own() -> None:
    summariser = FirstSentences()
    built = await build("# Intro\n\n" + body(198), summariser)
    leaves = [n.text for n in built.tree.nodes[: built.tree.leaves]]
    assert [count_words(text) for text in leaves] == [92, 100, 8]
    assert shape(built.tree) == [((0, 1), ""), ((2,), ""), ((3, 4), "Intro")]
    assert summariser.calls == [leaves[:2], leaves[2:], leaves]  # a section's summary is of its text


async def test_groups_never_cross_sections() -> None:
    built = await build(f"# One\n\n{body(298)}\n\n# Two\n\n{body(298)}", sizes=SectionSizes(group=3))
    assert shape(built.tree) == [
        ((0, 1, 2), ""),
        ((3,), ""),
        ((8, 9), "One"),
        ((4, 5, 6), ""),
        ((7,), ""),
        ((11, 12), "Two"),
    ]
    assert built.tree.roots == (10, 13)


@pytest.mark.parametrize("heading", ["Abstract", "ABSTRACT", "1. Abstract.", "摘 要"])
async def test_an_abstract_gets_no_summary(heading: str) -> None:
    summariser = FirstSentences()
    built = await build(f"# {heading}\n\n{body(250)}\n\n# Intro\n\n{body(20)}", summariser)
    assert shape(built.tree) == [((3,), "Intro")]
    assert built.tree.roots == (0, 1, 2, 4)
    assert len(summariser.calls) == 1


async def test_a_section_about_abstracts_is_summarised() -> None:
    built = await build(f"# Abstract interpretation\n\n{body(20)}")
    assert shape(built.tree) == [((0,), "Abstract interpretation")]


async def test_a_section_stands_above_its_subsections_and_is_told_by_their_summaries() -> None:
    summariser = FirstSentences()
    built = await build(f"# A\n\n{body(20)}\n\n## B\n\n{body(20)}\n\n## C\n\n{body(20)}", summariser)
    assert shape(built.tree) == [((1,), "B"), ((2,), "C"), ((0, 3, 4), "A")]
    assert summariser.calls[-1] == [built.tree.nodes[i].text for i in (0, 3, 4)]
    assert built.tree.roots == (5,)


async def test_a_heading_without_text_opens_the_first_chunk_below_it() -> None:
    built = await build(f"# A\n\n## B\n\n{body(20)}\n\n## C\n\n{body(20)}")
    assert [n.text.split("\n")[0] for n in built.tree.nodes[:2]] == ["# A", "## C"]
    assert shape(built.tree) == [((0,), "B"), ((1,), "C"), ((2, 3), "A")]


async def test_text_without_headings_is_cut_where_its_theme_changes() -> None:
    text = " ".join([_CAT] * 30 + [_STAR] * 30)
    built = await build(text, sizes=SectionSizes(theme_words=300))
    roots = [built.tree.nodes[i] for i in built.tree.roots]
    assert len(roots) == 2
    assert [text[r.spans[0].start : r.spans[-1].end] for r in roots] == [" ".join([_CAT] * 30), " ".join([_STAR] * 30)]
    assert [n.children for n in built.tree.nodes if n.layer == 1] == [(0, 1, 2), (3, 4, 5)]  # three chunks, r = 4


async def test_cost_and_failures_of_all_summaries_are_told() -> None:
    summariser = FirstSentences(failure="OutputTruncatedError: cut")
    built = await build("# Intro\n\n" + body(198), summariser, SectionSizes(summary_words=70))
    assert built.usage.calls == 3
    assert built.failures == ("OutputTruncatedError: cut",) * 3
    assert summariser.words == {70}


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 260)), min_size=1, max_size=6), st.integers(1, 5))
async def test_every_tree_holds_the_whole_text_in_its_leaves(parts: list[tuple[int, int]], group: int) -> None:
    text = "\n\n".join(f"{'#' * level} Head\n\n{body(words)}" if level else body(words) for level, words in parts)
    if not text.strip():
        return
    built = await build(text, sizes=SectionSizes(group=group, theme_words=150, theme_group=group))
    tree = built.tree
    leaves = tree.nodes[: tree.leaves]
    assert [n.text for n in leaves] == [n.spans[0].of(text) for n in leaves]
    assert "".join("".join(n.text for n in leaves).split()) == "".join(text.split())
    assert all(len(node) == 1 for i, node in enumerate(tree.parents) if i not in tree.roots)


def test_a_size_below_one_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="theme_group"):
        SectionSizes(theme_group=0)


def test_the_version_changes_with_the_sizes() -> None:
    versions = {SectionBuilder(ENCODER, FirstSentences(), SectionSizes(group=r)).version for r in (2, 3)}
    assert len(versions) == 2


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


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 60))
def test_chunks_hold_every_sentence_in_order_and_none_could_take_one_more(words: list[int], limit: int) -> None:
    chunks = pack(sized(*words), tokens=limit)
    assert [unit for chunk in chunks for unit in chunk] == sized(*words)
    found = sizes(chunks)
    assert all(len(chunk) == 1 or sum(chunk) <= limit for chunk in found)
    assert all(sum(a) + b[0] > limit for a, b in pairwise(found))


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
