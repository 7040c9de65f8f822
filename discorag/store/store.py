"""The store: documents, their chunks and their retrieval trees in a database, searched through an index of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from sqlalchemy import Column

from discorag.config import StoreSettings
from discorag.schema.document import Scope
from discorag.schema.errors import ConfigError, InputError, InvariantError, NotFoundError
from discorag.schema.metadata import Filters
from discorag.store import tables
from discorag.store.check import Difference, Report, check_store
from discorag.store.database import FILE, Database
from discorag.store.index import IndexPlace
from discorag.store.live import LiveIndex
from discorag.store.postgres import PostgresServer
from discorag.store.records import Hit, SearchQuery
from discorag.store.search import best, find_enough, nearest_documents
from discorag.store.sqlite import SqliteFile
from discorag.store.trees import DocumentTrees
from discorag.text.terms import sparse_query


def open_store(settings: StoreSettings, encoder: tuple[str, int] | None = None) -> Store:
    """Open the store that the settings name, creating it if it does not exist.

    ``encoder`` is `Encoder.version` and dimension of the encoder in use; None: that of the store, nothing is encoded.

    Raises:
        ConfigError: Both a server and memory are asked for.
        NotFoundError: There is no store, and no encoder was given.
        StoreError: See `discorag.store.database.Database`.
    """
    if settings.kind == "memory" and (settings.url or settings.database_url):
        hint = "Unset DISCO_RAG_STORE__KIND, or DISCO_RAG_STORE__URL and DISCO_RAG_DATABASE_URL."
        raise ConfigError("The store cannot be in memory and on a server.", hint=hint)
    return Store(settings, encoder)


class Store(DocumentTrees):
    """Documents of all tenants. All methods may block: call them from a thread. Also a context manager.

    Any number of threads and processes may use one folder or database at a time. A change is one transaction, which
    every reader sees whole or not at all, and which survives the end of the process. One process has the index of a
    folder; the others search exactly.

    Raises:
        StoreError: As `open_store`; by any method: the disk fails, is full (`StoreFullError`), another process writes
            for too long, or the database is damaged (`StoreDamagedError`).
    """

    def __init__(self, settings: StoreSettings, encoder: tuple[str, int] | None) -> None:
        self._temporary = TemporaryDirectory(prefix="disco-rag-") if settings.kind == "memory" else None
        self._on_server = bool(settings.url)
        folder = Path(self._temporary.name) if self._temporary else settings.path
        if settings.database_url:
            place = PostgresServer(settings.database_url)
        elif encoder is None and not (folder / FILE).is_file():
            raise NotFoundError(f"There is no store in {folder}.", hint="Check DISCO_RAG_STORE__PATH.")
        elif self._temporary:
            place = SqliteFile(folder / FILE, safe=False)
        else:
            place = SqliteFile(folder / FILE, min_free=int(settings.min_free_mb * 1_000_000))
        super().__init__(Database(place, encoder))
        identity = self.database.identity
        place_of_index = IndexPlace(settings, folder, identity.id, identity.encoder, identity.dimension)
        self.index = LiveIndex(self.database, place_of_index)

    @property
    def index_note(self) -> str:
        """How searches are done if not by the index; otherwise empty."""
        return f"exact ({self.index.reason})" if self.index.reason else ""

    def check_index(self) -> str:
        """Bring the index up to date if it is on a Qdrant server, so that a failure is noticed; return `index_note`."""
        if self._on_server:
            self.index.count()
        return self.index_note

    def changed(self) -> None:
        """Bring the index up to date."""
        self.index.changed()

    def search(self, scope: Scope, query: SearchQuery) -> list[Hit]:
        """The best chunks of the scope, best first, equal scores by chunk id. Empty if nothing matches.

        Document frequencies of BM25 are those of the scope.

        Raises:
            InputError: ``top_k`` is below 1.
            InvariantError: The query vector has not shape (d,).
        """
        self._check(query, query.top_k)

        def find(count: int) -> list[Hit]:
            wanted = query.model_copy(update={"top_k": count})
            return self.index.search(lambda searcher: best(wanted, searcher, scope))

        return self._current(find, scope, tables.chunks.c.id, query.top_k)

    def search_words(self, scope: Scope, text: str, filters: Filters, limit: int) -> list[Hit]:
        """The best chunks of the scope that hold at least one search term of ``text``, by BM25; empty if none does."""
        wanted = sparse_query(text)

        def find(count: int) -> list[Hit]:
            return self.index.search(lambda searcher: searcher.nearest(scope, wanted, filters, count))

        return self._current(find, scope, tables.chunks.c.id, limit) if wanted[0] else []

    def search_documents(self, scope: Scope, query: SearchQuery, limit: int) -> list[tuple[str, float]]:
        """The best documents with their scores, best first: cosine of the query to the mean of a document's chunks.

        Of the query, ``vector`` and ``filters`` count; equal scores go by document id. Raises as `search`.
        """
        self._check(query, limit)

        def find(count: int) -> list[Hit]:
            return self.index.search(lambda searcher: nearest_documents(query, searcher, scope, count))

        hits = self._current(find, scope, tables.documents.c.doc_id, limit)
        return [(hit.chunk_id, hit.score) for hit in hits]

    def _check(self, query: SearchQuery, limit: int) -> None:
        if limit < 1:
            raise InputError(f"top_k is {limit}.", hint="Ask for at least 1.")
        if query.vector.shape != (shape := (self.database.identity.dimension,)):
            raise InvariantError(f"The query vector has shape {query.vector.shape}, expected {shape}.")

    def _current(self, find: Callable[[int], list[Hit]], scope: Scope, column: Column[str], wanted: int) -> list[Hit]:
        """The first hits that are in the database: a shared index may hold what was replaced a moment ago."""

        def current(hits: Sequence[Hit]) -> list[Hit]:
            ids = [hit.chunk_id for hit in hits]
            known = set(ids) if self.index.is_exact else self._known_ids(scope, column, ids)
            return [hit for hit in hits if hit.chunk_id in known]

        return find_enough(find, current, wanted)

    def check(self) -> Report:
        """Read all that is stored, and count what the index has; changes nothing."""
        points = self.index.count()
        report = check_store(self.database, points)
        if points is None and self.index.lost:
            lost = Difference(part="index", note=self.index.reason)
            report = report.model_copy(update={"differences": (*report.differences, lost)})
        return report

    def reindex(self) -> int:
        """Build the index again from the database, without encoding anything; how many documents it has."""
        return self.index.rebuild()

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
