"""HTSIR's tree, worked by hand at the ends of sections; cuts by length, and where the theme changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from discorag.ingest.segment.headings import build_hierarchy
from discorag.models.encoder import PackagedEncoder
from discorag.retrieval.builders.base import Built, Source
from discorag.retrieval.builders.sections import SectionBuilder, SectionSizes, theme_starts
from discorag.retrieval.builders.summaries import Summary
from discorag.schema.document import Document
from discorag.schema.errors import Usage
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.schema.values import count_words
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


async def test_a_section_stands_above_its_subsections_and_is_told_by_their_summaries() -> None:
    summariser = FirstSentences()
    built = await build(f"# A\n\n{body(20)}\n\n## B\n\n{body(20)}\n\n## C\n\n{body(20)}", summariser)
    assert shape(built.tree) == [((1,), "B"), ((2,), "C"), ((0, 3, 4), "A")]
    assert summariser.calls[-1] == [built.tree.nodes[i].text for i in (0, 3, 4)]
    assert built.tree.roots == (5,)


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


def test_themes_start_where_the_vectors_change() -> None:
    axes = np.eye(3, dtype=np.float32)
    vectors = np.repeat(axes, [10, 6, 12], axis=0)
    assert theme_starts(vectors, [10] * 28, target=100) == [0, 10, 16]
