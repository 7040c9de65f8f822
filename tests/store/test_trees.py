"""Retrieval trees beside the chunks: whole, current, and never in the way of a search for chunks."""

from __future__ import annotations

from itertools import count
from threading import Event, Thread

import numpy as np
import pytest

from discorag.schema.document import Scope
from discorag.schema.errors import InputError, InvariantError, NotFoundError
from discorag.store.outline import Outline, node_id
from discorag.store.records import Retrieval, SearchQuery
from discorag.store.store import Store
from tests.store.samples import SCOPE, Sample, TreeSample, sample, scores_of, tree_of, unit

BOB = Scope(tenant="bob", corpus="papers")
QUERY = unit(1, 77)[0]
TEXTS = [f"alpha part {i}" for i in range(6)]
PIECE = sample("a.md", TEXTS)


def put_all_but_one_tree(store: Store) -> tuple[list[Sample], list[TreeSample]]:
    """Four documents, and trees of the first three."""
    pieces = [sample(f"{i}.md", TEXTS[: i + 2]) for i in range(4)]
    trees = [tree_of(piece, seed=i) for i, piece in enumerate(pieces[:3])]
    for piece in pieces:
        piece.put_in(store)
    for made in trees:
        made.put_in(store)
    return pieces, trees


def assert_tree(store: Store, expected: TreeSample) -> None:
    """The store shows exactly this tree of its document, whichever way it is asked."""
    doc_id, builder = expected.doc_id, expected.tree.builder
    assert store.tree(SCOPE, doc_id, builder) == expected.tree
    assert store.tree_versions(SCOPE, builder)[doc_id] == expected.version
    assert store.outlines(SCOPE, builder, [doc_id])[doc_id].shape.words.tolist() == expected.tree.words.tolist()
    scores = scores_of(store, SCOPE, builder, [doc_id], QUERY)[doc_id]
    assert scores == pytest.approx(expected.vectors @ QUERY, abs=1e-3)


def assert_no_tree(store: Store, doc_id: str, builder: str = "discourse") -> None:
    assert doc_id not in store.tree_versions(SCOPE, builder)
    assert scores_of(store, SCOPE, builder, [doc_id], QUERY) == {}
    with pytest.raises(NotFoundError, match="has no tree"):
        store.tree(SCOPE, doc_id, builder)


class TestRoundTrip:
    def test_a_tree_comes_back_equal(self, store: Store) -> None:
        piece = sample("a.md", ["One: 网络安全 🙂👍🏽", 'two "q" \\ \u2028 e\u0301', "three"])
        made = tree_of(piece)
        piece.put_in(store)
        made.put_in(store)
        assert_tree(store, made)

    def test_trees_of_two_builders_do_not_touch_each_other(self, store: Store) -> None:
        PIECE.put_in(store)
        trees = [tree_of(PIECE, builder=builder, seed=i) for i, builder in enumerate(("discourse", "clusters"))]
        for made in trees:
            made.put_in(store)
        for made in trees:
            assert_tree(store, made)

    def test_what_was_returned_for_a_replaced_tree_is_not_returned_for_the_new_one(self, store: Store) -> None:
        PIECE.put_in(store)
        for made in (tree_of(PIECE, seed=1), tree_of(PIECE, heading="Other", seed=1), tree_of(PIECE, seed=1)):
            made.put_in(store)
            assert_tree(store, made)

    def test_the_same_tree_again_changes_nothing(self, store: Store) -> None:
        PIECE.put_in(store)
        made = tree_of(PIECE)
        made.put_in(store)
        made.put_in(store)
        assert_tree(store, made)


