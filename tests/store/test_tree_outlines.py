"""What a store gives of trees without their texts: of the live tree, in the present layout, with the right scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from discorag.store.base import ShardStore
from discorag.store.outline import Outline
from discorag.types.errors import NotFoundError
from tests.store.conftest import Place
from tests.store.samples import SCOPE, Sample, TreeSample, sample, scores_of, tree_of
from tests.store.test_trees import BOB, PIECE, QUERY, TEXTS, assert_tree, put_all_but_one_tree, stored_nodes


def means_of(piece: Sample) -> TreeSample:
    """A tree whose inner vectors are the means of the leaves below."""
    made = tree_of(piece)
    leaves = made.vectors[: made.tree.leaves]
    sums = np.stack([leaves[list(below)].sum(axis=0) for below in made.tree.leaves_of])
    return tree_of(piece, vectors=sums / np.linalg.norm(sums, axis=1, keepdims=True))


def test_they_are_those_of_the_trees_of_the_documents_asked_for(store: ShardStore) -> None:
    pieces, trees = put_all_but_one_tree(store)
    for _ in range(2):  # read, and remembered
        outlines = store.outlines(SCOPE, "discourse", [p.doc_id for p in pieces[1:]])
        assert set(outlines) == {t.doc_id for t in trees[1:]}
        for made in trees[1:]:
            expected = Outline.of(made.tree, made.vectors).packed()
            assert outlines[made.doc_id].packed() == expected
    assert store.outlines(BOB, "discourse", [pieces[0].doc_id]) == {}
    assert store.outlines(SCOPE, "clusters", [pieces[0].doc_id]) == {}


def test_what_was_read_of_a_replaced_tree_is_not_given_for_the_new_one(store: ShardStore) -> None:
    PIECE.put_in(store)
    for leaves in (6, 3, 6):
        tree_of(PIECE, leaves=leaves).put_in(store)
        outline = store.outlines(SCOPE, "discourse", [PIECE.doc_id])[PIECE.doc_id]
        assert outline.shape.leaves == leaves


def test_where_inner_vectors_are_means_the_scores_are_theirs_too(store: ShardStore) -> None:
    other = sample("b.md", TEXTS[:3])
    trees = [means_of(PIECE), tree_of(other)]
    for piece, made in zip((PIECE, other), trees, strict=True):
        piece.put_in(store)
        made.put_in(store)
    lengths = [o.lengths for o in store.outlines(SCOPE, "discourse", [t.doc_id for t in trees]).values()]
    assert sorted(length is None for length in lengths) == [False, True]
    scores = scores_of(store, SCOPE, "discourse", [t.doc_id for t in trees], QUERY)
    for made in trees:
        assert_tree(store, made)
        assert scores[made.doc_id] == pytest.approx(made.vectors @ QUERY, abs=1e-5)


def test_trees_of_an_older_layout_are_not_shown_until_they_are_stored_anew(place: Place) -> None:
    store, made = place.open(), means_of(PIECE)
    PIECE.put_in(store)
    made.put_in(store)
    entry = store._catalogue.entry(SCOPE, PIECE.doc_id)
    assert entry is not None
    trees = {builder: replace(part, layout=1) for builder, part in entry.trees.items()}
    with store._catalogue.lease(SCOPE, PIECE.doc_id):
        store._catalogue.publish(SCOPE, replace(entry, trees=trees))
    place.leave()
    store = place.open()
    assert PIECE.doc_id not in store.tree_versions(SCOPE, "discourse")
    assert store.outlines(SCOPE, "discourse", [PIECE.doc_id]) == {}
    assert scores_of(store, SCOPE, "discourse", [PIECE.doc_id], QUERY) == {}
    with pytest.raises(NotFoundError, match="has no tree"):
        store.tree(SCOPE, PIECE.doc_id, "discourse")
    made.put_in(store)
    assert_tree(store, made)
    assert stored_nodes(store) == len(made.tree.nodes)
