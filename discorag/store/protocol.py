"""What every store does. No call can be written without a scope (tenant and corpus)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from discorag.store.outline import Outline
from discorag.types.chunk import Chunk
from discorag.types.document import Document, Scope
from discorag.types.report import Report
from discorag.types.retrieval_tree import RetrievalTree
from discorag.types.span import Span
from discorag.types.vectors import Vectors

Retrieval = Literal["dense", "hybrid"]


class Manifest(BaseModel):
    """What is stored of one document; written last, so a document without one does not exist.

    Args:
        doc_id: `Document.id_in` of the scope.
        uri: Where it was read.
        title: Its title.
        content_hash: `Document.content_hash`.
        text_hash: `Document.text_hash`: of copies under other names too; empty in what earlier versions wrote.
        fingerprint: Content and versions together (`discorag.types.ids.fingerprint`); stored with every chunk too.
        versions: Stage name -> version that made what is stored.
        chunks: Number of chunks.
        written: When an ingest stored it; None for what earlier versions wrote.

    Example:
        >>> piece = sample_of("tides.md", ["The moon pulls the sea.", "Tides rise."])
        >>> piece.put_in(store)
        >>> manifest = store.manifest(piece.scope, piece.doc_id)
        >>> manifest.uri, manifest.chunks, manifest.versions
        ('tides.md', 2, {'encoder': 'test-encoder/1'})
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


class Corpus(BaseModel):
    """What is stored of one corpus.

    Args:
        name: The corpus.
        documents: How many it has.
        chunks: How many these have together.
        written: When one of them was last stored; None if that is not known.

    Example:
        >>> piece = sample_of("tides.md", ["The moon pulls the sea.", "Tides rise."])
        >>> piece.put_in(store)
        >>> [(corpus.documents, corpus.chunks) for corpus in store.corpora(piece.scope.tenant)]
        [(1, 2)]
    """

    model_config = ConfigDict(frozen=True)

    name: str
    documents: int
    chunks: int
    written: datetime | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved chunk id with its score (cosine, or the fused RRF score): higher is better.

    No pydantic model: a hybrid search makes hundreds of them on the way to its ten.

    Example:
        >>> from discorag.store.protocol import SearchQuery
        >>> piece = sample_of("tides.md", ["The moon pulls the sea.", "Tides rise."])
        >>> piece.put_in(store)
        >>> hit = store.search(piece.scope, SearchQuery(vector=piece.vectors[1], top_k=1))[0]
        >>> hit.chunk_id == piece.ids[1], round(hit.score, 3)
        (True, 1.0)
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

    Example:
        >>> from discorag.store.protocol import SearchQuery
        >>> piece = sample_of("tides.md", ["The moon pulls the sea.", "Tides rise."])
        >>> piece.put_in(store)
        >>> query = SearchQuery(vector=piece.vectors[0], text="Do tides rise?", retrieval="hybrid", top_k=1)
        >>> store.search(piece.scope, query)[0].chunk_id in piece.ids
        True
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    vector: Vectors
    text: str = ""
    retrieval: Retrieval = "dense"
    top_k: int = 10
    filters: Mapping[str, Sequence[str]] = {}


