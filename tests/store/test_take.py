"""One loop around every search: the same hits as page by page before, with ties, copies and stale hits."""

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from hypothesis import given
from hypothesis import strategies as st

from discorag.config import StoreSettings
from discorag.store.records import Hit, SearchQuery
from discorag.store.store import Store, open_store
from tests.store.samples import DIMENSION, ENCODER, SCOPE, Sample, sample, unit

T = TypeVar("T")
U = TypeVar("U")
WORDS = ["alpha", "beta", "gamma"]
FEW = unit(3, 5)
CORPORA = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=4), min_size=1, max_size=8)
"""Documents, each with the numbers of its chunks' words and vectors: few, so that scores tie and texts are the same."""


def stored(corpus: Sequence[Sequence[int]]) -> tuple[Store, list[Sample]]:
    store = open_store(StoreSettings(kind="memory"), (ENCODER, DIMENSION))
    pieces = [
        sample(f"{i:02}.md", [WORDS[w] for w in words], title="Same", vectors=FEW[words])
        for i, words in enumerate(corpus)
    ]
    for piece in pieces:
        piece.put_in(store)
    return store, pieces


def until_enough(find: Callable[[int], Sequence[T]], keep: Callable[[Sequence[T]], list[U]], wanted: int) -> list[U]:
    n = wanted
    while len(kept := keep(hits := find(n))) < wanted and len(hits) >= n:
        n *= 2
    return kept[:wanted]


def each_text_once(pieces: Sequence[Sample], hits: Sequence[Hit]) -> list[Hit]:
    """The hits of the first document of each text, of the documents that have hits."""
    found = [p for p in pieces if set(p.ids) & {hit.chunk_id for hit in hits}]
    first = {p.document.text: p for p in reversed(found)}
    return [hit for hit in hits if any(hit.chunk_id in p.ids for p in first.values())]


@given(CORPORA, st.integers(1, 6), st.sampled_from(["dense", "hybrid"]), st.integers(0, 2))
def test_the_hits_are_those_of_one_page_after_the_other(
    corpus: list[list[int]], wanted: int, retrieval: str, nearest: int
) -> None:
    store, pieces = stored(corpus)
    given = {"vector": FEW[nearest], "text": "alpha gamma", "retrieval": retrieval, "top_k": wanted}
    query = SearchQuery.model_validate(given)
    with store:
        every = store.rank(SCOPE, query, 1000)
        assert every == sorted(every, key=lambda hit: (-hit.score, hit.chunk_id))
        assert store.search(SCOPE, query) == every[:wanted]
        found = store.take(SCOPE, lambda n: store.rank(SCOPE, query, n), wanted, each_text_once=True)
        before = until_enough(lambda n: every[:n], lambda hits: each_text_once(pieces, hits), wanted)
        assert found.best == before


@given(CORPORA, st.integers(1, 6), st.randoms())
def test_stale_hits_and_copies_take_no_place(corpus: list[list[int]], wanted: int, chance: Random) -> None:
    store, pieces = stored(corpus)
    stale = sample("gone.md", WORDS * 2, vectors=FEW[[0, 1, 2, 0, 1, 2]]).ids
    ids = [*stale, *(i for piece in pieces for i in piece.ids)]
    chance.shuffle(ids)
    every = [Hit(i, 1 - rank / 100) for rank, i in enumerate(ids)]
    texts = {i: piece.document.text for piece in pieces for i in piece.ids}
    with store:
        found = store.take(SCOPE, lambda n: every[:n], wanted, each_text_once=True)
    owner = {i: piece.doc_id for piece in pieces for i in piece.ids}
    shown = {(texts[hit.chunk_id], owner[hit.chunk_id]) for hit in found.best}
    assert len(shown) == len({text for text, _ in shown})  # one document for each text
    assert found.best == sorted(found.best, key=lambda hit: -hit.score)
    chunks_of_one = {piece.document.text: len(piece.ids) for piece in pieces}
    assert len(found.best) == min(wanted, sum(chunks_of_one.values()))
