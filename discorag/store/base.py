"""The store over two shards, whichever kind they are: replacement, visibility, scopes, search."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from threading import Lock
from typing import Self
from uuid import UUID

from discorag.errors import InputError, InvariantError, NotFoundError, StoreError
from discorag.hierarchy.node import Chunk
from discorag.store import payload as points
from discorag.store.catalogue import Catalogue, Nearest, OwnedCatalogue
from discorag.store.protocol import Hit, Manifest, SearchQuery, Vectors
from discorag.store.ranking import fused, ranked
from discorag.store.shard import Shard
from discorag.text.document import Document, Scope
from discorag.text.terms import SparseVector, sparse_query

BATCH = 256
FUSION_DEPTH = 100
"""How deep each ranking is read for fusion (deeper if more hits are wanted)."""
ATTEMPTS = 10
"""How often chunks are looked for whose document is being replaced meanwhile."""


class ShardStore:
    """Documents in one shard, their chunks in another.

    A chunk is visible if it belongs to the live version of its document. `put` writes the new chunks, hidden; then the
    document's point with its manifest, which shows them and hides the old ones; then it deletes those. Readers from
    other threads, or processes, may come between any two steps; writers of one process wait for each other.

    Args:
        docs: Shard of the documents.
        nodes: Shard of the chunks.
        dimension: Length d of a vector.
        resources: What to release on closing; taken over when the store is made.
        catalogue: What is live; by default in memory, for shards that nothing else writes to.
    """

    def __init__(
        self, docs: Shard, nodes: Shard, *, dimension: int, resources: ExitStack, catalogue: Catalogue | None = None
    ) -> None:
        self._docs = docs
        self._nodes = nodes
        self._dimension = dimension
        self._writing = Lock()  # around a whole put or delete
        self._catalogue = catalogue or OwnedCatalogue(docs, nodes)
        self._lock = self._catalogue.lock
        self._resources = resources.pop_all()

    def put(
        self, scope: Scope, document: Document, manifest: Manifest, chunks: Sequence[Chunk], vectors: Vectors
    ) -> None:
        """See `Store.put`.

        Raises:
            InvariantError: See `discorag.store.payload.check`; the store is unchanged.
        """
        points.check(scope, document, manifest, chunks, vectors, self._dimension)
        with self._writing:
            self._catalogue.announce(scope, manifest)
            self._write_chunks(scope, manifest, chunks, vectors)
            self._catalogue.publish(scope, manifest, points.document_point(scope, document, manifest, vectors))
            self._sweep(scope, manifest.doc_id, keep=(points.version_of(manifest),))

    def _write_chunks(self, scope: Scope, manifest: Manifest, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        for at in range(0, len(chunks), BATCH):
            pairs = zip(chunks[at : at + BATCH], vectors[at : at + BATCH], strict=True)
            made = [points.chunk_point(scope, manifest, chunk, vector) for chunk, vector in pairs]
            with self._lock:
                self._nodes.upsert(made)

    def _sweep(self, scope: Scope, doc_id: str, *, keep: tuple[str, ...] = ()) -> None:
        """Delete the chunks of a document but for these versions."""
        with self._lock:
            self._nodes.delete(points.of_document(scope, doc_id).without(keep))
            self._catalogue.swept(scope, doc_id)

    def delete(self, scope: Scope, doc_id: str) -> bool:
        """See `Store.delete`."""
        with self._writing:
            found = self._catalogue.withdraw(scope, doc_id)
            self._sweep(scope, doc_id)
        return found

    def manifests(self, scope: Scope) -> list[Manifest]:
        """See `Store.manifests`."""
        return sorted(self._catalogue.manifests(scope), key=lambda m: m.uri)

    def manifest(self, scope: Scope, doc_id: str) -> Manifest | None:
        """See `Store.manifest`."""
        return self._catalogue.manifest(scope, doc_id)

    def document(self, scope: Scope, doc_id: str) -> Document:
        """See `Store.document`."""
        with self._lock:
            found = self._docs.retrieve([doc_id]).get(doc_id) if _is_uuid(doc_id) else None
        if found is None or (found["tenant"], found["corpus"]) != (scope.tenant, scope.corpus):
            raise _no_document(scope, doc_id)
        return Document.model_validate_json(found["document"])

    def chunks_of(self, scope: Scope, doc_id: str) -> list[Chunk]:
        """See `Store.chunks_of`.

        Raises:
            StoreError: Chunks are missing, also when looked for again (another process may be replacing them).
        """
        for _ in range(ATTEMPTS):
            with self._lock:
                manifest = self.manifest(scope, doc_id)
                if manifest is None:
                    raise _no_document(scope, doc_id)
                where = points.of_scope(scope).also(("version", (points.version_of(manifest),)))
                found = self._nodes.scroll(where, points.CHUNK_FIELDS)
            if len(found) == manifest.chunks:
                return [points.chunk_from(p) for p in sorted(found, key=lambda p: p["order"])]
        raise StoreError(f"Chunks of document {doc_id!r} are missing.", hint="Ingest it again with --refresh.")

    def chunks(self, scope: Scope, ids: Sequence[str]) -> list[Chunk]:
        """See `Store.chunks`."""
        with self._lock:
            found = self._nodes.retrieve([i for i in dict.fromkeys(ids) if _is_uuid(i)])
            live = self._catalogue.live(scope, {p["doc_id"] for p in found.values()})
        visible = {i: p for i, p in found.items() if p["version"] in live}
        for missing in (i for i in ids if i not in visible):
            raise NotFoundError(f"There is no chunk {missing!r} in {_named(scope)}.", hint=_STALE)
        return [points.chunk_from(visible[i]) for i in ids]

    def search(self, scope: Scope, query: SearchQuery) -> list[Hit]:
        """See `Store.search`. Document frequencies of BM25 are those of the scope; equal scores go by chunk id.

        Raises:
            InputError: ``top_k`` is below 1.
            InvariantError: The query vector has not shape (d,).
        """
        if query.top_k < 1:
            raise InputError(f"top_k is {query.top_k}.", hint="Ask for at least 1 chunk.")
        if query.vector.shape != (self._dimension,):
            raise InvariantError(f"The query vector has shape {query.vector.shape}, expected {(self._dimension,)}.")
        return self._catalogue.search(lambda nearest: _found(scope, query, nearest))

    def optimise(self) -> None:
        """See `Store.optimise`. Readers and writers wait where the store has one owner."""
        with self._writing, self._lock:
            self._nodes.optimise()

    def close(self) -> None:
        """Flush and release; closing again does nothing."""
        with self._writing, self._lock:
            self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _found(scope: Scope, query: SearchQuery, nearest: Nearest) -> list[Hit]:
    corpus = points.of_scope(scope)
    where = corpus.also(*points.metadata_filters(query.filters))

    def ranking(vector: Vectors | SparseVector, depth: int) -> list[Hit]:
        return ranked(lambda limit: nearest(vector, where, corpus=corpus, limit=limit), depth)

    if query.retrieval == "dense":
        return ranking(query.vector, query.top_k)
    depth = max(query.top_k, FUSION_DEPTH)
    terms = sparse_query(query.text)
    vectors: list[Vectors | SparseVector] = [query.vector, terms] if terms[0] else [query.vector]
    return fused([ranking(vector, depth) for vector in vectors])[: query.top_k]


def _no_document(scope: Scope, doc_id: str) -> NotFoundError:
    return NotFoundError(f"There is no document {doc_id!r} in {_named(scope)}.", hint=_STALE)


_STALE = "It may have been deleted or replaced: search again."


def _named(scope: Scope) -> str:
    return f"tenant {scope.tenant!r}, corpus {scope.corpus!r}"


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
