"""Documents and chunks as points (DESIGN: Qdrant schema), and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from pydantic_core import from_json

from discorag.errors import InvariantError
from discorag.hierarchy.node import Chunk
from discorag.store.protocol import Manifest, Vectors
from discorag.store.shard import Payload, Point, Where
from discorag.text.document import Document, Scope
from discorag.text.terms import sparse

TREE = "flat_chunk"
CHUNK_FIELDS = ("order", "text", "chunk")


def check(
    scope: Scope, document: Document, manifest: Manifest, chunks: Sequence[Chunk], vectors: Vectors, dimension: int
) -> None:
    """Whether these belong together.

    Raises:
        InvariantError: There is no chunk; ids, counts or texts disagree; or the vectors are not unit vectors of shape
            (len(chunks), dimension).
    """
    if not chunks:
        raise InvariantError(f"Document {document.uri!r} has no chunks.", hint="Store documents that hold text.")
    if vectors.shape != (len(chunks), dimension):
        raise InvariantError(f"Vectors have shape {vectors.shape}, expected {(len(chunks), dimension)}.")
    if not np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3):
        raise InvariantError(f"Not every vector of {document.uri!r} has length 1.", hint="Normalise them.")
    if {document.id_in(scope)} != {manifest.doc_id, *(c.doc_id for c in chunks)}:
        raise InvariantError(f"Manifest or chunks of {document.uri!r} carry another document's id.")
    if not manifest.chunks == len({c.id for c in chunks}) == len(chunks):
        raise InvariantError(f"The manifest of {document.uri!r} counts {manifest.chunks} chunks, not {len(chunks)}.")
    for c in chunks:
        if c.span.of(document.text) != c.text:
            raise InvariantError(f"Chunk {c.order} of {document.uri!r} is not the text at {c.span}.")


def version_of(manifest: Manifest) -> str:
    """Key of one state of one document: equal fingerprints of two documents do not collide."""
    return f"{manifest.doc_id}:{manifest.fingerprint}"


def document_of(version: str) -> str:
    """The document that `version_of` was told about."""
    return version.rpartition(":")[0]


def of_scope(scope: Scope) -> Where:
    """Everything of one tenant's corpus."""
    return Where((("tenant", (scope.tenant,)), ("corpus", (scope.corpus,))))


def of_document(scope: Scope, doc_id: str) -> Where:
    """Everything of one document."""
    return of_scope(scope).also(("doc_id", (doc_id,)))


def metadata_filters(filters: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A user's filters as conditions on the payload."""
    for key, values in filters.items():
        if key == "doc_id":
            yield "doc_id", tuple(values)
        else:
            yield "meta", tuple(_pair(key, value) for value in values)


def document_point(scope: Scope, document: Document, manifest: Manifest, vectors: Vectors) -> Point:
    """The point of a document: the direction of its mean chunk vector, its manifest, its canonical form."""
    mean = vectors.mean(axis=0)
    payload = {
        **_common(scope, manifest),
        "uri": document.uri,
        "title": document.title,
        "meta": _pairs(document.metadata),
        "manifest": manifest.model_dump_json(),
        "document": document.model_dump_json(),
    }
    return Point(manifest.doc_id, mean / max(float(np.linalg.norm(mean)), 1e-12), payload)


def chunk_point(scope: Scope, manifest: Manifest, chunk: Chunk, vector: Vectors) -> Point:
    """The point of a chunk. Its text is a field of its own and left out of its JSON."""
    payload = {
        **_common(scope, manifest),
        "tree": TREE,
        "kind": "chunk",
        "order": chunk.order,
        "depth": 1,
        "start": chunk.span.start,
        "end": chunk.span.end,
        "text": chunk.text,
        "meta": _pairs(chunk.metadata),
        "chunk": chunk.model_dump_json(exclude={"text"}),
    }
    return Point(chunk.id, vector, payload, sparse(f"{chunk.columns}\n{chunk.text}" if chunk.columns else chunk.text))


def chunk_from(payload: Payload) -> Chunk:
    """The chunk as it was stored; needs `CHUNK_FIELDS`."""
    return Chunk.model_validate({**from_json(payload["chunk"]), "text": payload["text"]})


def _common(scope: Scope, manifest: Manifest) -> dict[str, object]:
    return {
        "tenant": scope.tenant,
        "corpus": scope.corpus,
        "doc_id": manifest.doc_id,
        "fingerprint": manifest.fingerprint,
        "version": version_of(manifest),
    }


def _pairs(metadata: Mapping[str, str]) -> list[str]:
    """All metadata in one indexed field: a field per key would need an index per key and break on odd keys."""
    return [_pair(key, value) for key, value in metadata.items()]


def _pair(key: str, value: str) -> str:
    return json.dumps([key, value], ensure_ascii=False)