class TestRefusal:
    def test_a_tree_of_a_document_that_is_not_stored_is_not_found(self, store: Store) -> None:
        with pytest.raises(NotFoundError, match=PIECE.doc_id):
            tree_of(PIECE).put_in(store)

    def test_vectors_leaves_and_spans_that_do_not_fit_are_refused(self, store: Store) -> None:
        PIECE.put_in(store)
        made, other = tree_of(PIECE), tree_of(sample("a.md", ["x" * 9, "y" * 500]))
        for vectors in (made.vectors[:-1], made.vectors * 2):
            with pytest.raises(InvariantError):
                store.put_tree(SCOPE, PIECE.doc_id, made.tree, vectors, version="1")
        with pytest.raises(InvariantError, match="Leaf 0"):
            store.put_tree(SCOPE, PIECE.doc_id, other.tree, other.vectors, version="1")
        assert_no_tree(store, PIECE.doc_id)

    def test_queries_that_cannot_be_searched_are_refused(self, store: Store) -> None:
        with pytest.raises(InputError):
            store.search_documents(SCOPE, SearchQuery(vector=QUERY), 0)
        with pytest.raises(InvariantError, match="shape"):
            scores_of(store, SCOPE, "discourse", [PIECE.doc_id], QUERY[:3])


class TestReplacement:
    def test_another_fingerprint_takes_the_trees_away_the_same_one_keeps_them(self, store: Store) -> None:
        made, changed = tree_of(PIECE), sample("a.md", ["quite new"])
        PIECE.put_in(store)
        made.put_in(store)
        PIECE.put_in(store)
        assert_tree(store, made)
        changed.put_in(store)
        assert_no_tree(store, PIECE.doc_id)
        PIECE.put_in(store)
        assert_no_tree(store, PIECE.doc_id)

    def test_a_deleted_document_leaves_no_nodes_and_takes_no_others(self, store: Store) -> None:
        other = sample("b.md", TEXTS)
        kept = tree_of(other)
        for piece in (PIECE, other):
            piece.put_in(store)
            tree_of(piece).put_in(store)
        store.delete(SCOPE, PIECE.doc_id)
        assert_no_tree(store, PIECE.doc_id)
        assert_tree(store, kept)

    def test_a_reader_sees_the_old_or_the_new_tree_never_both(self, store: Store) -> None:
        trees = [tree_of(PIECE, seed=1), tree_of(sample("a.md", TEXTS), leaves=4, seed=2)]
        PIECE.put_in(store)
        trees[0].put_in(store)
        done, seen = Event(), set[tuple[int, ...]]()

        def read() -> None:
            while not done.is_set():
                tree = len(store.tree(SCOPE, PIECE.doc_id, "discourse").nodes)
                words = len(store.outlines(SCOPE, "discourse", [PIECE.doc_id])[PIECE.doc_id].shape.words)
                scores = len(scores_of(store, SCOPE, "discourse", [PIECE.doc_id], QUERY)[PIECE.doc_id])
                seen.update({(tree,), (words,), (scores,)})

        reader = Thread(target=read)
        reader.start()
        for i in count(1):
            trees[i % 2].put_in(store)
            if i >= 10 and len(seen) >= 2:
                break
        done.set()
        reader.join()
        assert seen == {(len(t.tree.nodes),) for t in trees}


