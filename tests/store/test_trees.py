"""Retrieval trees beside the chunks: whole, current, and never in the way of a search for chunks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event, Thread
from time import sleep

import numpy as np
import pytest
import qdrant_edge as qe

from discorag.store.base import ShardStore
from discorag.store.edge import EdgeStore
from discorag.store.protocol import Retrieval, SearchQuery
from discorag.store.shard import NODES, Point, Where
from discorag.store.trees import node_id
from discorag.types.document import Scope
from discorag.types.errors import InputError, InvariantError, NotFoundError, StoreError
from tests.servers.qdrant import Fault, QdrantServer
from tests.store.conftest import Place, ServerPlace
from tests.store.samples import DIMENSION, ENCODER, SCOPE, Sample, TreeSample, sample, scores_of, tree_of, unit

BOB = Scope(tenant="bob", corpus="papers")
QUERY = unit(1, 77)[0]
TEXTS = [f"alpha part {i}" for i in range(6)]
PIECE = sample("a.md", TEXTS)


def put_all_but_one_tree(store: ShardStore) -> tuple[list[Sample], list[TreeSample]]:
    """Four documents, and trees of the first three."""
    pieces = [sample(f"{i}.md", TEXTS[: i + 2]) for i in range(4)]
    trees = [tree_of(piece, seed=i) for i, piece in enumerate(pieces[:3])]
    for piece in pieces:
        piece.put_in(store)
    for made in trees:
        made.put_in(store)
    return pieces, trees


def stored_nodes(store: ShardStore) -> int:
    """Nodes in the shard, visible or not."""
    return len(store._nodes.scroll(Where((("builder", ("discourse", "clusters")),)), ("builder",)))


def assert_tree(store: ShardStore, expected: TreeSample) -> None:
    """The store shows exactly this tree of its document, whichever way it is asked."""
    doc_id, builder = expected.doc_id, expected.tree.builder
    assert store.tree(SCOPE, doc_id, builder) == expected.tree
    assert store.tree_versions(SCOPE, builder)[doc_id] == expected.version
    assert store.outlines(SCOPE, builder, [doc_id])[doc_id].shape.words.tolist() == expected.tree.words.tolist()
    scores = scores_of(store, SCOPE, builder, [doc_id], QUERY)[doc_id]
    assert scores == pytest.approx(expected.vectors @ QUERY, abs=1e-5)


def assert_no_tree(store: ShardStore, doc_id: str, builder: str = "discourse") -> None:
    assert doc_id not in store.tree_versions(SCOPE, builder)
    assert scores_of(store, SCOPE, builder, [doc_id], QUERY) == {}
    with pytest.raises(NotFoundError, match="has no tree"):
        store.tree(SCOPE, doc_id, builder)


class TestRoundTrip:
    def test_a_tree_comes_back_equal_also_after_opening_again(self, place: Place) -> None:
        piece = sample("a.md", ["One: 网络安全 🙂👍🏽", 'two "q" \\ \u2028 e\u0301', "three"])
        made = tree_of(piece)
        store = place.open()
        piece.put_in(store)
        made.put_in(store)
        assert_tree(store, made)
        place.leave()
        assert_tree(place.open(), made)

    def test_trees_of_two_builders_do_not_touch_each_other(self, store: ShardStore) -> None:
        PIECE.put_in(store)
        trees = [tree_of(PIECE, builder=builder, seed=i) for i, builder in enumerate(("discourse", "clusters"))]
        for made in trees:
            made.put_in(store)
        for made in trees:
            assert_tree(store, made)
        assert store.delete_tree(SCOPE, PIECE.doc_id, "clusters")
        assert not store.delete_tree(SCOPE, PIECE.doc_id, "clusters")
        assert_tree(store, trees[0])
        assert_no_tree(store, PIECE.doc_id, "clusters")
        assert stored_nodes(store) == len(trees[0].tree.nodes)

    def test_what_was_returned_for_a_replaced_tree_is_not_returned_for_the_new_one(self, store: ShardStore) -> None:
        PIECE.put_in(store)
        for made in (tree_of(PIECE, seed=1), tree_of(PIECE, heading="Other", seed=1), tree_of(PIECE, seed=1)):
            made.put_in(store)
            assert_tree(store, made)

    def test_the_same_tree_again_changes_nothing(self, store: ShardStore) -> None:
        PIECE.put_in(store)
        made = tree_of(PIECE)
        made.put_in(store)
        made.put_in(store)
        assert_tree(store, made)
        assert stored_nodes(store) == len(made.tree.nodes)


class TestRefusal:
    def test_a_tree_of_a_document_that_is_not_stored_is_not_found(self, store: ShardStore) -> None:
        with pytest.raises(NotFoundError, match=PIECE.doc_id):
            tree_of(PIECE).put_in(store)
        assert not store.delete_tree(SCOPE, PIECE.doc_id, "discourse")

    def test_vectors_leaves_and_spans_that_do_not_fit_are_refused(self, store: ShardStore) -> None:
        PIECE.put_in(store)
        made, other = tree_of(PIECE), tree_of(sample("a.md", ["x" * 9, "y" * 500]))
        for vectors in (made.vectors[:-1], made.vectors * 2):
            with pytest.raises(InvariantError):
                store.put_tree(SCOPE, PIECE.doc_id, made.tree, vectors, version="1")
        with pytest.raises(InvariantError, match="Leaf 0"):
            store.put_tree(SCOPE, PIECE.doc_id, other.tree, other.vectors, version="1")
        assert_no_tree(store, PIECE.doc_id)
        assert stored_nodes(store) == 0

    def test_queries_that_cannot_be_searched_are_refused(self, store: ShardStore) -> None:
        with pytest.raises(InputError):
            store.search_documents(SCOPE, SearchQuery(vector=QUERY), 0)
        with pytest.raises(InvariantError, match="shape"):
            scores_of(store, SCOPE, "discourse", [PIECE.doc_id], QUERY[:3])


class TestReplacement:
    def test_another_fingerprint_takes_the_trees_away_the_same_one_keeps_them(self, store: ShardStore) -> None:
        made, changed = tree_of(PIECE), sample("a.md", ["quite new"])
        PIECE.put_in(store)
        made.put_in(store)
        PIECE.put_in(store)
        assert_tree(store, made)
        changed.put_in(store)
        assert_no_tree(store, PIECE.doc_id)
        assert stored_nodes(store) == 0
        PIECE.put_in(store)
        assert_no_tree(store, PIECE.doc_id)

    def test_a_deleted_document_leaves_no_nodes_and_takes_no_others(self, store: ShardStore) -> None:
        other = sample("b.md", TEXTS)
        kept = tree_of(other)
        for piece in (PIECE, other):
            piece.put_in(store)
            tree_of(piece).put_in(store)
        store.delete(SCOPE, PIECE.doc_id)
        assert_no_tree(store, PIECE.doc_id)
        assert_tree(store, kept)
        assert stored_nodes(store) == len(kept.tree.nodes)

    @pytest.mark.parametrize("step", ["write", "switch", "sweep"])
    def test_a_failure_shows_the_old_tree_or_the_new_one_and_leaves_nothing_for_long(
        self, place: Place, monkeypatch: pytest.MonkeyPatch, step: str
    ) -> None:
        store = place.open()
        old, new = tree_of(PIECE, seed=1), tree_of(PIECE, heading="New", seed=2)
        PIECE.put_in(store)
        old.put_in(store)
        with monkeypatch.context() as patch:
            shard = store._docs if step == "switch" else store._nodes
            patch.setattr(shard, {"write": "upsert", "switch": "set_payload", "sweep": "delete"}[step], broken)
            if step == "switch" and not place.owned:
                patch.setattr(shard, "set_payload_where", broken)
            with pytest.raises(OSError, match="disk"):
                new.put_in(store)
        expected = new if step == "sweep" else old
        assert_tree(store, expected)
        place.leave()
        again = place.open()
        assert_tree(again, expected)
        if not place.owned:
            PIECE.put_in(again)
            assert_tree(again, expected)
        assert stored_nodes(again) == len(expected.tree.nodes)

    def test_a_reader_sees_the_old_or_the_new_tree_never_both(self, store: ShardStore) -> None:
        trees = [tree_of(PIECE, seed=1), tree_of(sample("a.md", TEXTS), leaves=4, seed=2)]
        PIECE.put_in(store)
        trees[0].put_in(store)
        done, sizes, scores = Event(), list[int](), list[int]()

        def read() -> None:
            while not done.is_set():
                sizes.append(len(store.tree(SCOPE, PIECE.doc_id, "discourse").nodes))
                sizes.append(len(store.outlines(SCOPE, "discourse", [PIECE.doc_id])[PIECE.doc_id].shape.words))
                scores.append(len(scores_of(store, SCOPE, "discourse", [PIECE.doc_id], QUERY)[PIECE.doc_id]))

        reader = Thread(target=read)
        reader.start()
        for i in range(1, 100):
            trees[i % 2].put_in(store)
            sleep(0.01)
            if i >= 10 and len(scores) > 5:
                break
        done.set()
        reader.join()
        assert len(scores) > 5
        assert {*sizes, *scores} <= {len(t.tree.nodes) for t in trees}


def broken(*_: object) -> None:
    raise OSError("disk full")


class TestSearch:
    @pytest.mark.parametrize("retrieval", ["dense", "hybrid"])
    def test_chunks_are_found_as_if_there_were_no_trees(self, store: ShardStore, retrieval: Retrieval) -> None:
        PIECE.put_in(store)
        query = SearchQuery(vector=QUERY, text="alpha part 3", retrieval=retrieval, top_k=50)
        before = store.search(SCOPE, query)
        assert len(before) == len(TEXTS)
        tree_of(PIECE, seed=3).put_in(store)
        assert store.search(SCOPE, query) == before
        assert store.chunks_of(SCOPE, PIECE.doc_id) == PIECE.chunks
        store.delete_tree(SCOPE, PIECE.doc_id, "discourse")
        assert store.search(SCOPE, query) == before

    def test_trees_are_of_the_builder_and_scope_asked_for(self, store: ShardStore) -> None:
        PIECE.put_in(store)
        trees = [tree_of(PIECE), tree_of(PIECE, builder="clusters", seed=5)]
        for made in trees:
            made.put_in(store)
        for made in trees:
            assert_tree(store, made)
        assert_no_tree(store, PIECE.doc_id, "unknown")
        assert scores_of(store, BOB, "discourse", [PIECE.doc_id], QUERY) == {}
        assert store.tree_versions(BOB, "discourse") == {}
        with pytest.raises(NotFoundError):
            store.tree(BOB, PIECE.doc_id, "discourse")

    def test_filters_are_on_documents_and_their_metadata(self, store: ShardStore) -> None:
        pieces = {lang: sample(f"{lang}.md", TEXTS, metadata={"lang": lang}) for lang in ("en", "zh")}
        for piece in pieces.values():
            piece.put_in(store)
        for filters in ({"lang": ["zh"]}, {"doc_id": [pieces["zh"].doc_id]}):
            query = SearchQuery(vector=QUERY, top_k=100, filters=filters)
            assert [d for d, _ in store.search_documents(SCOPE, query, 10)] == [pieces["zh"].doc_id]

    def test_scores_come_by_document_for_those_that_have_a_tree(self, store: ShardStore) -> None:
        pieces, trees = put_all_but_one_tree(store)
        asked = [p.doc_id for p in pieces[1:]] * 2
        scores = scores_of(store, SCOPE, "discourse", asked, QUERY)
        assert set(scores) == {t.doc_id for t in trees[1:]}
        for made in trees[1:]:
            assert scores[made.doc_id].dtype == np.float32
            assert scores[made.doc_id] == pytest.approx(made.vectors @ QUERY, abs=1e-5)

    def test_documents_are_ranked_by_the_mean_of_their_chunks(self, store: ShardStore) -> None:
        pieces = [sample(f"{i}.md", TEXTS, seed=i) for i in range(5)]
        means = {p.doc_id: p.vectors.mean(axis=0) for p in pieces}
        for piece in pieces:
            piece.put_in(store)
        expected = {d: float(m @ QUERY / np.linalg.norm(m)) for d, m in means.items()}
        hits = store.search_documents(SCOPE, SearchQuery(vector=QUERY), 3)
        assert [d for d, _ in hits] == sorted(expected, key=lambda d: -expected[d])[:3]
        assert [s for _, s in hits] == pytest.approx([expected[d] for d, _ in hits], abs=1e-5)
        assert store.search_documents(BOB, SearchQuery(vector=QUERY), 3) == []


WRITE = f"""
import sys
from pathlib import Path
from discorag.store.edge import EdgeStore
from tests.store.samples import sample, tree_of
store = EdgeStore(Path(sys.argv[1]), dimension={DIMENSION}, encoder_version={ENCODER!r})
piece = sample("a.md", [f"alpha part {{i}}" for i in range(6)])
piece.put_in(store)
for i in range(1_000_000):
    tree_of(piece, leaves=2 + i % 5, seed=i).put_in(store)
    print(i, flush=True)
