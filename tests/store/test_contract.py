"""What a store does and refuses, whichever way it is searched."""

import random
from dataclasses import replace
from itertools import count, product
from threading import Event, Thread

import numpy as np
import pytest

from discorag.schema.document import Scope
from discorag.schema.errors import InvariantError, NotFoundError, StoreError
from discorag.schema.metadata import read_filters
from discorag.schema.values import Vectors
from discorag.store.records import SearchQuery
from discorag.store.store import Store
from tests.store.conftest import Place
from tests.store.samples import ABSENT, DIMENSION, ENCODER, SCOPE, Sample, assert_whole, everything, sample, unit


class TestRoundTrip:
    def test_documents_chunks_and_trees_come_back_equal_with_exact_offsets(self, store: Store) -> None:
        texts = [
            "🙂 emoji first",
            "第二段：网络安全很重要。👩‍👩‍👧 é",
            "e\u0301 decomposed",
            'Quote " and \\ \u2028 end',
            "x",
        ]
        piece = sample("a.md", texts)
        piece.put_in(store)
        assert_whole(store, piece)
        text = store.document(SCOPE, piece.doc_id).text
        for chunk in store.chunks_of(SCOPE, piece.doc_id)[:-1]:
            assert text[chunk.span.start : chunk.span.end] == chunk.text
            assert chunk.tree is not None
            assert "".join(edu.of(text) for edu in chunk.tree.edus) == chunk.text

    def test_chunks_come_in_the_order_asked_for(self, store: Store) -> None:
        piece = sample("a.md", ["one", "two", "three"])
        piece.put_in(store)
        wanted = [piece.ids[2], piece.ids[0], piece.ids[2]]
        assert [c.id for c in store.chunks(SCOPE, wanted)] == wanted
        assert store.chunks(SCOPE, []) == []

    def test_corpora_are_counted_by_tenant(self, store: Store) -> None:
        for tenant, corpus, uri in product(("ann", "bob"), ("b", "a"), ("1.md", "2.md")):
            sample(uri, ["one", "two"], scope=Scope(tenant=tenant, corpus=corpus)).put_in(store)
        bobs = sample("1.md", ["one", "two"], scope=Scope(tenant="bob", corpus="a"))
        store.delete(bobs.scope, bobs.doc_id)
        assert [(c.name, c.documents, c.chunks) for c in store.corpora("bob")] == [("a", 1, 2), ("b", 2, 4)]
        assert [c.documents for c in store.corpora("ann")] == [2, 2]
        assert store.corpora("carol") == []

    def test_everything_is_there_after_opening_again(self, place: Place) -> None:
        piece = sample("a.md", ["one", "two"], metadata={"lang": "en"})
        piece.put_in(place.open())
        place.leave()
        again = place.open()
        assert_whole(again, piece)
        assert again.manifests(SCOPE) == [piece.manifest]

    def test_an_empty_store_answers_empty(self, store: Store) -> None:
        assert store.manifests(SCOPE) == []
        assert everything(store) == set()
        assert store.manifest(SCOPE, ABSENT) is None
        assert store.search(SCOPE, SearchQuery(vector=unit(1, 0)[0], text="any", retrieval="hybrid")) == []


class TestReplacement:
    def test_a_new_version_replaces_the_old_also_if_it_is_an_earlier_or_the_same_one(self, store: Store) -> None:
        first, second = sample("a.md", ["old one", "old two", "old three"]), sample("a.md", ["new one"])
        for piece, other in ((first, second), (second, first), (second, first), (first, second)):
            piece.put_in(store)
            assert_only(store, SCOPE, [piece])
            with pytest.raises(NotFoundError):
                store.chunks(SCOPE, other.ids[:1])

    def test_two_documents_of_equal_content_do_not_touch_each_other(self, store: Store) -> None:
        a, b = (sample(uri, ["same"], title="Same") for uri in ("a.md", "b.md"))
        assert a.manifest.fingerprint == b.manifest.fingerprint
        a.put_in(store)
        b.put_in(store)
        store.delete(SCOPE, a.doc_id)
        assert_only(store, SCOPE, [b])

    def test_a_failure_half_way_leaves_the_old_document_whole(self, store: Store) -> None:
        old, new = sample("a.md", ["old one"]), sample("a.md", ["new one", "new two"])
        old.put_in(store)
        with store.database.write() as db:
            db.exec_driver_sql("CREATE UNIQUE INDEX fail ON chunks (document)")
        with pytest.raises(StoreError, match=r"fail|chunks\.document"):
            new.put_in(store)
        with store.database.write() as db:
            db.exec_driver_sql("DROP INDEX fail")
        assert_only(store, SCOPE, [old])
        new.put_in(store)
        assert_only(store, SCOPE, [new])

    def test_a_reader_sees_the_old_or_the_new_version_never_both(self, store: Store) -> None:
        versions = [sample("a.md", [f"v{v} {i}" for i in range(30)], seed=v) for v in range(2)]
        versions[0].put_in(store)
        done, seen = Event(), list[tuple[str, ...]]()

        def read() -> None:
            while not done.is_set():
                seen.append(tuple(sorted(c.id for c in store.chunks_of(SCOPE, versions[0].doc_id))))

        reader = Thread(target=read)
        reader.start()
        for i in count(1):
            versions[i % 2].put_in(store)
            if i >= 10 and len(set(seen)) == 2:
                break
        done.set()
        reader.join()
        assert set(seen) == {tuple(sorted(v.ids)) for v in versions}

    def test_two_writers_of_one_document_leave_one_of_their_versions_whole(self, store: Store) -> None:
        versions = [sample("a.md", [f"v{v} {i}" for i in range(30)], seed=v) for v in range(4)]
        writers = [Thread(target=v.put_in, args=(store,)) for v in versions]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        live = store.manifest(SCOPE, versions[0].doc_id)
        assert_whole(store, next(v for v in versions if v.manifest == live))


