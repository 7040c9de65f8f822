"""The store over two shards, whichever kind they are: replacement, visibility, scopes, search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from discorag.models.loops import InTurn
from discorag.store import payload as points
from discorag.store.catalogue import Catalogue, OwnedCatalogue, counted
from discorag.store.check import Mended, inspect, tallies
from discorag.store.checksums import checksum
from discorag.store.outline import Outline
from discorag.store.payload import Entry
from discorag.store.protocol import Corpus, Hit, Manifest, SearchQuery
from discorag.store.ranking import best, ranked
from discorag.store.recent import Recent
from discorag.store.shard import OWNER, Payload, Shard, Where
from discorag.store.trees import StoredTree, Trees
from discorag.types.chunk import Chunk
from discorag.types.document import Document, Scope
from discorag.types.errors import NotFoundError, StoreError
from discorag.types.report import Report
from discorag.types.retrieval_tree import RetrievalTree
from discorag.types.span import Span
from discorag.types.vectors import Vectors

ATTEMPTS = 10
"""How often chunks are looked for whose document is being replaced meanwhile."""
REMEMBERED = 10_000
"""Documents whose chunks' places are remembered."""


@dataclass(frozen=True)
class Stored:
    """All that is stored of a document; ``vectors`` has shape (chunks, d).

    Example:
        >>> sample_of("tides.md", ["Tides rise."]).put_in(store)
        >>> [(stored.manifest.uri, stored.vectors.shape) for stored in store.stored()]
        [('tides.md', (1, 8))]
    """

    scope: Scope
    document: Document
    manifest: Manifest
    chunks: Sequence[Chunk]
    vectors: Vectors
    trees: tuple[StoredTree, ...]


