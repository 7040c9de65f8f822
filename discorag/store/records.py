"""What the store takes and returns, and checks of what it takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, SkipValidation

from discorag.schema.document import Document
from discorag.schema.errors import InvariantError
from discorag.schema.metadata import Filters, read_filters
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.schema.values import Vectors

Retrieval = Literal["dense", "hybrid"]
NOT_MADE = "none"
"""Version of a stage that is switched off."""


class Manifest(BaseModel, frozen=True):
    """What is known of a stored document without reading it; what is not listed here is as in `Document`.

    Args:
        doc_id: `Document.id_in` of the scope.
        fingerprint: Content and versions together (`discorag.schema.values.fingerprint`).
        versions: Stage name -> version that made what is stored.
        chunks: Number of chunks.
        written: When an ingest stored it.
    """

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
    unread: dict[str, int] = {}

    @property
    def text_key(self) -> str:
        """A hash of the document's text: documents with the same one are copies."""
        return self.text_hash or self.content_hash


class Corpus(BaseModel, frozen=True):
    """What is stored of one corpus; ``written``: when one of its documents was last stored, if that is known."""

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


@dataclass(frozen=True)
class Distinct:
    """The best hits, of documents with the same text only those of one.

    ``copies``: document id -> names of the other files with its text.
    """

    best: list[Hit]
    copies: Mapping[str, list[str]]


class SearchQuery(BaseModel, frozen=True, arbitrary_types_allowed=True):
    """A search for chunks or documents.

    Args:
        vector: Query embedding, unit length, shape (d,).
        text: The query itself, for BM25; used by ``hybrid`` only.
        retrieval: ``dense``, or ``hybrid``: dense and BM25 fused by reciprocal ranks, k = 60.
        top_k: Number of hits wanted, at least 1.
        filters: What metadata must be; ``doc_id`` filters by document. Raises `InputError` as `read_filters`.
    """

    vector: Vectors
    text: str = ""
    retrieval: Retrieval = "dense"
    top_k: int = 10
    filters: Annotated[SkipValidation[Filters], BeforeValidator(read_filters)] = {}


def check_vectors(vectors: Vectors, count: int, dimension: int, uri: str) -> None:
    """Raise `InvariantError` unless these are unit vectors of shape (``count``, ``dimension``)."""
    if vectors.shape != (count, dimension):
        raise InvariantError(f"Vectors have shape {vectors.shape}, expected {(count, dimension)}.")
    if not np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3):
        raise InvariantError(f"Not every vector of {uri!r} has length 1.", hint="Normalise them.")


def check_tree(document: Document, tree: RetrievalTree, vectors: Vectors, dimension: int) -> None:
    """Check that these belong together.

    Raises:
        InvariantError: A leaf is not the document's text, a node lies outside of it, or the vectors are not unit
            vectors of shape (nodes, dimension) or (leaves, dimension).
    """
    count = tree.leaves if len(vectors) == tree.leaves else len(tree.nodes)
    check_vectors(vectors, count, dimension, document.uri)
    for i, node in enumerate(tree.nodes):
        if i < tree.leaves and node.spans[0].of(document.text) != node.text:
            raise InvariantError(f"Leaf {i} of {document.uri!r} is not the text at {node.spans[0]}.")
        if max(span.end for span in node.spans) > len(document.text):
            raise InvariantError(f"Node {i} of {document.uri!r} ends past its {len(document.text)} characters.")
