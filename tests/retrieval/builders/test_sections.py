"""HTSIR's and RAPTOR's trees: by hand at the ends of sections, by theme, by likeness wherever a text stands."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.ingest.segment.headings import build_hierarchy
from discorag.models.encoder import PackagedEncoder
from discorag.retrieval.builders.base import Built, Source
from discorag.retrieval.builders.clusters import ClusterBuilder, ClusterSizes, clusters_of, find_soft_clusters
from discorag.retrieval.builders.sections import SectionBuilder, SectionSizes, theme_starts
from discorag.retrieval.builders.summaries import Summary
from discorag.schema.document import Document, Markup
from discorag.schema.errors import Usage
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.schema.values import count_words
from discorag.text.sentences import sentence_spans

ENCODER = PackagedEncoder()
_CAT = "The cat purred softly and slept beside the warm fire."
_STAR = "A telescope observes distant stars and galaxies in deep space."


class FirstSentences:
    """Joins the first sentences of the texts, as far as the words reach; ``calls`` are the texts that it was given."""

    version = "first"

    def __init__(self, failure: str = "") -> None:
        self.calls: list[list[str]] = []
        self._failure = failure

    async def summarise(self, texts: Sequence[str], *, words: int) -> Summary:
        self.calls.append(list(texts))
        text = " ".join(sentence_spans(t)[0].of(t) for t in texts)
        return Summary(" ".join(text.split()[:words]), Usage(calls=1), self._failure)


def body(words: int) -> str:
    """So many words in sentences of ten."""
    tens = [f"Alpha{i} bravo charlie delta echo foxtrot golf hotel india juliet." for i in range(words // 10)]
    rest = " ".join(["Kilo", *["lima"] * (words % 10 - 1)]) + "." if words % 10 else ""
    return " ".join([*tens, rest]).strip()


async def build(text: str, summariser: FirstSentences | None = None, sizes: SectionSizes | None = None) -> Built:
    document = Document(uri="u", title="t", text=text, markup=Markup.INLINE)
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


def test_themes_start_where_the_vectors_change() -> None:
    axes = np.eye(3, dtype=np.float32)
    vectors = np.repeat(axes, [10, 6, 12], axis=0)
    assert theme_starts(vectors, [10] * 28, target=100) == [0, 10, 16]


_TOPICS = (
    ("The {} cat", "purred", "meowed", "licked its paws", "chased a mouse", "and its kittens slept on the sofa."),
    ("The {} telescope", "observed", "photographed", "measured", "revealed", "distant galaxies and stars in space."),
    ("The {} baker", "kneaded", "floured", "baked", "sold", "loaves of sourdough bread in the oven."),
)
_WORDS = ("old", "grey", "small", "great", "quiet", "famous", "young", "new", "strange", "third", "last", "proud")


def topic_sentences(topic: int) -> list[str]:
    start, *verbs, end = _TOPICS[topic]
    return [f"{start.format(word)} {verb} {end}" for word in _WORDS[:6] for verb in verbs]


async def clustered(text: str, sizes: ClusterSizes | None = None) -> Built:
    document = Document(uri="u", title="t", text=text)
    builder = ClusterBuilder(ENCODER, FirstSentences("told"), sizes)
    return await builder.build(Source(document, build_hierarchy(document)))


async def test_three_topics_told_in_turns_are_found() -> None:
    text = " ".join(chain.from_iterable(zip(*map(topic_sentences, range(3)), strict=True)))
    built = await clustered(text, ClusterSizes(chunk_tokens=20))  # a sentence each
    tree = built.tree
    assert tree.leaves == 72
    first = [node for node in tree.nodes if node.layer == 1]
    assert len(first) >= 3
    assert all(len({child % 3 for child in node.children}) == 1 for node in first)
    assert {node.children[0] % 3 for node in first} == {0, 1, 2}
    assert len(tree.roots) == 1


def test_a_point_between_two_clusters_is_in_both_and_others_are_in_one() -> None:
    rng = np.random.default_rng(0)
    left, right = (rng.normal(scale=0.5, size=(60, 2)) + np.array([x, 0.0]) for x in (-2.0, 2.0))
    clusters = find_soft_clusters(np.vstack([left, right, np.zeros((1, 2))]), ClusterSizes(threshold=0.001))
    assert [120 in members for members in clusters] == [True, True]
    assert [members[:3].tolist() for members in sorted(clusters, key=lambda c: int(c[0]))] == [[0, 1, 2], [60, 61, 62]]


def test_a_cluster_that_the_summariser_cannot_take_is_clustered_again() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(3, 64))[np.arange(60) % 3] + 0.3 * rng.normal(size=(60, 64))  # three topics in turns
    vectors = np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True), dtype=np.float32)
    clusters = clusters_of(vectors, [100] * 60, ClusterSizes(cluster_tokens=500))
    assert max(map(len, clusters)) <= 5
    assert {m for members in clusters for m in members} == set(range(60))


@given(st.integers(1, 45), st.integers(1, 12), st.integers(1, 400), st.integers(0, 3))
def test_clustering_ends_and_leaves_nothing_out_however_few_the_different_texts(
    count: int, different: int, budget: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(different, 16))[rng.integers(0, different, count)].astype(np.float32)
    tokens = rng.integers(1, 200, count).tolist()
    clusters = clusters_of(vectors, tokens, ClusterSizes(cluster_tokens=budget))
    assert {m for members in clusters for m in members} == set(range(count))
    assert len(set(clusters)) == len(clusters)
    assert all(len(members) == 1 or sum(tokens[m] for m in members) <= budget for members in clusters)


@pytest.mark.parametrize("chunks", [1, 2, 3])
async def test_a_document_of_a_few_chunks_has_one_root(chunks: int) -> None:
    built = await clustered(" ".join(topic_sentences(0)[:chunks]), ClusterSizes(chunk_tokens=5))
    assert built.tree.leaves == chunks
    assert len(built.tree.roots) == 1
    assert built.usage.calls == len(built.failures) == (1 if chunks > 1 else 0)
