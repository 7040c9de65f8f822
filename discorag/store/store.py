"""The store: documents, their chunks and their retrieval trees in a database, searched through an index of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from tempfile import TemporaryDirectory
from typing import Self

import numpy as np
from numpy.typing import NDArray

from discorag.config import StoreSettings
from discorag.schema.document import Chunk, Document, Scope
from discorag.schema.errors import ConfigError, NotFoundError, StoreFullError
from discorag.schema.report import Difference, Report
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.schema.values import Span, Vectors
from discorag.store.check import check_store
from discorag.store.conversions import Conversions
from discorag.store.database import FILE, STALE, Database, named
from discorag.store.documents import Documents
from discorag.store.index import INDEXES, IndexedDocument, IndexPlace
from discorag.store.live import LiveIndex
from discorag.store.outline import Outline
from discorag.store.records import Corpus, Hit, Manifest, SearchQuery, check_query, check_vector
from discorag.store.search import best, nearest_documents
from discorag.store.trees import Trees


def open_store(settings: StoreSettings, encoder: tuple[str, int] | None = None) -> Store:
    """Open the store that the settings name, making it if it is not there.

    Args:
        settings: Its folder, and the index's kind or server.
        encoder: `Encoder.version` and dimension of the encoder in use; None: only what needs no encoder is done.

    Raises:
        UnknownNameError: There is no index of this kind.
        ConfigError: Both a server and memory are asked for, or a server without its address.
        NotFoundError: There is no store, and no encoder was given.
        StoreError: See `discorag.store.database.Database`.
    """
    kind = "server" if settings.url is not None and settings.kind == "edge" else settings.kind
    INDEXES.check(kind)
    if (kind == "memory") == (settings.url is not None) and kind in ("memory", "server"):
        said = f"The index is to be in memory and at {settings.url}." if settings.url else "The server has no address."
        raise ConfigError(said, hint="Check DISCO_RAG_STORE__KIND and DISCO_RAG_STORE__URL.")
    return Store(settings, kind, encoder)


class Store:
    """Documents of all tenants. All methods may block: call them from a thread. Also a context manager.

    Any number of threads and processes may use one folder at a time. Writers wait for each other; a change is one
    transaction, which every reader sees whole or not at all, and which survives the end of the process. One process
    has the index; the others search exactly.

    Args:
        settings: Where it is.
        kind: Name of the index.
        encoder: See `open_store`.

    Raises:
        StoreError: As `open_store`; by any method: the disk fails, is full (`StoreFullError`), another process writes
            for too long (`StoreLockedError`), or the database is damaged (`StoreDamagedError`).

    Example:
        >>> piece = sample_of("tides.md", ["The moon pulls the sea.", "Tides rise."])
        >>> store.put(piece.scope, piece.document, piece.manifest, piece.chunks, piece.vectors)
        >>> [chunk.text for chunk in store.chunks_of(piece.scope, piece.doc_id)]
        ['The moon pulls the sea.', 'Tides rise.']
        >>> store.delete(piece.scope, piece.doc_id), store.manifests(piece.scope)
        (True, [])
    """

    def __init__(self, settings: StoreSettings, kind: str, encoder: tuple[str, int] | None) -> None:
        self._temporary = TemporaryDirectory(prefix="disco-rag-") if kind == "memory" else None
        folder = settings.path if self._temporary is None else settings.path.__class__(self._temporary.name)
        self.database = Database(folder / FILE, encoder, safe=self._temporary is None)
        identity, opening = self.database.identity, INDEXES[kind]
        place = IndexPlace(settings, folder, identity.id, identity.dimension)
        self._min_free = int(settings.min_free_mb * 1_000_000) if self._temporary is None else 0
        self.index = LiveIndex(
            self.database, lambda fresh: opening(place, fresh=fresh), min_free=self._min_free if kind == "edge" else 0
        )
        self.conversions = Conversions(self.database)
        self._documents, self._trees = Documents(self.database), Trees(self.database)

    @property
    def index_note(self) -> str:
        """How searches are done where that is not by the index; else empty."""
        return f"exact ({self.index.reason})" if self.index.reason else ""

    def put(
        self, scope: Scope, document: Document, manifest: Manifest, chunks: Sequence[Chunk], vectors: Vectors
    ) -> None:
        """See `discorag.store.documents.Documents.put`. Also raises `StoreFullError` on a disk that is nearly full."""
        self._check_room()
        self._documents.put(scope, document, manifest, chunks, vectors)
        self.index.changed()

    def delete(self, scope: Scope, doc_id: str) -> bool:
        """Remove a document with all its chunks and trees; whether it was there."""
        found = self._documents.delete(scope, doc_id)
        if found:
            self.index.changed()
        return found

    def _check_room(self) -> None:
        free = self.database.free
        if free < self._min_free:
            raise StoreFullError(
                f"The disk of {self.database.file.parent} is nearly full ({free / 1e6:.0f} MB free, "
                f"{self._min_free / 1e6:.0f} MB are kept free): nothing is stored.",
                hint="Make room: it goes on by itself. DISCO_RAG_STORE__MIN_FREE_MB sets the limit.",
            )

    def manifests(self, scope: Scope, doc_ids: Sequence[str] | None = None) -> list[Manifest]:
        """All documents of the scope, or those of ``doc_ids`` that are stored, by uri."""
        return self._documents.manifests(scope, doc_ids)

    def under(self, scope: Scope, folder: str) -> list[Manifest]:
        """The documents of the scope whose uri begins with this."""
        return self._documents.under(scope, folder)

    def has(self, scope: Scope, folder: str = "") -> bool:
        """Whether there is any document in the scope whose uri begins with this."""
        return self._documents.has(scope, folder)

    def corpora(self, tenant: str) -> list[Corpus]:
        """The corpora in which the tenant has documents, by name."""
        return self._documents.corpora(tenant)

    def manifest(self, scope: Scope, doc_id: str) -> Manifest | None:
        """The manifest of one document, None if it is not stored."""
        return self._documents.manifest(scope, doc_id)

    def document(self, scope: Scope, doc_id: str) -> Document:
        """The canonical document. Raises `NotFoundError`."""
        return self._documents.document(scope, doc_id)

    def chunks_of(self, scope: Scope, doc_id: str) -> list[Chunk]:
        """The chunks of a document in order, without their units' vectors. Raises `NotFoundError`."""
        return self._documents.chunks_of(scope, doc_id)

    def chunk_spans(self, scope: Scope, doc_id: str) -> Sequence[tuple[str, Span]]:
        """Id and characters of each chunk of a document, in order. Raises `NotFoundError`."""
        return self._documents.chunk_spans(scope, doc_id)

    def chunks(self, scope: Scope, ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids, in that order.

        The id of a node of a retrieval tree (`discorag.store.outline.node_id`) gives the node's text as a passage.

        Raises:
            NotFoundError: One is missing.
        """
        found = self._documents.chunks(scope, set(ids))
        found |= self._trees.passages(scope, [i for i in dict.fromkeys(ids) if i not in found])
        _check_found(scope, ids, found)
        return [found[i] for i in ids]

    def search(self, scope: Scope, query: SearchQuery) -> list[Hit]:
        """The best chunks of the scope, best first, equal scores by chunk id. Empty if nothing matches.

        Document frequencies of BM25 are those of the scope.

        Raises:
            InputError: ``top_k`` is below 1.
            InvariantError: The query vector has not shape (d,).
        """
        check_query(query, query.top_k, self.database.identity.dimension)

        def find(count: int) -> list[Hit]:
            wanted = query.model_copy(update={"top_k": count})
            return self.index.search(lambda searcher: best(wanted, searcher, scope))

        return self._current(find, partial(self._documents.current, scope), query.top_k)

    def search_documents(self, scope: Scope, query: SearchQuery, limit: int) -> list[tuple[str, float]]:
        """The best documents with their scores, best first: cosine of the query to the mean of a document's chunks.

        Of the query, ``vector`` and ``filters`` count; equal scores go by document id. Raises as `search`.
        """
        check_query(query, limit, self.database.identity.dimension)

        def find(count: int) -> list[Hit]:
            return self.index.search(lambda searcher: nearest_documents(query, searcher, scope, count))

        hits = self._current(find, partial(self._documents.current_documents, scope), limit)
        return [(hit.chunk_id, hit.score) for hit in hits]

    def _current(
        self, find: Callable[[int], list[Hit]], current: Callable[[Sequence[str]], set[str]], wanted: int
    ) -> list[Hit]:
        """The first hits that are in the database: a shared index may have what was replaced a moment ago."""
        count = wanted
        while True:
            hits = find(count)
            known = {h.chunk_id for h in hits} if self.index.is_exact else current([h.chunk_id for h in hits])
            kept = [hit for hit in hits if hit.chunk_id in known]
            if len(kept) >= wanted or len(hits) < count:
                return kept[:wanted]
            count *= 2

    def put_tree(self, scope: Scope, doc_id: str, tree: RetrievalTree, vectors: Vectors, *, version: str) -> None:
        """See `discorag.store.trees.Trees.put`. Also raises `StoreFullError` on a disk that is nearly full."""
        self._check_room()
        self._trees.put(scope, doc_id, tree, vectors, version=version)

    def delete_tree(self, scope: Scope, doc_id: str, builder: str) -> bool:
        """Remove the tree of this builder; whether it was there."""
        return self._trees.delete(scope, doc_id, builder)

    def tree(self, scope: Scope, doc_id: str, builder: str) -> RetrievalTree:
        """The tree as it was stored. Raises `NotFoundError`."""
        return self._trees.tree(scope, doc_id, builder)

    def tree_of(self, scope: Scope, outline: Outline) -> RetrievalTree:
        """The tree that ``outline`` is of, with its texts. Raises `NotFoundError` if it was replaced since."""
        return self._trees.of(scope, outline)

    def outlines(self, scope: Scope, builder: str, doc_ids: Sequence[str]) -> Mapping[str, Outline]:
        """These documents' trees of this builder without their texts, those of the documents that have one.

        Much faster than `tree`.
        """
        return self._trees.outlines(scope, builder, doc_ids)

    def tree_versions(self, scope: Scope, builder: str, doc_ids: Sequence[str] | None = None) -> Mapping[str, str]:
        """The version of this builder's tree by document, for those of the documents (None: all) that have one."""
        return self._trees.versions(scope, builder, doc_ids)

    def node_scores(
        self, scope: Scope, outlines: Mapping[str, Outline], vector: Vectors
    ) -> Mapping[str, NDArray[np.float32]]:
        """See `discorag.store.trees.Trees.scores`. Raises `InvariantError` if ``vector`` has not shape (d,)."""
        check_vector(vector, self.database.identity.dimension)
        return self._trees.scores(scope, outlines, vector)

    def indexed(self) -> Iterator[IndexedDocument]:
        """Every document as an index needs it."""
        return self.index.documents()

    def check(self) -> Report:
        """Read all that is stored, and count what the index has; changes nothing."""
        points = self.index.count()
        report = check_store(self.database, points)
        if points is None and self.index.lost:
            lost = Difference(part="index", note=self.index.reason)
            report = report.model_copy(update={"differences": (*report.differences, lost)})
        return report

    def reindex(self) -> int:
        """Make the index again from the database, without encoding anything; how many documents it has."""
        return self.index.rebuild()

    def optimise(self) -> None:
        """Make searches fast after many writes; may take minutes. Does nothing where it is not needed."""
        self.index.optimise()

    def close(self) -> None:
        """Flush and release; a closed store is not used again."""
        self.index.close()
        self.database.close()
        if self._temporary:
            self._temporary.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_found(scope: Scope, ids: Sequence[str], found: Mapping[str, object]) -> None:
    for missing in (i for i in ids if i not in found):
        raise NotFoundError(f"There is no chunk {missing!r} in {named(scope)}.", hint=STALE)