class TestDeletion:
    def test_a_deleted_document_leaves_nothing_also_after_opening_again(self, place: Place) -> None:
        store = place.open()
        gone, kept = sample("a.md", ["one", "two"]), sample("b.md", ["three"])
        gone.put_in(store)
        kept.put_in(store)
        assert store.delete(SCOPE, gone.doc_id)
        assert not store.delete(SCOPE, gone.doc_id)
        assert_only(store, SCOPE, [kept])
        assert_unknown(store, SCOPE, gone)
        place.leave()
        again = place.open()
        assert_only(again, SCOPE, [kept])
        assert_unknown(again, SCOPE, gone)


class TestScopes:
    @pytest.mark.parametrize("seed", range(3))
    def test_no_method_shows_or_changes_another_scope(self, store: Store, seed: int) -> None:
        rng = random.Random(seed)
        scopes = [Scope(tenant=t, corpus=c) for t, c in product(("ann", "bob"), ("x", "y"))]
        kept: dict[tuple[Scope, str], Sample] = {}
        for step in range(40):
            scope, uri = rng.choice(scopes), rng.choice("abc")
            if rng.random() < 0.3:
                gone = sample(uri, ["any"], scope=scope).doc_id
                assert store.delete(scope, gone) == (kept.pop((scope, uri), None) is not None)
            else:
                texts = [f"{uri} common {rng.randrange(9)}" for _ in range(rng.randint(1, 4))]
                kept[scope, uri] = sample(uri, texts, scope=scope, seed=step, metadata={"k": "v"})
                kept[scope, uri].put_in(store)
        for scope in scopes:
            assert_only(store, scope, [p for (s, _), p in kept.items() if s == scope])
        for piece, scope in product(kept.values(), scopes):
            if piece.scope != scope:
                assert_unknown(store, scope, piece)

    def test_another_tenants_documents_do_not_change_bm25(self, store: Store) -> None:
        piece = sample("a.md", ["alpha here", "beta here", "beta there", "gamma", "delta"])
        piece.put_in(store)
        query = SearchQuery(vector=unit(1, 1)[0], text="alpha beta", retrieval="hybrid")
        before = store.search(SCOPE, query)
        bob = Scope(tenant="bob", corpus="papers")  # were his counted, "alpha" would be the commoner word
        sample("b.md", [f"alpha {i}" for i in range(20)], scope=bob).put_in(store)
        assert store.search(SCOPE, query) == before


def assert_only(store: Store, scope: Scope, pieces: list[Sample]) -> None:
    assert [m.uri for m in store.manifests(scope)] == sorted(p.manifest.uri for p in pieces)
    ids = {i for p in pieces for i in p.ids}
    assert everything(store, scope) == ids
    query = SearchQuery(vector=unit(1, 1)[0], text="common", retrieval="hybrid", top_k=500)
    assert {h.chunk_id for h in store.search(scope, query)} == ids
    for piece in pieces:
        assert_whole(store, piece)


def assert_unknown(store: Store, scope: Scope, piece: Sample) -> None:
    assert store.manifest(scope, piece.doc_id) is None
    assert not store.delete(scope, piece.doc_id)
    query = SearchQuery(vector=piece.vectors[0], top_k=500, filters=read_filters({"doc_id": [piece.doc_id]}))
    assert store.search(scope, query) == []
    with pytest.raises(NotFoundError):
        store.document(scope, piece.doc_id)
    with pytest.raises(NotFoundError):
        store.chunks_of(scope, piece.doc_id)
    with pytest.raises(NotFoundError):
        store.chunks(scope, piece.ids[:1])


PIECE = sample("a.md", ["one", "two"])


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        (unit(1, 0), "shape"),
        (unit(2, 0)[:, :-1], "shape"),
        (unit(2, 0) * 2, "length 1"),
        (unit(2, 0) * np.float32("nan"), "length 1"),
    ],
    ids=["too few", "too short", "not of length 1", "not a number"],
)
def test_vectors_that_cannot_be_a_document_s_are_refused_and_nothing_is_stored(
    store: Store, vectors: Vectors, said: str
) -> None:
    with pytest.raises(InvariantError, match=said):
        replace(PIECE, vectors=vectors).put_in(store)
    assert store.manifests(SCOPE) == []
    assert everything(store) == set()


def test_an_unknown_id_is_not_found(store: Store) -> None:
    PIECE.put_in(store)
    for unknown in (ABSENT, "no uuid", "", PIECE.doc_id.upper()):
        with pytest.raises(NotFoundError, match="ann"):
            store.document(SCOPE, unknown)
        with pytest.raises(NotFoundError):
            store.chunks_of(SCOPE, unknown)
        with pytest.raises(NotFoundError):
            store.chunks(SCOPE, [PIECE.ids[0], unknown])
        assert not store.delete(SCOPE, unknown)


def test_another_encoder_is_refused_and_nothing_changes(place: Place) -> None:
    PIECE.put_in(place.open())
    place.leave()
    for encoder, dimension in (("other/1", DIMENSION), (ENCODER, 3)):
        with pytest.raises(StoreError, match=r"test-encoder/1.*ingest again"):
            place.open(encoder=encoder, dimension=dimension)
    assert_whole(place.open(), PIECE)
