"""The store over two shards, whichever kind they are: replacement, visibility, scopes, search."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from threading import Lock, RLock
from typing import Self
from uuid import UUID

from discorag.errors import InputError, InvariantError, NotFoundError
from discorag.hierarchy.node import Chunk
from discorag.store import payload as points
from discorag.store.protocol import Hit, Manifest, SearchQuery, Vectors
from discorag.store.ranking import fused, ranked
from discorag.store.shard import Payload, Shard, Where
from discorag.text.document import Document, Scope
from discorag.text.terms import SparseVector, sparse_query

BATCH = 256
FUSION_DEPTH = 100
"""How deep each ranking is read for fusion (deeper if more hits are wanted)."""


class ShardStore:
    """Documents in one shard, their chunks in another.

    A chunk is visible if it belongs to its document's live manifest. Manifests are kept in memory. `put` writes the new
    chunks, hidden; then the manifest, which shows them and hides the old ones; then deletes those. Nothing else is ever
    hidden: chunks that a crash left without a manifest are deleted on opening. Readers from other threads may come
    between any two steps; writers wait for each other.

    Args:
        docs: Shard of the documents.
        nodes: Shard of the chunks.
        dimension: Length d of a vector.
        resources: What to release on closing; taken over when the store is made.
    """

    def __init__(self, docs: Shard, nodes: Shard, *, dimension: int, resources: ExitStack) -> None:
        self._docs = docs
        self._nodes = nodes
        self._dimension = dimension
        self._lock = RLock()  # around what must be seen together
        self._writing = Lock()  # around a whole put or delete
        self._hidden: dict[str, set[str]] = {}  # document id -> versions written, but not live
        self._live = self._load()
        versions = tuple(points.version_of(m) for scope in self._live.values() for m in scope.values())
        nodes.delete(Where(none=(("version", versions),)))
        self._resources = resources.pop_all()

    def _load(self) -> dict[Scope, dict[str, Manifest]]:
        live: dict[Scope, dict[str, Manifest]] = {}
        for found in self._docs.scroll(Where(), ("tenant", "corpus", "manifest")):
            manifest = Manifest.model_validate_json(found["manifest"])
            scope = Scope(tenant=found["tenant"], corpus=found["corpus"])
            live.setdefault(scope, {})[manifest.doc_id] = manifest
        return live

    def put(
        self, scope: Scope, document: Document, manifest: Manifest, chunks: Sequence[Chunk], vectors: Vectors
    ) -> None:
        """See `Store.put`.

        Raises:
            InvariantError: See `discorag.store.payload.check`; the store is unchanged.
        """
        points.check(scope, document, manifest, chunks, vectors, self._dimension)
        with self._writing:
            self._write_chunks(scope, manifest, chunks, vectors)
            with self._lock:
                old = self.manifest(scope, manifest.doc_id)
                self._docs.upsert([points.document_point(scope, document, manifest, vectors)])
                self._live.setdefault(scope, {})[manifest.doc_id] = manifest
                self._hide(old)
                self._hidden.get(manifest.doc_id, set()).discard(points.version_of(manifest))
            self._sweep(manifest.doc_id, keep=manifest)

    def _write_chunks(self, scope: Scope, manifest: Manifest, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        old = self.manifest(scope, manifest.doc_id)
        if old is None or points.version_of(old) != points.version_of(manifest):
            with self._lock:
                self._hide(manifest)
        for at in range(0, len(chunks), BATCH):
            pairs = zip(chunks[at : at + BATCH], vectors[at : at + BATCH], strict=True)
            made = [points.chunk_point(scope, manifest, chunk, vector) for chunk, vector in pairs]
            with self._lock:
                self._nodes.upsert(made)

    def _hide(self, manifest: Manifest | None) -> None:
        if manifest is not None:
            self._hidden.setdefault(manifest.doc_id, set()).add(points.version_of(manifest))

    def _sweep(self, doc_id: str, *, keep: Manifest | None = None) -> None:
        """Delete what is hidden of a document."""
        none = () if keep is None else (("version", (points.version_of(keep),)),)
        with self._lock:
            self._nodes.delete(Where((("doc_id", (doc_id,)),), none))
            self._hidden.pop(doc_id, None)

    def delete(self, scope: Scope, doc_id: str) -> bool:
        """See `Store.delete`."""
        with self._writing:
            with self._lock:
                manifest = self.manifest(scope, doc_id)
                if manifest is None:
                    return False
                self._docs.delete(points.of_scope(scope).also(("doc_id", (doc_id,))))
                del self._live[scope][doc_id]
                self._hide(manifest)
            self._sweep(doc_id)
        return True

    def manifests(self, scope: Scope) -> list[Manifest]:
        """See `Store.manifests`."""
        with self._lock:
            return sorted(self._live.get(scope, {}).values(), key=lambda m: m.uri)

    def manifest(self, scope: Scope, doc_id: str) -> Manifest | None:
        """See `Store.manifest`."""
        with self._lock:
            return self._live.get(scope, {}).get(doc_id)

    def document(self, scope: Scope, doc_id: str) -> Document:
        """See `Store.document`."""
        with self._lock:
            self._existing(scope, doc_id)
            return Document.model_validate_json(self._docs.retrieve([doc_id])[doc_id]["document"])

    def chunks_of(self, scope: Scope, doc_id: str) -> list[Chunk]:
        """See `Store.chunks_of`."""
        with self._lock:
            version = points.version_of(self._existing(scope, doc_id))
            where = points.of_scope(scope).also(("version", (version,)))
            found = self._nodes.scroll(where, points.CHUNK_FIELDS)
        return [points.chunk_from(p) for p in sorted(found, key=lambda p: p["order"])]

    def chunks(self, scope: Scope, ids: Sequence[str]) -> list[Chunk]:
        """See `Store.chunks`."""
        with self._lock:
            found = self._nodes.retrieve([i for i in dict.fromkeys(ids) if _is_uuid(i)])
            visible = {i: p for i, p in found.items() if self._is_visible(scope, p)}
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
        with self._lock:
            corpus = self._visible(scope)
            where = corpus.also(*points.metadata_filters(query.filters))
            if query.retrieval == "dense":
                return self._ranking(query.vector, where, corpus, query.top_k)
            return self._hybrid(query, where, corpus)[: query.top_k]

    def _hybrid(self, query: SearchQuery, where: Where, corpus: Where) -> list[Hit]:
        depth = max(query.top_k, FUSION_DEPTH)
        terms = sparse_query(query.text)
        vectors: list[Vectors | SparseVector] = [query.vector, terms] if terms[0] else [query.vector]
        return fused([self._ranking(v, where, corpus, depth) for v in vectors])

    def _ranking(self, vector: Vectors | SparseVector, where: Where, corpus: Where, depth: int) -> list[Hit]:
        return ranked(lambda limit: self._nodes.nearest(vector, where, corpus=corpus, limit=limit), depth)

    def _visible(self, scope: Scope) -> Where:
        hidden = tuple(version for versions in self._hidden.values() for version in versions)
        return Where(points.of_scope(scope).each, (("version", hidden),) if hidden else ())

    def _is_visible(self, scope: Scope, payload: Payload) -> bool:
        manifest = self.manifest(scope, payload["doc_id"])
        return manifest is not None and points.version_of(manifest) == payload["version"]

    def _existing(self, scope: Scope, doc_id: str) -> Manifest:
        manifest = self.manifest(scope, doc_id)
        if manifest is None:
            raise NotFoundError(f"There is no document {doc_id!r} in {_named(scope)}.", hint=_STALE)
        return manifest

    def close(self) -> None:
        """Flush and release; closing again does nothing."""
        with self._writing, self._lock:
            self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_STALE = "It may have been deleted or replaced: search again."


def _named(scope: Scope) -> str:
    return f"tenant {scope.tenant!r}, corpus {scope.corpus!r}"


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
