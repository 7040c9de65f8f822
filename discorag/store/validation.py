"""Whether what is handed to the store belongs together; what does not is refused before anything is written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discorag.schema.chunk import Chunk
from discorag.schema.document import Document, Scope
from discorag.schema.errors import InputError, InvariantError
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.schema.vectors import Vectors
from discorag.store.records import Manifest, SearchQuery


def check_query(query: SearchQuery, limit: int, dimension: int) -> None:
    """Whether this can be searched for.

    Raises:
        InputError: ``limit`` is below 1.
        InvariantError: The query vector has not shape (d,).
    """
    if limit < 1:
        raise InputError(f"top_k is {limit}.", hint="Ask for at least 1.")
    check_vector(query.vector, dimension)


def check_vector(vector: Vectors, dimension: int) -> None:
    """Raises `InvariantError` for a query vector that has not shape (d,)."""
    if vector.shape != (dimension,):
        raise InvariantError(f"The query vector has shape {vector.shape}, expected {(dimension,)}.")


def check_document(
    scope: Scope, document: Document, manifest: Manifest, chunks: Sequence[Chunk], vectors: Vectors, dimension: int
) -> None:
    """Whether these belong together.

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
    """Whether these belong together.

    Raises:
        InvariantError: A leaf is not the document's text, a node lies outside of it, or the vectors are not unit
            vectors of shape (nodes, dimension).
    """
    _check_vectors(vectors, len(tree.nodes), dimension, document.uri)
    for i, node in enumerate(tree.nodes):
        if i < tree.leaves and node.spans[0].of(document.text) != node.text:
            raise InvariantError(f"Leaf {i} of {document.uri!r} is not the text at {node.spans[0]}.")
        if max(span.end for span in node.spans) > len(document.text):
            raise InvariantError(f"Node {i} of {document.uri!r} ends behind its {len(document.text)} characters.")


def _check_vectors(vectors: Vectors, count: int, dimension: int, uri: str) -> None:
    if vectors.shape != (count, dimension):
        raise InvariantError(f"Vectors have shape {vectors.shape}, expected {(count, dimension)}.")
    if not np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3):
        raise InvariantError(f"Not every vector of {uri!r} has length 1.", hint="Normalise them.")
