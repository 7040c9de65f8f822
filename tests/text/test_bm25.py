"""BM25 of nodes and the terms that it counts."""

from collections import Counter
from math import log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.schema.retrieval_tree import RetrievalTree
from discorag.store.outline import TreeArrays
from discorag.text import terms as module
from discorag.text.bm25 import Runs, TermCounts
from discorag.text.terms import K1, B, sparse, sparse_query, terms
from tests.retrieval.strategies import leaves_of, retrieval_trees

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


@given(retrieval_trees(), st.data(), TEXTS)
def test_a_node_scores_as_the_leaves_below_it_read_together(
    tree: RetrievalTree, data: st.DataObject, query: str
) -> None:
    texts = [data.draw(TEXTS) for _ in range(tree.leaves)]
    scores = TermCounts.of(texts).bm25(query, TreeArrays.of(tree).groups)
    assert scores == pytest.approx(defined(query, texts, leaves_of(tree)))


def test_a_question_without_a_known_term_scores_nothing() -> None:
    counts, groups = TermCounts.of(["pump", "", "rain pump"]), Runs(*np.array([[0, 1], [0, 1], [2, 3]]))
    assert counts.bm25("what is the", groups).tolist() == [0, 0]
    assert counts.bm25("zebra", groups).tolist() == [0, 0]
    assert counts.bm25("rain", groups)[1] > 0


NEGATIONS = ("not", "no", "nor", "without", "cannot", "don't", "don’t", "isn't", "won't")
NEGATIONS_ZH = ("不", "没", "别", "不是", "没有", "无法", "并不")


@pytest.mark.parametrize("text", NEGATIONS + NEGATIONS_ZH)
def test_a_negation_is_never_removed(text: str) -> None:
    assert terms(text) == [text.replace("’", "'")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Cats were in THE garden", ["cats", "garden"]),
        ("12", ["12"]),
        ("3.5", ["3.5"]),
        ("1,000.25", ["1,000.25"]),
        ("12%", ["12"]),
        ("Ended in 2019.", ["ended", "2019"]),
        ("Python3.11", ["python3.11"]),
        ("网络安全", ["网络", "络安", "安全"]),
        ("因为，我们，但是，的", []),
        ("iPhone手机2019年", ["iphone", "手机", "2019", "年"]),
    ],
)
def test_terms_are_words_numbers_and_bigrams_without_stop_words(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_stop_words_stay_where_they_are_wanted() -> None:
    assert terms("The 猫 were", stopwords=False) == ["the", "猫", "were"]


def test_a_sparse_vector_follows_the_bm25_formula_under_ids_that_are_the_same_in_every_process() -> None:
    ids, weights = sparse("alpha alpha beta")
    norm = 1.2 * (1 - 0.75 + 0.75 * 3 / module.AVERAGE_TERMS)
    by_id = dict(zip(ids, weights, strict=True))
    (alpha,), (beta,) = sparse_query("alpha")[0], sparse_query("beta")[0]
    assert by_id == pytest.approx({alpha: 2 * 2.2 / (2 + norm), beta: 2.2 / (1 + norm)})
    assert sparse_query("alpha")[0] == [1409586120]


@given(st.text(max_size=60))
def test_sparse_ids_are_ascending_and_a_texts_own_query_covers_them(text: str) -> None:
    ids, weights = sparse(text)
    assert ids == sorted(set(ids))
    assert all(w > 0 for w in weights)
    assert sparse_query(text)[0] == ids
