"""BM25 of nodes: the formula, over the leaves below."""

from collections import Counter
from math import log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.retrieval.index import fused
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.store.outline import Shape
from discorag.text.bm25 import Bm25, Runs, TermCounts
from discorag.text.terms import K1, B, terms
from tests.retrieval.strategies import cluster_trees

WORDS = ("pump", "valve", "rain", "42", "网络", "the")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


def defined(query: str, texts: list[str], groups: list[tuple[int, ...]]) -> list[float]:
    """BM25 as it is written down, group by group."""
    found = [Counter(terms(text)) for text in texts]
    sums = [sum((found[i] for i in group), Counter[str]()) for group in groups]
    mean = sum(counts.total() for counts in sums) / len(groups)
    scores: list[float] = []
    for counts in sums:
        norm = K1 * (1 - B + B * counts.total() / max(mean, 1e-9))
        score = 0.0
        for term in set(terms(query)):
            seen = sum(term in c for c in found)
            score += log1p((len(texts) - seen + 0.5) / (seen + 0.5)) * counts[term] * (K1 + 1) / (counts[term] + norm)
        scores.append(score)
    return scores


@given(cluster_trees(), st.data(), TEXTS)
def test_a_node_scores_as_the_leaves_below_it_read_together(
    tree: RetrievalTree, data: st.DataObject, query: str
) -> None:
    texts = [data.draw(TEXTS) for _ in range(tree.leaves)]
    scores = Bm25(TermCounts.of(texts)).scores(query, Shape.of(tree).groups)
    assert scores == pytest.approx(defined(query, texts, list(tree.leaves_of)))


def test_a_question_without_a_known_term_scores_nothing() -> None:
    bm25, groups = Bm25(TermCounts.of(["pump", "", "rain pump"])), Runs(*np.array([[0, 1], [0, 1], [2, 3]]))
    assert bm25.scores("what is the", groups).tolist() == [0, 0]
    assert bm25.scores("zebra", groups).tolist() == [0, 0]
    assert bm25.scores("rain", groups)[1] > 0


def test_fused_ranks_add_up_and_equal_scores_go_in_order() -> None:
    dense, bm25 = np.array([0.1, 0.9, 0.5]), np.array([7.0, 0.0, 0.0])
    assert fused("dense", lambda: dense, lambda: bm25) is dense
    assert fused("bm25", lambda: dense, lambda: bm25) is bm25
    both = fused("hybrid", lambda: dense, lambda: bm25)
    assert both == pytest.approx([1 / 63 + 1 / 61, 1 / 61 + 1 / 62, 1 / 62 + 1 / 63])
