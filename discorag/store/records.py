"""What the store takes and returns, and checks that what it takes belongs together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from discorag.schema.document import Chunk, Document, Scope
from discorag.schema.errors import InvariantError
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.schema.values import Vectors

Retrieval = Literal["dense", "hybrid"]
NOT_MADE = "none"
"""Version of a stage that is switched off."""


class Manifest(BaseModel):
    """What is stored of one document.

    Args:
        doc_id: `Document.id_in` of the scope.
        uri: Where it was read.
        title: Its title.
        content_hash, text_hash: `Document.content_hash`, `Document.text_hash`.
        file_hash: `Document.file_hash`.
        file_bytes: `Document.file_bytes`.
        fingerprint: Content and versions together (`discorag.schema.values.fingerprint`).
        versions: Stage name -> version that made what is stored.
        chunks: Number of chunks.
        written: When an ingest stored it.
    """

    model_config = ConfigDict(frozen=True)

    doc_id: str
    uri: str
    title: str
    content_hash: str
    fingerprint: str
    versions: dict[str, str]
    chunks: int
    written: datetime | None = None
    text_hash: str = ""
    file_hash: str = ""
    file_bytes: int = 0


class Corpus(BaseModel):
    """What is stored of one corpus; ``written``: when one of its documents was last stored, if that is known."""

    model_config = ConfigDict(frozen=True)

    name: str
    documents: int
    chunks: int
    written: datetime | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved chunk id with its score (cosine, or the fused RRF score): higher is better.

    A dataclass, not a pydantic model: a hybrid search makes hundreds of them for its ten.
    """

    chunk_id: str
    score: float


class SearchQuery(BaseModel):
    """A search for chunks or documents.

    Args:
        vector: Query embedding, unit length, shape (d,).
        text: The query itself, for BM25; used by ``hybrid`` only.
        retrieval: ``dense``, or ``hybrid``: dense and BM25 fused by reciprocal ranks, k = 60.
        top_k: Number of hits wanted, at least 1.
        filters: Metadata key -> accepted values; all keys must match. ``doc_id`` filters by document.
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    vector: Vectors
    text: str = ""
    retrieval: Retrieval = "dense"
    top_k: int = 10
    filters: Mapping[str, Sequence[str]] = {}


def check_vector(vector: Vectors, dimension: int) -> None:
    """Raises `InvariantError` for a query vector that has not shape (d,)."""
    if vector.shape != (dimension,):
        raise InvariantError(f"The query vector has shape {vector.shape}, expected {(dimension,)}.")


def check_document(
    scope: Scope, document: Document, manifest: Manifest, chunks: Sequence[Chunk], vectors: Vectors, dimension: int
) -> None:
    """Check that these belong together.

    Raises:
        InvariantError: There is no chunk; ids, counts or texts disagree; or the vectors are not unit vectors of shape
            (len(chunks), dimension).
    """
    if not chunks:
        raise InvariantError(f"Document {document.uri!r} has no chunks.", hint="Store documents that hold text.")
    _check_vectors(vectors, len(chunks), dimension, document.uri)
    if {document.id_in(scope)} != {manifest.doc_id, *(c.doc_id for c in chunks)}:
        raise InvariantError(f"Manifest or chunks of {document.uri!r} carry another document's id.")
    if not manifest.chunks == len({c.id for c in chunks}) == len(chunks):
        raise InvariantError(f"The manifest of {document.uri!r} counts {manifest.chunks} chunks, not {len(chunks)}.")
    for c in chunks:
        if c.span.of(document.text) != c.text:
            raise InvariantError(f"Chunk {c.order} of {document.uri!r} is not the text at {c.span}.")


def check_tree(document: Document, tree: RetrievalTree, vectors: Vectors, dimension: int) -> None:
    """Check that these belong together.

    Raises:
        InvariantError: A leaf is not the document's text, a node lies outside of it, or the vectors are not unit
            vectors of shape (nodes, dimension) or (leaves, dimension).
    """
    count = tree.leaves if len(vectors) == tree.leaves else len(tree.nodes)
    _check_vectors(vectors, count, dimension, document.uri)
    for i, node in enumerate(tree.nodes):
        if i < tree.leaves and node.spans[0].of(document.text) != node.text:
            raise InvariantError(f"Leaf {i} of {document.uri!r} is not the text at {node.spans[0]}.")
        if max(span.end for span in node.spans) > len(document.text):
            raise InvariantError(f"Node {i} of {document.uri!r} ends past its {len(document.text)} characters.")


def _check_vectors(vectors: Vectors, count: int, dimension: int, uri: str) -> None:
    if vectors.shape != (count, dimension):
        raise InvariantError(f"Vectors have shape {vectors.shape}, expected {(count, dimension)}.")
    if not np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3):
        raise InvariantError(f"Not every vector of {uri!r} has length 1.", hint="Normalise them.")