class ShardStore:
    """Documents in one shard, their chunks and the nodes of their retrieval trees in another.

    A chunk is visible if it belongs to the live version of its document. `put` writes the new chunks, hidden; then the
    document's point with its manifest, which shows them and hides the old ones; then it deletes those. The same point
    names the live trees: `put_tree` goes the same way. Readers from other threads, or processes, may come between any
    two steps; writers of one process wait for each other.

    Args:
        docs: Shard of the documents.
        nodes: Shard of the chunks and nodes.
        dimension: Length d of a vector.
        resources: What to release on closing; taken over when the store is made.
        catalogue: What is live; by default in memory, for shards that nothing else writes to.

    Example:
        >>> piece = sample_of("tides.md", ["The moon pulls the sea.", "Tides rise."])
        >>> store.put(piece.scope, piece.document, piece.manifest, piece.chunks, piece.vectors)
        >>> [chunk.text for chunk in store.chunks_of(piece.scope, piece.doc_id)]
        ['The moon pulls the sea.', 'Tides rise.']
        >>> store.delete(piece.scope, piece.doc_id), store.manifests(piece.scope)
        (True, [])
    """

    def __init__(
        self, docs: Shard, nodes: Shard, *, dimension: int, resources: ExitStack, catalogue: Catalogue | None = None
    ) -> None:
        self._docs = docs
        self._nodes = nodes
        self._dimension = dimension
        self._writing = InTurn()  # around a whole put or delete
        self._catalogue = catalogue or OwnedCatalogue(docs, nodes)
        self._lock = self._catalogue.lock
        self._trees = Trees(nodes, self._catalogue, dimension)
        self._spans = Recent[Sequence[tuple[str, Span]]](REMEMBERED)
        self._resources = resources.pop_all()

    def put(
        self, scope: Scope, document: Document, manifest: Manifest, chunks: Sequence[Chunk], vectors: Vectors
    ) -> None:
        """See `Store.put`.

        Raises:
            InvariantError: See `discorag.store.payload.check`; the store is unchanged.
        """
        points.check(scope, document, manifest, chunks, vectors, self._dimension)
        made = [points.chunk_point(scope, manifest, c, v) for c, v in zip(chunks, vectors, strict=True)]
        content = checksum(made, exact=self._nodes.exact)
        with self._catalogue.lease(scope, manifest.doc_id), self._writing:
            self._catalogue.begin(scope, manifest.doc_id, points.version_of(manifest))
            self._catalogue.write(scope, manifest.doc_id, made)
            old = self._catalogue.entry(scope, manifest.doc_id)
            same = old is not None and old.manifest.fingerprint == manifest.fingerprint
            entry = Entry(manifest, old.trees if old and same else {}, content)
            self._catalogue.publish(scope, entry, points.document_point(scope, document, entry, vectors))
            self._catalogue.sweep(scope, manifest.doc_id, entry.keys)

    def delete(self, scope: Scope, doc_id: str) -> bool:
        """See `Store.delete`."""
        if not points.is_uuid(doc_id):
            return False
        with self._catalogue.lease(scope, doc_id), self._writing:
            self._catalogue.begin(scope, doc_id)
            found = self._catalogue.withdraw(scope, doc_id)
            self._catalogue.sweep(scope, doc_id, ())
        return found

    def put_tree(self, scope: Scope, doc_id: str, tree: RetrievalTree, vectors: Vectors, *, version: str) -> None:
        """See `Store.put_tree`.

        Raises:
            InvariantError: A leaf is not the document's text, a node lies outside of it, or the vectors are not unit
                vectors of shape (nodes, d); the store is unchanged.
        """
        entry = self._catalogue.entry(scope, doc_id)
        if entry is None:
            raise points.no_document(scope, doc_id)
        made = self._trees.made(scope, entry, self.document(scope, doc_id), tree, vectors, version)
        with self._catalogue.lease(scope, doc_id), self._writing:
            now = self._catalogue.entry(scope, doc_id)
            if now is None or now.manifest != entry.manifest:  # deleted or replaced meanwhile
                raise points.no_document(scope, doc_id)
            self._trees.put(scope, now, made)

    def delete_tree(self, scope: Scope, doc_id: str, builder: str) -> bool:
        """See `Store.delete_tree`."""
        if self._catalogue.entry(scope, doc_id) is None:
            return False
        with self._catalogue.lease(scope, doc_id), self._writing:
            entry = self._catalogue.entry(scope, doc_id)
            return entry is not None and self._trees.delete(scope, entry, builder)

    def tree(self, scope: Scope, doc_id: str, builder: str) -> RetrievalTree:
        """See `Store.tree`.

        Raises:
            StoreError: Nodes are missing, also when looked for again (another process may be replacing them).
        """
        return self._trees.tree(scope, doc_id, builder)

    def tree_of(self, scope: Scope, outline: Outline) -> RetrievalTree:
        """See `Store.tree_of`."""
        return self._trees.of(scope, outline)

    def outlines(self, scope: Scope, builder: str, doc_ids: Sequence[str]) -> Mapping[str, Outline]:
        """See `Store.outlines`.

        Raises:
            StoreError: As by `tree`.
        """
        return self._trees.outlines(scope, builder, doc_ids)

    def tree_versions(self, scope: Scope, builder: str, doc_ids: Sequence[str] | None = None) -> Mapping[str, str]:
        """See `Store.tree_versions`."""
        return self._trees.versions(scope, builder, doc_ids)

    def manifests(self, scope: Scope, doc_ids: Sequence[str] | None = None) -> list[Manifest]:
        """See `Store.manifests`."""
        return sorted((entry.manifest for entry in self._catalogue.entries(scope, doc_ids)), key=lambda m: m.uri)

    def under(self, scope: Scope, folder: str) -> list[Manifest]:
        """See `Store.under`."""
        return [entry.manifest for entry in self._catalogue.under(scope, folder)]

    def has(self, scope: Scope, folder: str = "") -> bool:
        """See `Store.has`."""
        return self._catalogue.has(scope, folder)

    def claim(self, scope: Scope, doc_id: str) -> AbstractContextManager[bool]:
        """See `Store.claim`."""
        return self._catalogue.claim(scope, doc_id)

    def corpora(self, tenant: str) -> list[Corpus]:
        """See `Store.corpora`."""
        return counted(self._catalogue.of_tenant(tenant))

    def manifest(self, scope: Scope, doc_id: str) -> Manifest | None:
        """See `Store.manifest`."""
        entry = self._catalogue.entry(scope, doc_id)
        return entry.manifest if entry else None

    def document(self, scope: Scope, doc_id: str) -> Document:
        """See `Store.document`."""
        with self._lock:
            found = self._docs.retrieve([doc_id]).get(doc_id) if points.is_uuid(doc_id) else None
        if found is None or (found["tenant"], found["corpus"]) != (scope.tenant, scope.corpus):
            raise points.no_document(scope, doc_id)
        return Document.model_validate_json(found["document"])

    def chunks_of(self, scope: Scope, doc_id: str) -> list[Chunk]:
        """See `Store.chunks_of`.

        Raises:
            StoreError: Chunks are missing, also when looked for again (another process may be replacing them).
        """
        return [points.chunk_from(p) for p in self._chunk_payloads(scope, doc_id)]

    def chunk_spans(self, scope: Scope, doc_id: str) -> Sequence[tuple[str, Span]]:
        """See `Store.chunk_spans`. Raises as `chunks_of`."""
        manifest = self.manifest(scope, doc_id)
        version = points.version_of(manifest) if manifest else ""
        known = self._spans.get(version)
        if known is None:
            known = [points.place_of(p) for p in self._chunk_payloads(scope, doc_id)]
            self._spans[version] = known
        return known

    def _chunk_payloads(self, scope: Scope, doc_id: str) -> list[Payload]:
        """`CHUNK_FIELDS` of the chunks of a document, in order."""
        for _ in range(ATTEMPTS):
            with self._lock:
                manifest = self.manifest(scope, doc_id)
                if manifest is None:
                    raise points.no_document(scope, doc_id)
                where = points.of_scope(scope).also(("version", (points.version_of(manifest),)))
                found = self._nodes.scroll(where, points.CHUNK_FIELDS)
            if len(found) == manifest.chunks:
                return sorted(found, key=lambda p: p["order"])
        raise StoreError(f"Chunks of document {doc_id!r} are missing.", hint="Ingest it again with --refresh.")

    def chunks(self, scope: Scope, ids: Sequence[str]) -> list[Chunk]:
        """See `Store.chunks`."""
        with self._lock:
            found = self._nodes.retrieve([i for i in dict.fromkeys(ids) if points.is_uuid(i)])
            live = self._catalogue.entries(scope, {p["doc_id"] for p in found.values()})
        shown = {version: e.manifest for e in live for version in e.keys}
        visible = {i: p for i, p in found.items() if p["version"] in shown}
        for missing in (i for i in ids if i not in visible):
            raise NotFoundError(f"There is no chunk {missing!r} in {points.named(scope)}.", hint=points.STALE)
        return [_passage(i, visible[i], shown[visible[i]["version"]].title) for i in ids]

    def vectors(self, scope: Scope, ids: Sequence[str]) -> Vectors:
        """See `Store.vectors`."""
        with self._lock:
            found = self._nodes.vectors([i for i in dict.fromkeys(ids) if points.is_uuid(i)])
        owner = (scope.tenant, scope.corpus)
        own = {i: v for i, (payload, v) in found.items() if tuple(payload[f] for f in OWNER) == owner}
        for missing in (i for i in ids if i not in own):
            raise NotFoundError(f"There is no chunk {missing!r} in {points.named(scope)}.", hint=points.STALE)
        return np.stack([own[i] for i in ids]) if ids else np.zeros((0, self._dimension), np.float32)

    def search(self, scope: Scope, query: SearchQuery) -> list[Hit]:
        """See `Store.search`. Document frequencies of BM25 are those of the scope; equal scores go by chunk id.

        Raises:
            InputError: ``top_k`` is below 1.
            InvariantError: The query vector has not shape (d,).
        """
        points.check_query(query, query.top_k, self._dimension)
        corpus = points.of_scope(scope)
        where = corpus.also(*points.metadata_filters(query.filters))
        return self._catalogue.search(lambda nearest: best(query, nearest, where, corpus=corpus))

    def search_documents(self, scope: Scope, query: SearchQuery, limit: int) -> list[tuple[str, float]]:
        """See `Store.search_documents`. Equal scores go by document id.

        Raises:
            InputError: ``limit`` is below 1.
            InvariantError: The query vector has not shape (d,).
        """
        points.check_query(query, limit, self._dimension)
        where = points.of_scope(scope).also(*points.metadata_filters(query.filters))
        with self._lock:
            hits = ranked(lambda n: self._docs.nearest(query.vector, where, corpus=where, limit=n), limit)
        return [(hit.chunk_id, hit.score) for hit in hits]

    def node_scores(
        self, scope: Scope, outlines: Mapping[str, Outline], vector: Vectors
    ) -> Mapping[str, NDArray[np.float32]]:
        """See `Store.node_scores`.

        Raises:
            InvariantError: ``vector`` has not shape (d,).
        """
        return self._trees.scores(scope, outlines, vector)

    def check(self) -> Report:
        """Compare all points with what was written: reads the whole store. See `Store.check`."""
        return inspect(self._docs, self._nodes, self._catalogue.all())

    def stored(self, tenant: str | None = None) -> Iterator[Stored]:
        """Every document of a tenant, or of all, each in one state; one that is deleted meanwhile may be left out.

        Raises:
            StoreError: Points are missing, also when looked for again.
        """
        for scope, entry in self._catalogue.all():
            if tenant in (None, scope.tenant) and (found := self._stored(scope, entry.manifest.doc_id)):
                yield found

    def _stored(self, scope: Scope, doc_id: str) -> Stored | None:
        for _ in range(ATTEMPTS):
            try:
                document = self._catalogue.document(scope, doc_id)  # before the lock, which writers take after its own
            except (NotFoundError, LookupError):
                return None
            with self._lock:
                entry = self._catalogue.entry(scope, doc_id)
                if entry is None:
                    return None
                where = points.of_scope(scope).also(("version", (points.version_of(entry.manifest),)))
                found = sorted(self._nodes.points(where), key=lambda p: p.payload["order"])
                trees = self._trees.stored(scope, entry)
            is_one_state = document.content_hash == entry.manifest.content_hash
            if is_one_state and len(found) == entry.manifest.chunks and len(trees) == len(entry.trees):
                chunks = [points.chunk_from(p.payload) for p in found]
                vectors = np.stack([p.dense for p in found])
                return Stored(scope, document, entry.manifest, chunks, vectors, tuple(trees))
        raise StoreError(f"Chunks or nodes of document {doc_id!r} are missing.", hint="Run disco-rag check.")

    def mend(self) -> Mended:
        """Make right what can be told from what is stored; see `Mended` for the rest. Nobody else writes meanwhile."""
        unread: list[tuple[Scope, Document, Manifest]] = []
        trees: list[tuple[Scope, str, str]] = []
        report = self.check()
        entries = {entry.manifest.doc_id: entry for _, entry in self._catalogue.all()}
        for d in report.differences:
            if d.part == "leftovers":
                self._catalogue.clear()
            elif d.part == "tree":
                trees.append((d.scope, d.doc_id, d.builder))
            elif d.part == "chunks" or not self._catalogue.restate(d.scope, entries[d.doc_id]):
                unread.append((d.scope, self._catalogue.document(d.scope, d.doc_id), entries[d.doc_id].manifest))
                trees += [(d.scope, d.doc_id, builder) for builder in entries[d.doc_id].trees]
        for scope, _, manifest in unread:
            self._catalogue.withhold(scope, manifest.doc_id)
            self._nodes.delete(Where((("version", (points.version_of(manifest),)),)))
        for tree in trees:
            self.delete_tree(*tree)  # of an unread document nothing is shown
        self._add_checksums({manifest.doc_id for _, _, manifest in unread})
        return Mended(tuple(unread), tuple(dict.fromkeys(trees)), tuple(map(str, report.differences)))

    def _add_checksums(self, unread: set[str]) -> None:
        """To entries that earlier versions wrote."""
        old = [(scope, e) for scope, e in self._catalogue.all() if not e.has_checksums]
        found = tallies(self._nodes) if old else {}
        for scope, entry in old:
            if entry.manifest.doc_id not in unread:
                trees = {b: replace(part, content=found[part.key].content) for b, part in entry.trees.items()}
                self._catalogue.restate(scope, replace(entry, trees=trees))

    def optimise(self) -> None:
        """See `Store.optimise`. Readers and writers wait where the store has one owner."""
        with self._writing, self._lock:
            self._docs.optimise()
            self._nodes.optimise()

    def close(self) -> None:
        """Flush and release; closing again does nothing."""
        with self._writing, self._lock:
            self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _passage(point: str, payload: Payload, title: str) -> Chunk:
    is_node = payload["kind"] == "node"
    return points.node_from(point, payload, title) if is_node else points.chunk_from(payload)
