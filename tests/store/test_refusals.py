"""What a store refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from discorag.schema.document import Scope
from discorag.schema.errors import EncoderMismatchError, InvariantError, NotFoundError
from discorag.store.store import Store
from tests.store.conftest import Place
from tests.store.samples import ABSENT, DIMENSION, ENCODER, SCOPE, Sample, assert_whole, everything, sample, unit

PIECE = sample("a.md", ["one", "two"])
REFUSED: dict[str, tuple[Sample, str]] = {
    "no chunks": (
        replace(
            PIECE,
            manifest=PIECE.manifest.model_copy(update={"chunks": 0}),
            chunks=[],
            vectors=np.zeros((0, DIMENSION), np.float32),
        ),
        "no chunks",
    ),
    "too few vectors": (replace(PIECE, vectors=unit(1, 0)), "shape"),
    "short vectors": (replace(PIECE, vectors=unit(2, 0)[:, :-1]), "shape"),
    "long vectors": (replace(PIECE, vectors=unit(2, 0) * 2), "length 1"),
    "not a number": (replace(PIECE, vectors=unit(2, 0) * np.float32("nan")), "length 1"),
    "another scope": (replace(PIECE, scope=Scope(tenant="bob")), "another document's id"),
    "another text": (
        replace(PIECE, chunks=[PIECE.chunks[0].model_copy(update={"text": "eno"}), PIECE.chunks[1]]),
        "not the text",
    ),
    "a wrong count": (replace(PIECE, chunks=PIECE.chunks[:1], vectors=PIECE.vectors[:1]), "counts 2 chunks, not 1"),
}


@pytest.mark.parametrize("wrong", REFUSED)
def test_what_does_not_belong_together_is_refused_and_nothing_is_stored(store: Store, wrong: str) -> None:
    piece, said = REFUSED[wrong]
    with pytest.raises(InvariantError, match=said):
        piece.put_in(store)
    assert store.manifests(piece.scope) == []
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
    if place.kind == "memory":
        pytest.skip("lost at exit")
    PIECE.put_in(place.open())
    place.leave()
    for encoder, dimension in (("other/1", DIMENSION), (ENCODER, 3)):
        with pytest.raises(EncoderMismatchError, match=r"test-encoder/1.*ingest again"):
            place.open(encoder=encoder, dimension=dimension)
    assert_whole(place.open(), PIECE)
