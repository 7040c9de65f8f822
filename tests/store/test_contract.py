"""What every store does, whatever it is made of."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from itertools import product
from threading import Event, Thread
from time import sleep
from typing import Any

import numpy as np
import pytest

from discorag.store.base import ShardStore
from discorag.store.protocol import SearchQuery, Store
from discorag.store.shard import BATCH, Shard
from discorag.types.document import Scope
from discorag.types.errors import NotFoundError
from tests.store.conftest import Place
from tests.store.samples import SCOPE, Sample, assert_whole, everything, sample, unit

ABSENT = "00000000-0000-0000-0000-000000000000"


class TestRoundTrip:
    def test_document_chunks_and_trees_come_back_equal(self, store: ShardStore) -> None:
        piece = sample(
            "a.md", ["First things first.", "第二段：网络安全很重要。🙂👍🏽 é", "x", 'Quote " and \\ \u2028 end']
        )
        piece.put_in(store)
        assert_whole(store, piece)

    def test_offsets_are_exact_after_the_round_trip(self, store: ShardStore) -> None:
        piece = sample("a.md", ["🙂 emoji first", "中文和 👩‍👩‍👧 family", "e\u0301 decomposed"])
        piece.put_in(store)
        text = store.document(SCOPE, piece.doc_id).text
        for chunk in store.chunks_of(SCOPE, piece.doc_id):
            assert text[chunk.span.start : chunk.span.end] == chunk.text
            assert chunk.tree is not None
            assert "".join(edu.of(text) for edu in chunk.tree.edus) == chunk.text

    def test_more_chunks_than_a_batch_or_page_come_back_in_order(self, store: ShardStore) -> None:
        piece = sample("long.md", [f"part {i}" for i in range(4 * BATCH + 3)])
        piece.put_in(store)
        assert [c.order for c in store.chunks_of(SCOPE, piece.doc_id)] == list(range(4 * BATCH + 3))

    def test_chunks_come_in_the_order_asked_for(self, store: ShardStore) -> None:
        piece = sample("a.md", ["one", "two", "three"])
        piece.put_in(store)
        wanted = [piece.ids[2], piece.ids[0], piece.ids[2]]
        assert [c.id for c in store.chunks(SCOPE, wanted)] == wanted
        assert store.chunks(SCOPE, []) == []

    def test_vectors_come_in_the_order_asked_for_and_to_their_owner_only(self, store: ShardStore) -> None:
        piece = sample("a.md", ["one", "two", "three"])
        piece.put_in(store)
        found = store.vectors(SCOPE, [piece.ids[2], piece.ids[0]])
        assert np.allclose(found, piece.vectors[[2, 0]], atol=1e-6)
        with pytest.raises(NotFoundError):
            store.vectors(Scope(tenant="another"), [piece.ids[0]])

    def test_manifests_are_listed_by_uri(self, store: ShardStore) -> None:
        for uri in ("b", "c", "a"):
            sample(uri, [uri]).put_in(store)
        assert [m.uri for m in store.manifests(SCOPE)] == ["a", "b", "c"]

    def test_corpora_are_counted_by_tenant(self, store: ShardStore) -> None:
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

    def test_optimising_changes_nothing_but_speed(self, store: ShardStore) -> None:
        pieces = [sample(uri, [f"{uri} common {i}" for i in range(9)], seed=i) for i, uri in enumerate("abc")]
        for piece in pieces[:2]:
            piece.put_in(store)
        store.optimise()
        assert_only(store, SCOPE, pieces[:2])
        pieces[2].put_in(store)
        assert_only(store, SCOPE, pieces)

    def test_an_empty_store_answers_empty(self, store: ShardStore) -> None:
        assert store.manifests(SCOPE) == []
        assert everything(store) == set()
        assert store.manifest(SCOPE, ABSENT) is None
        assert store.search(SCOPE, SearchQuery(vector=unit(1, 0)[0], text="any", retrieval="hybrid")) == []


class TestReplacement:
    def test_a_new_version_takes_the_place_of_the_old(self, store: ShardStore) -> None:
        old, new = sample("a.md", ["old one", "old two", "old three"]), sample("a.md", ["new one"])
        old.put_in(store)
        new.put_in(store)
        assert_whole(store, new)
        assert everything(store) == set(new.ids)
        with pytest.raises(NotFoundError):
            store.chunks(SCOPE, old.ids[:1])

    def test_putting_the_same_again_changes_nothing(self, store: ShardStore) -> None:
        piece = sample("a.md", ["one", "two"])
        piece.put_in(store)
        piece.put_in(store)
        assert_whole(store, piece)
        assert everything(store) == set(piece.ids)

    def test_going_back_to_an_earlier_version_works(self, store: ShardStore) -> None:
        first, second = sample("a.md", ["one", "two"]), sample("a.md", ["three"])
        for piece in (first, second, first):
            piece.put_in(store)
        assert_whole(store, first)

    def test_two_documents_of_equal_content_do_not_touch_each_other(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = place.open()
        a, b = (sample(uri, ["same"], title="Same") for uri in ("a.md", "b.md"))
        assert a.manifest.fingerprint == b.manifest.fingerprint
        a.put_in(store)
        b.put_in(store)
        with monkeypatch.context() as patch:
            patch.setattr(store._nodes, "delete", broken)
            with pytest.raises(OSError, match="disk"):
                store.delete(SCOPE, a.doc_id)
        assert_only(store, SCOPE, [b])
        place.leave()
        again = place.open()
        assert_only(again, SCOPE, [b])
        if not place.owned:
            assert not again.delete(SCOPE, a.doc_id)
        assert stored_ids(again, a.ids + b.ids) == set(b.ids)

    @pytest.mark.parametrize("shard", ["_nodes", "_docs"])
    def test_a_failure_before_the_switch_leaves_the_old_document_whole(
        self, place: Place, monkeypatch: pytest.MonkeyPatch, shard: str
    ) -> None:
        store = place.open()
        old = sample("a.md", ["old one", "old two"])
        new = sample("a.md", [f"new {i}" for i in range(BATCH + 1)])
        old.put_in(store)
        with monkeypatch.context() as patch:
            fail_after(patch, getattr(store, shard), calls=1 if shard == "_nodes" else 0)
            with pytest.raises(OSError, match="disk"):
                new.put_in(store)
        assert_whole(store, old)
        assert everything(store) == set(old.ids)
        with pytest.raises(NotFoundError):
            store.chunks(SCOPE, new.ids[:1])
        place.leave()
        again = place.open()
        assert_whole(again, old)
        if not place.owned:
            old.put_in(again)
        assert stored_ids(again, old.ids + new.ids) == set(old.ids)

    def test_a_failed_put_can_be_tried_again(self, store: ShardStore, monkeypatch: pytest.MonkeyPatch) -> None:
        piece = sample("a.md", ["one", "two"])
        with monkeypatch.context() as patch:
            fail_after(patch, store._docs, calls=0)
            with pytest.raises(OSError, match="disk"):
                piece.put_in(store)
        assert store.manifests(SCOPE) == []
        assert everything(store) == set()
        piece.put_in(store)
        assert_whole(store, piece)

    def test_a_failure_after_the_switch_leaves_the_new_document_whole(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = place.open()
        old, new = sample("a.md", ["old one", "old two"]), sample("a.md", ["new one"])
        old.put_in(store)
        with monkeypatch.context() as patch:
            patch.setattr(store._nodes, "delete", broken)
            with pytest.raises(OSError, match="disk"):
                new.put_in(store)
        assert_whole(store, new)
        assert everything(store) == set(new.ids)
        place.leave()
        again = place.open()
        assert_whole(again, new)
        if not place.owned:
            new.put_in(again)
        assert stored_ids(again, old.ids + new.ids) == set(new.ids)

    def test_a_reader_sees_the_old_or_the_new_version_never_both(self, store: ShardStore) -> None:
        versions = [sample("a.md", [f"v{v} {i}" for i in range(30)], seed=v) for v in range(2)]
        versions[0].put_in(store)
        done, seen = Event(), list[tuple[str, ...]]()

        def read() -> None:
            while not done.is_set():
                seen.append(tuple(sorted(everything(store))))
                seen.append(tuple(sorted(c.id for c in store.chunks_of(SCOPE, versions[0].doc_id))))

        reader = Thread(target=read)
        reader.start()
        for i in range(1, 100):
            versions[i % 2].put_in(store)
            sleep(0.01)
            if i >= 10 and len(seen) > 10:
                break
        done.set()
        reader.join()
        assert len(seen) > 10
        assert set(seen) <= {tuple(sorted(v.ids)) for v in versions}

    def test_two_writers_of_one_document_leave_one_of_their_versions_whole(self, store: ShardStore) -> None:
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
        place.leave()
        again = place.open()
        assert_only(again, SCOPE, [kept])
        assert_unknown(again, SCOPE, gone)

    def test_a_failure_half_way_shows_nothing_of_the_document(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = place.open()
        piece = sample("a.md", ["one", "two"])
        piece.put_in(store)
        with monkeypatch.context() as patch:
            patch.setattr(store._nodes, "delete", broken)
            with pytest.raises(OSError, match="disk"):
                store.delete(SCOPE, piece.doc_id)
        assert everything(store) == set()
        place.leave()
        again = place.open()
        assert everything(again) == set()
        if not place.owned:
            assert not again.delete(SCOPE, piece.doc_id)
        assert stored_ids(again, piece.ids) == set()


class TestScopes:
    @pytest.mark.parametrize("seed", range(3))
    def test_no_method_shows_or_changes_another_scope(self, store: ShardStore, seed: int) -> None:
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

    def test_another_tenants_documents_do_not_change_bm25(self, store: ShardStore) -> None:
        piece = sample("a.md", ["alpha here", "beta here", "beta there", "gamma", "delta"])
        piece.put_in(store)
        query = SearchQuery(vector=unit(1, 1)[0], text="alpha beta", retrieval="hybrid")
        before = store.search(SCOPE, query)
        bob = Scope(tenant="bob", corpus="papers")  # were his counted, "alpha" would be the commoner word
        sample("b.md", [f"alpha {i}" for i in range(20)], scope=bob).put_in(store)
        assert store.search(SCOPE, query) == before


def broken(*_: object) -> None:
    raise OSError("disk full")


def fail_after(patch: pytest.MonkeyPatch, shard: Shard, *, calls: int) -> None:
    """Let ``calls`` upserts of a shard through, then fail."""
    left = iter(range(calls))

    def limited(real: Callable[..., None], *args: Any, **named: Any) -> None:
        if next(left, None) is None:
            raise OSError("disk full")
        real(*args, **named)

    for name in ("upsert", "upsert_where"):
        if hasattr(shard, name):
            patch.setattr(shard, name, partial(limited, getattr(shard, name)))


def stored_ids(store: ShardStore, ids: list[str]) -> set[str]:
    """Which of these chunks the shard holds, visible or not."""
    return set(store._nodes.retrieve(ids))


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
    query = SearchQuery(vector=piece.vectors[0], top_k=500, filters={"doc_id": [piece.doc_id]})
    assert store.search(scope, query) == []
    with pytest.raises(NotFoundError):
        store.document(scope, piece.doc_id)
    with pytest.raises(NotFoundError):
        store.chunks_of(scope, piece.doc_id)
    with pytest.raises(NotFoundError):
        store.chunks(scope, piece.ids[:1])