class TestSearch:
    @pytest.mark.parametrize("retrieval", ["dense", "hybrid"])
    def test_chunks_are_found_as_if_there_were_no_trees(self, store: Store, retrieval: Retrieval) -> None:
        PIECE.put_in(store)
        query = SearchQuery(vector=QUERY, text="alpha part 3", retrieval=retrieval, top_k=50)
        before = store.search(SCOPE, query)
        assert len(before) == len(TEXTS)
        tree_of(PIECE, seed=3).put_in(store)
        assert store.search(SCOPE, query) == before
        assert store.chunks_of(SCOPE, PIECE.doc_id) == PIECE.chunks

    def test_trees_are_of_the_builder_and_scope_asked_for(self, store: Store) -> None:
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

    def test_filters_are_on_documents_and_their_metadata(self, store: Store) -> None:
        pieces = {lang: sample(f"{lang}.md", TEXTS, metadata={"lang": lang}) for lang in ("en", "zh")}
        for piece in pieces.values():
            piece.put_in(store)
        for filters in ({"lang": ["zh"]}, {"doc_id": [pieces["zh"].doc_id]}):
            query = SearchQuery(vector=QUERY, top_k=100, filters=filters)
            assert [d for d, _ in store.search_documents(SCOPE, query, 10)] == [pieces["zh"].doc_id]

    def test_scores_come_by_document_for_those_that_have_a_tree(self, store: Store) -> None:
        pieces, trees = put_all_but_one_tree(store)
        asked = [p.doc_id for p in pieces[1:]] * 2
        scores = scores_of(store, SCOPE, "discourse", asked, QUERY)
        assert set(scores) == {t.doc_id for t in trees[1:]}
        for made in trees[1:]:
            assert scores[made.doc_id].dtype == np.float32
            assert scores[made.doc_id] == pytest.approx(made.vectors @ QUERY, abs=1e-3)

    def test_documents_are_ranked_by_the_mean_of_their_chunks(self, store: Store) -> None:
        pieces = [sample(f"{i}.md", TEXTS, seed=i) for i in range(5)]
        means = {p.doc_id: p.vectors.mean(axis=0) for p in pieces}
        for piece in pieces:
            piece.put_in(store)
        expected = {d: float(m @ QUERY / np.linalg.norm(m)) for d, m in means.items()}
        hits = store.search_documents(SCOPE, SearchQuery(vector=QUERY), 3)
        assert [d for d, _ in hits] == sorted(expected, key=lambda d: -expected[d])[:3]
        assert [s for _, s in hits] == pytest.approx([expected[d] for d, _ in hits], abs=1e-3)
        assert store.search_documents(BOB, SearchQuery(vector=QUERY), 3) == []


def test_a_node_is_read_by_its_id_as_a_passage_that_stands_for_what_lies_below_while_its_tree_lives(
    store: Store,
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
    sample("a.md", ["quite new"]).put_in(store)
    with pytest.raises(NotFoundError):
        store.chunks(SCOPE, [passage.id])


class TestOutlines:
    def test_they_are_those_of_the_trees_of_the_documents_asked_for(self, store: Store) -> None:
        pieces, trees = put_all_but_one_tree(store)
        for _ in range(2):  # read, and remembered
            outlines = store.outlines(SCOPE, "discourse", [p.doc_id for p in pieces[1:]])
            assert set(outlines) == {t.doc_id for t in trees[1:]}
            for made in trees[1:]:
                assert outlines[made.doc_id].to_bytes() == Outline.of(made.tree, made.vectors).to_bytes()
        assert store.outlines(BOB, "discourse", [pieces[0].doc_id]) == {}
        assert store.outlines(SCOPE, "clusters", [pieces[0].doc_id]) == {}

    def test_what_was_read_of_a_replaced_tree_is_not_given_for_the_new_one(self, store: Store) -> None:
        PIECE.put_in(store)
        for leaves in (6, 3, 6):
            tree_of(PIECE, leaves=leaves).put_in(store)
            outline = store.outlines(SCOPE, "discourse", [PIECE.doc_id])[PIECE.doc_id]
            assert outline.shape.leaves == leaves

    def test_where_inner_vectors_are_means_scores_are_theirs_too(self, store: Store) -> None:
        other = sample("b.md", TEXTS[:3])
        trees = [means_of(PIECE), tree_of(other)]
        for piece, made in zip((PIECE, other), trees, strict=True):
            piece.put_in(store)
            made.put_in(store)
        outlines = store.outlines(SCOPE, "discourse", [t.doc_id for t in trees])
        assert sorted(o.lengths is None for o in outlines.values()) == [False, True]
        for made in trees:
            assert_tree(store, made)


def means_of(piece: Sample) -> TreeSample:
    """A tree whose inner vectors are the means of the leaves below."""
    made = tree_of(piece)
    leaves = made.vectors[: made.tree.leaves]
    sums = np.stack([leaves[list(below)].sum(axis=0) for below in made.tree.leaves_of])
    return tree_of(piece, vectors=sums / np.linalg.norm(sums, axis=1, keepdims=True))
