"""Keeps the index up to date with the database; searches exactly where the index cannot be used."""

import logging
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar

from sqlalchemy import ColumnElement, delete, func, select

from discorag.models.loops import FairLock
from discorag.schema.errors import DiscoRagError, StoreError, StoreFullError
from discorag.store import tables
from discorag.store.database import Database
from discorag.store.documents import in_parts, indexed_documents
from discorag.store.index import Index, IndexedDocument, IndexPlace, IndexUnusableError, Searcher
from discorag.store.search import ExactSearch

T = TypeVar("T")
FLUSHED = 2_000
"""Changed points after which the index is made safe, and the outbox emptied."""
FEED_S = 2.0
"""How long a search waits, in seconds, while another process brings the index up to date."""
RETRY_S = 30.0
"""Seconds before an index that could not be used is tried again."""
_LOG = logging.getLogger("disco_rag.store")
_FEEDER = "index"
_FULL = "the disk is nearly full"

D, OUTBOX = tables.documents, tables.outbox


class LiveIndex:
    """An index that is opened at the first search or change, and brought up to date before each search.

    If the index cannot be used, the log says so once and `reason` says why. The next change builds it again, unless it
    is in use elsewhere; the outbox keeps the changes that it lacks.

    An index in the store's folder is not open while its disk is nearly full: writing into it on a full disk would end
    the process. A store in memory, or on a database server without a Qdrant server, has no index.
    """

    def __init__(self, database: Database, place: IndexPlace) -> None:
        settings = place.settings
        self._database, self._place = database, place
        self._in_folder = settings.kind == "edge" and not settings.url and not settings.database_url
        self._exact = ExactSearch(database)
        self._index: Index | None = None
        self._turn = FairLock()
        self._next_try = 0.0
        self._applied = 0  # the last row of the outbox that the index has
        self._unsafe = 0  # points written since the last flush
        self.reason = ""
        """Why searches are exact; empty while the index is used, or before it was needed."""
        self._warned = ""
        self.lost = False
        """Whether the index has to be built again."""

    @property
    def is_exact(self) -> bool:
        """Whether all hits are current: the database itself is searched, or no other process writes the index."""
        return self._index is None or not self._index.shared

    def search(self, find: Callable[[Searcher], T]) -> T:
        """What a search finds, by the index or exactly."""
        with self._turn:
            with self._given_up_on_error():
                if index := self._usable():
                    self._catch_up(index)
                    return find(index)
            if self.reason not in ("", self._warned):
                _LOG.warning("Searches are exact, and slower: the index cannot be used, because %s.", self.reason)
                self._warned = self.reason
        return find(self._exact)

    def changed(self) -> None:
        """Bring the index up to date after a change. If it must be rebuilt, that is done now."""
        with self._turn, self._given_up_on_error():
            if index := self._usable(rebuild=True):
                self._catch_up(index, wait_s=0.0)
                if index.is_worn:
                    with self._database.place.lock(_FEEDER, 0.0) as is_taken:
                        if is_taken:  # else a later change does it
                            self._release(damaged=False)
                            self._fill()

    def rebuild(self) -> int:
        """Build the index again from the database; how many documents it has.

        Raises:
            StoreError: It cannot be built; the message says why.
        """
        with self._turn:
            self._release(damaged=False)
            if self._is_full():
                raise StoreFullError(f"The index cannot be built: {_FULL}.", hint="Free disk space, and run it again.")
            try:
                with self._locked():
                    return self._fill()
            except IndexUnusableError as error:
                raise StoreError(f"The index cannot be built: {error}.", hint="Stop that process, or wait.") from error

    def count(self) -> int | None:
        """How many points the index has when it is up to date; None if it cannot be used."""
        with self._turn, self._given_up_on_error():
            if index := self._usable():
                self._catch_up(index)
                return index.count()
        return None

    def close(self) -> None:
        """Make the index safe and release it."""
        with self._turn:
            if self._index and self._is_full():
                self._release(damaged=False)
            index, self._index = self._index, None
            try:
                if index:
                    with _index_errors():
                        self._make_safe(index)
                        index.close()
            except (IndexUnusableError, StoreError) as error:  # the next opening sees what is missing
                _LOG.warning("The index could not be closed: %s", error)

    # The methods below are called with the turn held.

    def _usable(self, *, rebuild: bool = False) -> Index | None:
        """The index, if it can be used; ``rebuild``: one that is lost is built again."""
        is_due = monotonic() >= self._next_try or (rebuild and self.lost)
        if self._is_full():
            self._release(damaged=False)
            self._retry_later(_FULL)
        elif self._index is None and is_due and self._place.settings.kind != "memory":
            if self._database.read_only:
                self._retry_later(self._database.read_only)
            else:
                try:
                    with self._locked():
                        self._open_or_build(rebuild=rebuild)
                except IndexUnusableError as error:
                    self._retry_later(str(error), lost=error.lost)
        return self._index

    def _open_index(self, *, fresh: bool) -> Index:
        if self._place.settings.url:
            from discorag.store.qdrant import open_server

            return open_server(self._place, fresh=fresh)
        if not self._in_folder:
            raise IndexUnusableError("there is none: name a Qdrant server (DISCO_RAG_STORE__URL)")
        from discorag.store.edge import open_edge

        return open_edge(self._place, fresh=fresh)

    def _open_or_build(self, *, rebuild: bool) -> None:
        """Open the index; if it is lost, build it if that was asked for or the database is empty.

        Raises:
            IndexUnusableError: It can be neither opened nor built.
        """
        try:
            self._open_existing()
        except IndexUnusableError as error:
            if not error.lost or (self._size() and not rebuild):
                raise
            self._fill()

    def _open_existing(self) -> None:
        index = self._open_index(fresh=False)
        self._applied, self._unsafe = 0, 0
        with self._abandoned_on_error(index), _index_errors():
            size = None
            while size is None:
                self._apply_changes(index)
                with self._database.read():  # one state of the database
                    size = None if self._changes() else self._size()
            if index.count() != size:
                raise IndexUnusableError("it is not complete", lost=True)
        self._use(index)

    def _fill(self) -> int:
        """Build a new index of all documents; how many there are. Raises `IndexUnusableError`."""
        index, count = self._open_index(fresh=True), 0
        self._applied, self._unsafe = 0, FLUSHED
        with self._abandoned_on_error(index, is_new=True):
            changes = self._changes()
            with _index_errors():
                for document in self._documents(D.c.number > 0, index):
                    index.apply(document.doc_id, document)
                    count += 1
                self._note_applied(index, changes)
                self._make_safe(index)
        self._use(index)
        return count

    @contextmanager
    def _abandoned_on_error(self, index: Index, *, is_new: bool = False) -> Generator[None]:
        try:
            yield
        except BaseException as error:
            index.abandon(damaged=is_new or isinstance(error, IndexUnusableError))
            raise

    def _use(self, index: Index) -> None:
        self._index, self.reason, self.lost = index, "", False

    @contextmanager
    def _locked(self) -> Generator[None]:
        """A block in which no other process changes the index. Raises `IndexUnusableError`."""
        with self._database.place.lock(_FEEDER, FEED_S) as is_taken:
            if not is_taken:
                raise IndexUnusableError("another process is building it")
            yield

    def _catch_up(self, index: Index, wait_s: float = FEED_S) -> None:
        """Apply the changes that the index lacks. If another process does so, wait for it up to `wait_s` seconds."""
        if self._changes():
            with self._database.place.lock(_FEEDER, wait_s) as is_taken:
                if is_taken:
                    self._apply_changes(index)

    def _changes(self) -> Sequence[tuple[int, str]]:
        """Rows of the outbox that the index does not have."""
        with self._database.read() as db:
            query = select(OUTBOX).where(OUTBOX.c.number > self._applied).order_by(OUTBOX.c.number)
            return db.execute(query).tuples().all()

    def _apply_changes(self, index: Index) -> None:
        """Apply the outbox until it is empty."""
        while changes := self._changes():
            for doc_id in dict.fromkeys(doc_id for _, doc_id in changes):
                document = next(self._documents(D.c.doc_id == doc_id, index), None)
                index.apply(doc_id, document)
                self._unsafe += 1 + (len(document.chunk_ids) if document else 0)
            self._note_applied(index, changes)
            if self._unsafe >= FLUSHED:
                self._make_safe(index)

    def _note_applied(self, index: Index, changes: Sequence[tuple[int, str]]) -> None:
        """Remember which rows of the outbox the index has.

        Those of a shared index are deleted one by one: a transaction with a lower number may commit later.
        """
        if index.shared:
            for part in in_parts([number for number, _ in changes]):
                self._forget_changes(OUTBOX.c.number.in_(part))
        elif changes:
            self._applied = changes[-1][0]

    def _make_safe(self, index: Index) -> None:
        """Flush the index, and remove from the outbox what it has."""
        if self._unsafe:
            index.flush()
            self._forget_changes(OUTBOX.c.number <= self._applied)
            self._unsafe = 0

    def _forget_changes(self, which: ColumnElement[bool]) -> None:
        with self._database.write("outbox") as db:
            db.execute(delete(OUTBOX).where(which))

    def _documents(self, where: ColumnElement[bool], index: Index) -> Iterator[IndexedDocument]:
        with self._database.read() as db:
            numbers = list(db.scalars(select(D.c.number).where(where)))
        return indexed_documents(self._database, numbers, with_passages=index.keeps_passages)

    def _size(self) -> int:
        """How many points an index of the database has."""
        with self._database.read() as db:
            count, chunks = db.execute(select(func.count(), func.sum(D.c.chunks))).one()
        return count + (chunks or 0)

    def _is_full(self) -> bool:
        return self._in_folder and self._database.place.room < 0

    @contextmanager
    def _given_up_on_error(self) -> Generator[None]:
        """Stop using an index that fails in this block."""
        try:
            with _index_errors():
                yield
        except IndexUnusableError as error:
            self._release(damaged=True)
            self._retry_later(str(error), lost=error.lost)

    def _release(self, *, damaged: bool) -> None:
        index, self._index = self._index, None
        if index:
            index.abandon(damaged=damaged)

    def _retry_later(self, reason: str, *, lost: bool = False) -> None:
        self.reason, self.lost, self._next_try = reason, lost, monotonic() + RETRY_S


@contextmanager
def _index_errors() -> Generator[None]:
    """Raise whatever an index raises as `IndexUnusableError`: it may even panic, and has no class of its own."""
    try:
        yield
    except (DiscoRagError, IndexUnusableError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise IndexUnusableError(f"it failed: {error}") from error
