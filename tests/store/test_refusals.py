"""What a store refuses."""

from __future__ import annotations

import numpy as np
import pytest

from discorag.schema.document import Scope
from discorag.schema.errors import EncoderMismatchError, InputError, InvariantError, NotFoundError
from discorag.store.records import SearchQuery
from discorag.store.store import Store
from tests.store.conftest import Place
from tests.store.samples import DIMENSION, ENCODER, SCOPE, assert_whole, everything, sample, unit

ABSENT = "00000000-0000-0000-0000-000000000000"


def test_a_document_without_chunks_is_refused(store: Store) -> None:
    piece = sample("a.md", ["one"])
    empty = piece.manifest.model_copy(update={"chunks": 0})
    with pytest.raises(InvariantError, match="no chunks"):
        store.put(SCOPE, piece.document, empty, [], np.zeros((0, DIMENSION), np.float32))


def test_vectors_of_another_shape_or_length_are_refused(store: Store) -> None:
    piece = sample("a.md", ["one", "two"])
    for vectors in (unit(1, 0), unit(2, 0)[:, :-1], unit(2, 0) * 2, unit(2, 0) * np.float32("nan")):
        with pytest.raises(InvariantError):
            store.put(SCOPE, piece.document, piece.manifest, piece.chunks, vectors)
    assert store.manifests(SCOPE) == []
    assert everything(store) == set()


def test_a_document_of_another_scope_is_refused(store: Store) -> None:
    piece = sample("a.md", ["one"])
    with pytest.raises(InvariantError, match="another document's id"):
        store.put(Scope(tenant="bob"), piece.document, piece.manifest, piece.chunks, piece.vectors)


def test_a_chunk_that_is_not_the_documents_text_is_refused(store: Store) -> None:
    piece = sample("a.md", ["one"])
    wrong = [piece.chunks[0].model_copy(update={"text": "eno"})]
    with pytest.raises(InvariantError, match="not the text"):
        store.put(SCOPE, piece.document, piece.manifest, wrong, piece.vectors)


def test_a_wrong_count_in_the_manifest_is_refused(store: Store) -> None:
    piece = sample("a.md", ["one", "two"])
    with pytest.raises(InvariantError, match="counts 2 chunks, not 1"):
        store.put(SCOPE, piece.document, piece.manifest, piece.chunks[:1], piece.vectors[:1])


def test_an_unknown_id_is_not_found(store: Store) -> None:
    piece = sample("a.md", ["one"])
    piece.put_in(store)
    for unknown in (ABSENT, "no uuid", "", piece.doc_id.upper()):
        with pytest.raises(NotFoundError, match="ann"):
            store.document(SCOPE, unknown)
        with pytest.raises(NotFoundError):
            store.chunks_of(SCOPE, unknown)
        with pytest.raises(NotFoundError):
            store.chunks(SCOPE, [piece.ids[0], unknown])
        assert not store.delete(SCOPE, unknown)


def test_top_k_below_one_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match="top_k is 0"):
        store.search(SCOPE, SearchQuery(vector=unit(1, 0)[0], top_k=0))


def test_a_query_vector_of_another_length_is_refused(store: Store) -> None:
    with pytest.raises(InvariantError, match="shape"):
        store.search(SCOPE, SearchQuery(vector=unit(1, 0)[0][:3]))


def test_another_encoder_is_refused_and_nothing_changes(place: Place) -> None:
    if place.kind == "memory":
        pytest.skip("lost at exit")
    piece = sample("a.md", ["one"])
    piece.put_in(place.open())
    place.leave()
    for encoder, dimension in (("other/1", DIMENSION), (ENCODER, 3)):
        with pytest.raises(EncoderMismatchError, match=r"test-encoder/1.*ingest again"):
            place.open(encoder=encoder, dimension=dimension)
    assert_whole(place.open(), piece)
