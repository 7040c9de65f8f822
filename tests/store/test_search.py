"""What is found, and in which order."""

import math
from typing import Any, ClassVar

import numpy as np
import pytest

from discorag.schema.metadata import Value
from discorag.schema.values import Vectors
from discorag.store.records import Hit, Retrieval, SearchQuery
from discorag.store.store import Store
from discorag.text.terms import sparse, sparse_query
from tests.store.conftest import NewPlace
from tests.store.samples import SCOPE, Sample, sample, unit

WORDS = ["alpha", "beta", "gamma", "delta", "omega", "网络", "安全"]
TEXTS = [" ".join(WORDS[j] for j in range(len(WORDS)) if (i * 37 + 11) >> j & 1) or "none" for i in range(40)]
QUERY = unit(1, 77)[0]


def by_score(scores: dict[str, float]) -> list[str]:
    return sorted(scores, key=lambda i: (-scores[i], i))


def cosines(piece: Sample, query: Vectors) -> dict[str, float]:
    return dict(zip(piece.ids, (piece.vectors @ query).tolist(), strict=True))


def bm25(piece: Sample, text: str) -> dict[str, float]:
    """BM25 by hand: inverse document frequency times the stored weight, for chunks that share a term."""
    weights = {c.id: dict(zip(*sparse(c.text), strict=True)) for c in piece.chunks}
    n = len(weights)
    scores: dict[str, float] = {}
    for term in sparse_query(text)[0]:
        df = sum(term in w for w in weights.values())
        idf = math.log(1 + (n - df + 0.5) / (df + 0.5))
        for i, w in weights.items():
            if term in w:
                scores[i] = scores.get(i, 0.0) + idf * w[term]
    return scores


def test_dense_order_and_scores_are_the_cosines(store: Store) -> None:
    piece = sample("a.md", TEXTS)
    piece.put_in(store)
    hits = store.search(SCOPE, SearchQuery(vector=QUERY, top_k=15))
    expected = cosines(piece, QUERY)
    assert [h.chunk_id for h in hits] == by_score(expected)[:15]
    assert [h.score for h in hits] == pytest.approx([expected[h.chunk_id] for h in hits], abs=1e-3)


def test_hybrid_is_the_reciprocal_rank_fusion_of_both_rankings(store: Store) -> None:
    texts = [f"{t} {'filler ' * i}" for i, t in enumerate(TEXTS)]  # lengths differ, so BM25 scores do
    piece = sample("a.md", [t.strip() for t in texts])
    piece.put_in(store)
    hits = store.search(SCOPE, SearchQuery(vector=QUERY, text="alpha omega 网络", retrieval="hybrid", top_k=40))
    expected: dict[str, float] = {}
    for ranking in (by_score(cosines(piece, QUERY)), by_score(bm25(piece, "alpha omega 网络"))):
        for rank, i in enumerate(ranking, start=1):
            expected[i] = expected.get(i, 0.0) + 1 / (60 + rank)
    assert [h.chunk_id for h in hits] == by_score(expected)
    assert [h.score for h in hits] == pytest.approx([expected[h.chunk_id] for h in hits])


def test_hybrid_without_a_known_term_keeps_the_dense_order(store: Store) -> None:
    sample("a.md", TEXTS).put_in(store)
    dense = store.search(SCOPE, SearchQuery(vector=QUERY, top_k=10))
    for text in ("", "the of and", "unheardof"):
        hybrid = store.search(SCOPE, SearchQuery(vector=QUERY, text=text, retrieval="hybrid", top_k=10))
        assert [h.chunk_id for h in hybrid] == [h.chunk_id for h in dense]


@pytest.mark.parametrize("retrieval", ["dense", "hybrid"])
def test_the_order_does_not_depend_on_the_order_of_writing(new_place: NewPlace, retrieval: Retrieval) -> None:
    vectors = np.repeat(unit(2, 5), 5, axis=0)
    pieces = [sample(f"{i}.md", ["alpha beta"] * 10, vectors=vectors) for i in range(3)]
    query = SearchQuery(vector=QUERY, text="alpha", retrieval=retrieval, top_k=7)
    found: list[list[Hit]] = []
    for order in (pieces, pieces[::-1]):
        store = new_place().open()
        for piece in order:
            piece.put_in(store)
        found.append(store.search(SCOPE, query))
    assert found[0] == found[1]
    assert [h.chunk_id for h in found[0]] == [
        h.chunk_id for h in sorted(found[0], key=lambda h: (-h.score, h.chunk_id))
    ]


class TestFilters:
    ODD = 'a "key"[0].b = c'
    ZH_ID = sample("zh", ["any"]).doc_id
    CASES: ClassVar[list[tuple[dict[str, Any], set[str]]]] = [
        ({}, {"en", "zh", "odd"}),
        ({"lang": ["en"]}, {"en"}),
        ({"lang": ["en", "zh"]}, {"en", "zh"}),
        ({"lang": ["en", "zh"], "year": ["2020"]}, {"en"}),
        ({"lang": ["zh"], "year": ["2020"]}, set()),
        ({ODD: ["x = y"]}, {"odd"}),
        ({"lang": []}, set()),
        ({"missing": ["en"]}, set()),
        ({"doc_id": [ZH_ID]}, {"zh"}),
        ({"doc_id": [ZH_ID], "lang": ["en"]}, set()),
        ({"tenant": ["ann"]}, set()),
        ({"tags": ["b"]}, {"en", "odd"}),
        ({"tags": "a"}, {"en"}),
        ({"size": 2}, {"zh"}),
        ({"size": {"gt": 1, "lte": 2}}, {"en", "zh"}),
        ({"size": {"gte": 3}}, {"en"}),
        ({"size": {"gt": 2, "lt": 7}}, set()),
        ({"year": {"gte": 2020}}, {"en"}),
        ({ODD: {"lt": 0}}, {"zh"}),
        ({"day": {"gte": "2024-05-01", "lt": "2024-05-02"}}, {"en"}),
        ({"day": {"gt": "2024-05-01T08:00:00+02:00"}}, {"zh"}),
        ({"day": {"gte": "1969-01-01"}, "tags": ["b", "c"]}, {"en", "odd"}),
        ({"size": {"lt": 2}, "lang": ["zh"]}, set()),
    ]
    METADATA: ClassVar[dict[str, dict[str, Value]]] = {
        "en": {"lang": "en", "year": "2020", "tags": ["a", "b"], "size": [1.5, 7], "day": "2024-05-01T06:00:00Z"},
        "zh": {"lang": "zh", "size": 2, "day": "2024-12-31", ODD: -1},
        "odd": {ODD: "x = y", "tags": ["b"], "size": True, "day": "1969-07-20"},
    }

    @pytest.mark.parametrize("retrieval", ["dense", "hybrid"])
    def test_all_keys_must_match_one_of_their_values(self, store: Store, retrieval: Retrieval) -> None:
        for uri, metadata in self.METADATA.items():
            sample(uri, [f"text {uri} 1", f"text {uri} 2"], metadata=metadata).put_in(store)
        for filters, expected in self.CASES:
            query = SearchQuery(vector=unit(1, 1)[0], text="text", retrieval=retrieval, filters=filters)
            found = store.chunks(SCOPE, [h.chunk_id for h in store.search(SCOPE, query)])
            assert sorted(c.title for c in found) == sorted(f"Title of {uri}" for uri in expected for _ in range(2))
