"""RAPTOR's tree: what is alike is found wherever it stands, and every document ends in a valid tree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.ingest.segment.headings import build_hierarchy
from discorag.models.encoder import PackagedEncoder
from discorag.retrieval.builders.base import Built, Source
from discorag.retrieval.builders.clusters import ClusterBuilder, ClusterSizes, _mixture, clusters_of
from discorag.retrieval.builders.summaries import Summary
from discorag.schema.document import Document
from discorag.schema.errors import Usage
from discorag.schema.values import Vectors
from discorag.text.sentences import sentence_spans

ENCODER = PackagedEncoder()
_TOPICS = (
    ("The {} cat", "purred", "meowed", "licked its paws", "chased a mouse", "and its kittens slept on the sofa."),
    ("The {} telescope", "observed", "photographed", "measured", "revealed", "distant galaxies and stars in space."),
    ("The {} baker", "kneaded", "floured", "baked", "sold", "loaves of sourdough bread in the oven."),
)
_WORDS = ("old", "grey", "small", "great", "quiet", "famous", "young", "new", "strange", "third", "last", "proud")


class FirstSentences:
    """Joins the first sentences of the texts, as far as the wanted words reach."""

    version = "first"

    async def summarise(self, texts: Sequence[str], *, words: int) -> Summary:
        text = " ".join(sentence_spans(t)[0].of(t) for t in texts)
        return Summary(" ".join(text.split()[:words]), Usage(calls=1), "told")


def topic_sentences(topic: int) -> list[str]:
    start, *verbs, end = _TOPICS[topic]
    return [f"{start.format(word)} {verb} {end}" for word in _WORDS[:6] for verb in verbs]


async def build(text: str, sizes: ClusterSizes | None = None) -> Built:
    document = Document(uri="u", title="t", text=text)
    builder = ClusterBuilder(ENCODER, FirstSentences(), sizes)
    return await builder.build(Source(document, build_hierarchy(document)))


def topics_of(vectors_per_topic: int, seed: int = 0) -> Vectors:
    """Three topics in turns."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(3, 64))
    points = centres[np.arange(3 * vectors_per_topic) % 3] + 0.3 * rng.normal(size=(3 * vectors_per_topic, 64))
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True), dtype=np.float32)


async def test_three_topics_told_in_turns_are_found() -> None:
    text = " ".join(chain.from_iterable(zip(*map(topic_sentences, range(3)), strict=True)))
    built = await build(text, ClusterSizes(chunk_tokens=20))  # a sentence each
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
    clusters = _mixture(np.vstack([left, right, np.zeros((1, 2))]), ClusterSizes(threshold=0.001))
    assert [120 in members for members in clusters] == [True, True]
    assert [members[:3].tolist() for members in sorted(clusters, key=lambda c: int(c[0]))] == [[0, 1, 2], [60, 61, 62]]


def test_a_cluster_that_the_summariser_cannot_take_is_clustered_again() -> None:
    clusters = clusters_of(topics_of(20), [100] * 60, ClusterSizes(cluster_tokens=500))
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
    built = await build(" ".join(topic_sentences(0)[:chunks]), ClusterSizes(chunk_tokens=5))
    assert built.tree.leaves == chunks
    assert len(built.tree.roots) == 1
    assert built.usage.calls == len(built.failures) == (1 if chunks > 1 else 0)
