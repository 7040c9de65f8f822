"""Retrieval trees next to the chunks: whole, current, and without effect on a search for chunks."""

from itertools import count
from threading import Event, Thread

import numpy as np
import pytest

from discorag.schema.document import Scope
from discorag.schema.errors import InputError, InvariantError, NotFoundError
from discorag.schema.metadata import read_filters
from discorag.schema.values import count_words
from discorag.store.outline import node_id
from discorag.store.records import SearchQuery
from discorag.store.store import Store
from tests.retrieval.strategies import leaves_of
from tests.store.samples import SCOPE, Sample, TreeSample, sample, scores_of, tree_of, unit

BOB = Scope(tenant="bob", corpus="papers")
QUERY = unit(1, 77)[0]
TEXTS = [f"alpha part {i}" for i in range(6)]
PIECE = sample("a.md", TEXTS)


def put(store: Store, piece: Sample, *trees: TreeSample) -> None:
    piece.put_in(store)
    for made in trees:
        made.put_in(store)


def assert_tree(store: Store, expected: TreeSample) -> None:
    """The store shows exactly this tree of its document, whichever way it is read."""
    doc_id, builder = expected.doc_id, expected.tree.builder
    assert store.tree_versions(SCOPE, builder)[doc_id] == expected.version
    for _ in range(2):  # read, and remembered
        outline = store.outlines(SCOPE, builder, [doc_id])[doc_id]
        assert outline.arrays.words.tolist() == [count_words(node.text) for node in expected.tree.nodes]
        assert store.tree_of(SCOPE, outline) == expected.tree
    scores = scores_of(store, SCOPE, builder, [doc_id], QUERY)[doc_id]
    assert scores.dtype == np.float32
    assert scores == pytest.approx(expected.vectors @ QUERY, abs=1e-3)


def assert_no_tree(store: Store, doc_id: str, builder: str = "discourse") -> None:
    assert doc_id not in store.tree_versions(SCOPE, builder)
    assert scores_of(store, SCOPE, builder, [doc_id], QUERY) == {}
    assert store.outlines(SCOPE, builder, [doc_id]) == {}


def test_a_tree_comes_back_equal(store: Store) -> None:
    piece = sample("a.md", ["One: 网络安全 🙂👍🏽", 'two "q" \\ \u2028 e\u0301', "three"])
    put(store, piece, tree_of(piece))
    assert_tree(store, tree_of(piece))


def test_where_inner_vectors_are_means_scores_are_theirs_too(store: Store) -> None:
    tree = tree_of(PIECE).tree
    sums = np.stack([tree_of(PIECE).vectors[list(below)].sum(axis=0) for below in leaves_of(tree)])
    means = tree_of(PIECE, vectors=sums / np.linalg.norm(sums, axis=1, keepdims=True))
    own = tree_of(PIECE, builder="clusters")
    put(store, PIECE, own)
    store.put_tree(SCOPE, PIECE.doc_id, tree, means.vectors[: tree.leaves], version=means.version)
    outlines = [store.outlines(SCOPE, t.tree.builder, [PIECE.doc_id])[PIECE.doc_id] for t in (means, own)]
    assert [outline.lengths is None for outline in outlines] == [False, True]
    assert_tree(store, means)
    assert_tree(store, own)


def test_trees_are_of_the_builder_documents_and_scope_asked_for(store: Store) -> None:
    pieces = [sample(f"{i}.md", TEXTS[: i + 2]) for i in range(3)]
    trees = [tree_of(piece, builder=builder, seed=i) for i, piece in enumerate(pieces[:2]) for builder in ("b", "c")]
    for piece in pieces:
        put(store, piece, *(t for t in trees if t.doc_id == piece.doc_id))
    for made in trees:
        assert_tree(store, made)
    asked = [p.doc_id for p in pieces[1:]] * 2
    assert set(scores_of(store, SCOPE, "b", asked, QUERY)) == set(store.tree_versions(SCOPE, "b", asked)) == {asked[0]}
    assert_no_tree(store, pieces[0].doc_id, "unknown")
    assert scores_of(store, BOB, "b", asked, QUERY) == store.tree_versions(BOB, "b") == {}
    with pytest.raises(NotFoundError):
        store.tree_of(BOB, store.outlines(SCOPE, "b", asked)[asked[0]])


def test_a_replaced_tree_is_never_returned_for_the_new_one(store: Store) -> None:
    PIECE.put_in(store)
    first = tree_of(PIECE, seed=1)
    for made in (first, first, tree_of(PIECE, heading="Other", seed=1), tree_of(PIECE, leaves=3), first):
        made.put_in(store)
        assert_tree(store, made)