class Store(Protocol):
    """Documents, their chunks and their retrieval trees. All methods may block: call them from a thread.

    Any number may read and write at a time, also from other processes where the store is a server. Changes of one
    document (`put`, `delete`, `put_tree`, `delete_tree`) wait for each other, and one that comes too late, because its
    process was stopped and another one took the document over, changes nothing. At any moment every reader sees a
    document, and each tree of it, whole, old or new, or not at all. A writer that dies leaves what was seen before it
    came; the next `put` or `delete` of that document removes the rest, or the next opening of a store that has one
    owner and wrote down what it began.

    Raises:
        EncoderMismatchError: On opening, when the folder or collection was filled by another encoder.
        StoreLockedError: On opening, when another process owns the folder.
        DocumentTakenError: By a change: another process writes the document all the time, or has taken it over.
        StoreError: By any method: the disk or the server fails.
    """

    def put(
        self, scope: Scope, document: Document, manifest: Manifest, chunks: Sequence[Chunk], vectors: Vectors
    ) -> None:
        """Store a document, replacing what was there under its id.

        Readers see the old document until the new one is whole. ``vectors`` has shape (len(chunks), d), unit length.
        Its trees stay if the fingerprint is the stored one; else they go with the old document.
        """
        ...

    def delete(self, scope: Scope, doc_id: str) -> bool:
        """Remove a document with all its chunks and trees; whether it was there."""
        ...

    def manifests(self, scope: Scope, doc_ids: Sequence[str] | None = None) -> list[Manifest]:
        """All documents of the scope, or those of ``doc_ids`` that are stored, by uri."""
        ...

    def under(self, scope: Scope, folder: str) -> list[Manifest]:
        """The documents of the scope whose uri begins with this, in no order: costs no more for what lies elsewhere."""
        ...

    def has(self, scope: Scope, folder: str = "") -> bool:
        """Whether there is any document in the scope whose uri begins with this."""
        ...

    def claim(self, scope: Scope, doc_id: str) -> AbstractContextManager[bool]:
        """Whether no other process works on this document; then none does while the block lasts. Does not wait.

        Whoever reads a document in order to store it asks this first: of many processes one does it.
        """
        ...

    def corpora(self, tenant: str) -> list[Corpus]:
        """The corpora in which the tenant has documents, by name."""
        ...

    def manifest(self, scope: Scope, doc_id: str) -> Manifest | None:
        """The manifest of one document, None if it is not stored."""
        ...

    def document(self, scope: Scope, doc_id: str) -> Document:
        """The canonical document. Raises `NotFoundError`."""
        ...

    def chunks_of(self, scope: Scope, doc_id: str) -> list[Chunk]:
        """The chunks of a document in order. Raises `NotFoundError`."""
        ...

    def chunk_spans(self, scope: Scope, doc_id: str) -> Sequence[tuple[str, Span]]:
        """Id and characters of each chunk of a document, in order; remembered. Raises `NotFoundError`."""
        ...

    def chunks(self, scope: Scope, ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids, in that order. Raises `NotFoundError` if one is missing.

        The id of a node of a retrieval tree (`discorag.store.trees.node_id`) gives the node's text as a passage.
        """
        ...

    def vectors(self, scope: Scope, ids: Sequence[str]) -> Vectors:
        """The vectors of the chunks, or nodes, with these ids, in that order, shape (len(ids), d).

        Raises `NotFoundError` if one is missing.
        """
        ...

    def search(self, scope: Scope, query: SearchQuery) -> list[Hit]:
        """The best chunks of the scope, best first. Empty if nothing matches."""
        ...

    def put_tree(self, scope: Scope, doc_id: str, tree: RetrievalTree, vectors: Vectors, *, version: str) -> None:
        """Store a retrieval tree of a stored document, replacing that builder's.

        Readers see the old tree, or none, until the new one is whole. ``vectors`` has shape (nodes, d), unit length;
        ``version`` is `Builder.version`. Raises `NotFoundError` if the document is not stored.
        """
        ...

    def delete_tree(self, scope: Scope, doc_id: str, builder: str) -> bool:
        """Remove the tree of this builder; whether it was there."""
        ...

    def tree(self, scope: Scope, doc_id: str, builder: str) -> RetrievalTree:
        """The tree as it was stored. Raises `NotFoundError`."""
        ...

    def tree_of(self, scope: Scope, outline: Outline) -> RetrievalTree:
        """The tree that ``outline`` is of, with its texts. Raises `NotFoundError` if it was replaced since."""
        ...

    def outlines(self, scope: Scope, builder: str, doc_ids: Sequence[str]) -> Mapping[str, Outline]:
        """These documents' trees of this builder without their texts, those of the documents that have one.

        Much faster than `tree`.
        """
        ...

    def tree_versions(self, scope: Scope, builder: str, doc_ids: Sequence[str] | None = None) -> Mapping[str, str]:
        """The version of this builder's tree by document, for those of the documents (None: all) that have one."""
        ...

    def node_scores(
        self, scope: Scope, outlines: Mapping[str, Outline], vector: Vectors
    ) -> Mapping[str, NDArray[np.float32]]:
        """The exact cosine of every node to a unit ``vector`` (d,), by document: shape (nodes,), in their order.

        Of the trees as `outlines` gave them; those that were replaced since are left out. What DISRetrieval's
        algorithm 1 starts from.
        """
        ...

    def search_documents(self, scope: Scope, query: SearchQuery, limit: int) -> list[tuple[str, float]]:
        """The best documents with their scores, best first: cosine of the query to the mean of a document's chunks.

        Of the query, ``vector`` and ``filters`` count.
        """
        ...

    def check(self) -> Report:
        """Compare all that is stored with what was written: reads everything, changes nothing."""
        ...

    def optimise(self) -> None:
        """Make searches fast after many writes; may take minutes. Does nothing where it is not needed."""
        ...

    def close(self) -> None:
        """Flush and release; a closed store is not used again."""
        ...