"""


class TestFolder:
    def test_a_tree_is_whole_after_kill_9(self, tmp_path: Path) -> None:
        for written in (1, 8):
            command = [sys.executable, "-c", WRITE, str(tmp_path)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
                assert writer.stdout is not None
                last = [int(writer.stdout.readline()) for _ in range(written)][-1]
                writer.kill()
                last = max([last, *(int(line) for line in writer.stdout if line.endswith("\n"))])
            with EdgeStore(tmp_path, dimension=DIMENSION, encoder_version=ENCODER) as store:
                nodes = len(store.tree(SCOPE, PIECE.doc_id, "discourse").nodes)
                expected = [tree_of(PIECE, leaves=2 + i % 5, seed=i) for i in (last, last + 1)]
                assert_tree(store, next(t for t in expected if len(t.tree.nodes) == nodes))
                assert stored_nodes(store) == nodes

    def test_a_folder_that_is_older_than_trees_takes_them(self, tmp_path: Path) -> None:
        with EdgeStore(tmp_path, dimension=DIMENSION, encoder_version=ENCODER) as store:
            PIECE.put_in(store)
            store._docs._shard.update(qe.UpdateOperation.delete_payload([PIECE.doc_id], ["trees"]))  # type: ignore[attr-defined]
            for shard in (store._docs, store._nodes):
                shard._shard.update(qe.UpdateOperation.delete_field_index("builder"))  # type: ignore[attr-defined]
        with EdgeStore(tmp_path, dimension=DIMENSION, encoder_version=ENCODER) as store:
            assert store.chunks_of(SCOPE, PIECE.doc_id) == PIECE.chunks
            assert_no_tree(store, PIECE.doc_id)
            made = tree_of(PIECE)
            made.put_in(store)
            assert_tree(store, made)


@pytest.fixture
def ours() -> Iterator[QdrantServer]:
    with QdrantServer() as server:
        yield server


class TestServer:
    def test_what_one_process_writes_all_others_see_at_once(self, server_place: ServerPlace) -> None:
        writer, reader = server_place.open(), server_place.open()
        PIECE.put_in(writer)
        for made in (tree_of(PIECE, seed=1), tree_of(PIECE, heading="New", seed=2)):
            made.put_in(writer)
            assert_tree(reader, made)
        writer.delete_tree(SCOPE, PIECE.doc_id, "discourse")
        assert_no_tree(reader, PIECE.doc_id)

    def test_a_writer_that_dies_leaves_the_old_tree_whole(self, ours: QdrantServer, server_place: ServerPlace) -> None:
        place = ServerPlace(type(server_place.server)(ours.url, None))
        writer, reader = place.open(), place.open()
        old, new = tree_of(PIECE, seed=1), tree_of(PIECE, heading="New", seed=2)
        PIECE.put_in(writer)
        old.put_in(writer)
        switch = "POST /collections/" + place.prefix + "docs/points/payload"
        ours.fail(Fault(), on=switch)  # the lease
        ours.fail(Fault(status=500), on=switch)
        with pytest.raises(StoreError, match="answered 500"):
            new.put_in(writer)
        assert stored_nodes(reader) == len(old.tree.nodes) + len(new.tree.nodes)
        assert_tree(reader, old)
        place.leave()

    def test_a_collection_that_is_older_than_trees_takes_them(self, server_place: ServerPlace) -> None:
        from qdrant_client import QdrantClient

        PIECE.put_in(server_place.open())
        key = server_place.server.api_key
        client = QdrantClient(
            url=server_place.server.url, headers={"api-key": key} if key else {}, check_compatibility=False
        )
        for name in (NODES.dense, NODES.bm25):
            client.delete_vector_name(server_place.prefix + "nodes", name)
        client.close()
        store = server_place.open()
        made = tree_of(PIECE)
        made.put_in(store)
        assert_tree(store, made)


def test_points_are_written_in_batches(store: ShardStore, monkeypatch: pytest.MonkeyPatch) -> None:
    piece = sample("long.md", [f"part {i}" for i in range(200)])
    piece.put_in(store)
    sizes, real = list[int](), store._nodes.upsert

    def upsert(points: Sequence[Point]) -> None:
        sizes.append(len(points))
        real(points)

    monkeypatch.setattr(store._nodes, "upsert", upsert)
    made = tree_of(piece)
    made.put_in(store)
    assert_tree(store, made)
    assert sizes == [256, len(made.tree.nodes) - 256]


def test_a_node_is_read_by_its_id_as_a_passage_that_stands_for_what_lies_below_while_its_tree_lives(
    store: ShardStore,
) -> None:
    made = tree_of(PIECE)
    PIECE.put_in(store)
    made.put_in(store)
    key = store.outlines(SCOPE, made.tree.builder, [PIECE.doc_id])[PIECE.doc_id].key
    last = len(made.tree.nodes) - 1
    chunk, passage = store.chunks(SCOPE, [PIECE.ids[0], node_id(key, last)])
    assert (chunk.id, chunk.stands_for) == (PIECE.ids[0], ())
    node = made.tree.nodes[last]
    assert (passage.text, passage.stands_for, passage.doc_id) == (node.text, node.spans, PIECE.doc_id)
    assert (passage.title, passage.headings[-1]) == (PIECE.manifest.title, "Summary")
    with pytest.raises(NotFoundError):
        store.chunks(BOB, [passage.id])
    store.delete_tree(SCOPE, PIECE.doc_id, made.tree.builder)
    with pytest.raises(NotFoundError):
        store.chunks(SCOPE, [passage.id])
