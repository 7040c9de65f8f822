"""The store: documents, their chunks and their retrieval trees in a database, searched through an index of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from discorag.config import StoreSettings
from discorag.schema.document import Scope
from discorag.schema.errors import ConfigError, InputError, InvariantError, NotFoundError
from discorag.schema.metadata import Filters
from discorag.store.check import Difference, Report, check_store
from discorag.store.database import FILE, Database
from discorag.store.index import DOCUMENT, IndexPlace, Searcher
from discorag.store.live import LiveIndex
from discorag.store.postgres import PostgresServer
from discorag.store.records import Distinct, Hit, SearchQuery
from discorag.store.search import best, drop_copies, ranked
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
        return self.take(scope, lambda n: self.rank(scope, query, n), query.top_k).best

    def search_words(self, scope: Scope, text: str, filters: Filters, limit: int) -> list[Hit]:
        """The best chunks of the scope that hold at least one search term of ``text``, by BM25; empty if none does."""
        wanted = sparse_query(text)

        def rank(n: int) -> list[Hit]:
            return self.index.search(lambda searcher: searcher.nearest(scope, wanted, filters, n))

        return self.take(scope, rank, limit).best if wanted[0] else []

    def search_documents(self, scope: Scope, query: SearchQuery, limit: int) -> list[tuple[str, float]]:
        """The best documents with their scores, best first: cosine of the query to the mean of a document's chunks.

        Of the query, ``vector`` and ``filters`` count; equal scores go by document id. Raises as `search`.
        """
        found = self.take(scope, lambda n: self.rank_documents(scope, query, n), limit, of_documents=True)
        return [(hit.chunk_id, hit.score) for hit in found.best]

    def rank(self, scope: Scope, query: SearchQuery, n: int) -> list[Hit]:
        """The first ``n`` chunks as the index ranks them, for `take`. Raises as `search`."""
        self._check(query, n)
        wanted = query.model_copy(update={"top_k": n})
        return self.index.search(lambda searcher: best(wanted, searcher, scope))

    def rank_documents(self, scope: Scope, query: SearchQuery, n: int) -> list[Hit]:
        """The same for documents, whose ids are those of the hits."""
        self._check(query, n)

        def find(searcher: Searcher) -> list[Hit]:
            return ranked(lambda limit: searcher.nearest(scope, query.vector, query.filters, limit, space=DOCUMENT), n)

        return self.index.search(find)

    def take(
        self,
        scope: Scope,
        rank: Callable[[int], list[Hit]],
        wanted: int,
        *,
        of_documents: bool = False,
        each_text_once: bool = False,
    ) -> Distinct:
        """The first ``wanted`` hits of a ranking that are stored; the one loop around every search.

        A shared index may hold what was replaced a moment ago. The ranking is read twice as deep until there are
        enough.

        Args:
            scope: Where the hits are.
            rank: Returns the first n hits, best first.
            wanted: How many to take.
            of_documents: The hits are documents, not chunks.
            each_text_once: Drop hits of documents that are copies of others.
        """
        n = wanted
        while True:
            hits = rank(n)
            found = Distinct(hits, {})
            if each_text_once or not self.index.is_exact:
                owners = self.owners(scope, [hit.chunk_id for hit in hits], of_documents=of_documents)
                found = Distinct([hit for hit in hits if hit.chunk_id in owners], {})
                found = drop_copies(found.best, owners) if each_text_once else found
            if len(found.best) >= wanted or len(hits) < n:
                return Distinct(found.best[:wanted], found.copies)
            n *= 2

    def _check(self, query: SearchQuery, limit: int) -> None:
        if limit < 1:
            raise InputError(f"top_k is {limit}.", hint="Ask for at least 1.")
        if query.vector.shape != (shape := (self.database.identity.dimension,)):
            raise InvariantError(f"The query vector has shape {query.vector.shape}, expected {shape}.")

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