def test_trees_live_as_long_as_their_documents_fingerprint(store: Store) -> None:
    made, other = tree_of(PIECE), sample("b.md", TEXTS)
    put(store, other, tree_of(other))
    put(store, PIECE, made)
    PIECE.put_in(store)
    assert_tree(store, made)
    for change in (sample("a.md", ["quite new"]), PIECE):
        change.put_in(store)
        assert_no_tree(store, PIECE.doc_id)
    made.put_in(store)
    store.delete(SCOPE, PIECE.doc_id)
    assert_no_tree(store, PIECE.doc_id)
    assert_tree(store, tree_of(other))


def test_a_reader_sees_the_old_or_the_new_tree_never_both(store: Store) -> None:
    trees = [tree_of(PIECE, seed=1), tree_of(PIECE, leaves=4, seed=2)]
    put(store, PIECE, trees[0])
    done, seen = Event(), set[int]()

    def read() -> None:
        while not done.is_set():
            seen.add(len(store.outlines(SCOPE, "discourse", [PIECE.doc_id])[PIECE.doc_id].arrays.words))
            seen.add(len(scores_of(store, SCOPE, "discourse", [PIECE.doc_id], QUERY)[PIECE.doc_id]))

    reader = Thread(target=read)
    reader.start()
    for i in count(1):
        trees[i % 2].put_in(store)
        if i >= 10 and len(seen) >= 2:
            break
    done.set()
    reader.join()
    assert seen == {len(t.tree.nodes) for t in trees}


def test_what_does_not_fit_is_refused(store: Store) -> None:
    made, other = tree_of(PIECE), tree_of(sample("a.md", ["x" * 9, "y" * 500]))
    with pytest.raises(NotFoundError, match=PIECE.doc_id):
        made.put_in(store)
    PIECE.put_in(store)
    for vectors in (made.vectors[:-1], made.vectors * 2):
        with pytest.raises(InvariantError):
            store.put_tree(SCOPE, PIECE.doc_id, made.tree, vectors, version="1")
    with pytest.raises(InvariantError, match="Leaf 0"):
        store.put_tree(SCOPE, PIECE.doc_id, other.tree, other.vectors, version="1")
    assert_no_tree(store, PIECE.doc_id)
    with pytest.raises(InputError):
        store.search_documents(SCOPE, SearchQuery(vector=QUERY), 0)


def test_documents_are_ranked_by_the_mean_of_their_chunks_and_filtered(store: Store) -> None:
    pieces = [sample(f"{i}.md", TEXTS, seed=i, metadata={"lang": "en" if i else "zh"}) for i in range(5)]
    means = {p.doc_id: p.vectors.mean(axis=0) for p in pieces}
    for piece in pieces:
        piece.put_in(store)
    expected = {d: float(m @ QUERY / np.linalg.norm(m)) for d, m in means.items()}
    hits = store.search_documents(SCOPE, SearchQuery(vector=QUERY), 3)
    assert [d for d, _ in hits] == sorted(expected, key=lambda d: -expected[d])[:3]
    assert [s for _, s in hits] == pytest.approx([expected[d] for d, _ in hits], abs=1e-3)
    assert store.search_documents(BOB, SearchQuery(vector=QUERY), 3) == []
    for filters in ({"lang": ["zh"]}, {"doc_id": [pieces[0].doc_id]}):
        found = store.search_documents(SCOPE, SearchQuery(vector=QUERY, top_k=100, filters=read_filters(filters)), 10)
        assert [d for d, _ in found] == [pieces[0].doc_id]


def test_a_node_is_a_passage_that_stands_for_what_lies_below_it_while_its_tree_lives(store: Store) -> None:
    made = tree_of(PIECE)
    put(store, PIECE, made)
    key = store.outlines(SCOPE, made.tree.builder, [PIECE.doc_id])[PIECE.doc_id].key
    last = len(made.tree.nodes) - 1
    chunk, passage = store.chunks(SCOPE, [PIECE.ids[0], node_id(key, last)])
    assert (chunk.id, chunk.stands_for) == (PIECE.ids[0], ())
    node = made.tree.nodes[last]
    assert (passage.text, passage.stands_for, passage.doc_id) == (node.text, node.spans, PIECE.doc_id)
    assert (passage.title, passage.headings[-1]) == (PIECE.manifest.title, "Summary")
    for scope, unknown in ((BOB, passage.id), (SCOPE, node_id(key, last + 1)), (SCOPE, f"{key}.one")):
        with pytest.raises(NotFoundError):
            store.chunks(scope, [unknown])
    sample("a.md", ["quite new"]).put_in(store)
    with pytest.raises(NotFoundError):
        store.chunks(SCOPE, [passage.id])
