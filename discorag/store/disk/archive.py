"""Which documents a store in a folder holds, with their canonical texts, apart from all vectors; and what was begun."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

from xxhash import xxh3_128_hexdigest

from discorag.store.payload import ENTRY_FIELDS, Entry, entry_from
from discorag.store.recent import Recent
from discorag.types.document import Document, Scope
from discorag.types.errors import StoreDamagedError, StoreError, StoreFullError

_TABLES = """
CREATE TABLE IF NOT EXISTS documents (
    tenant TEXT, corpus TEXT, doc_id TEXT, manifest TEXT, trees TEXT, content TEXT, document BLOB, checksum TEXT,
    PRIMARY KEY (tenant, corpus, doc_id)
);
CREATE TABLE IF NOT EXISTS begun (tenant TEXT, corpus TEXT, doc_id TEXT, PRIMARY KEY (tenant, corpus, doc_id));
CREATE TABLE IF NOT EXISTS about (identity TEXT);
"""
_INDEX = "CREATE INDEX uris ON documents (tenant, corpus, json_extract(manifest, '$.uri'))"
_UNDER = """SELECT manifest, trees, content FROM documents WHERE tenant = ? AND corpus = ?
    AND json_extract(manifest, '$.uri') >= ? AND json_extract(manifest, '$.uri') < ? LIMIT ?"""
_REMEMBERED = 10_000
_SELECT = "SELECT manifest, trees, content FROM documents"
_KEY = "WHERE tenant = ? AND corpus = ? AND doc_id = ?"


@dataclass(frozen=True)
class Kept:
    """What the archive says of one document.

    Example:
        >>> from discorag.store.disk.archive import Kept
        >>> from discorag.store.payload import Entry
        >>> piece = sample_of("tides.md", ["Tides rise."])
        >>> Kept(piece.scope, Entry(piece.manifest)).entry.manifest.uri
        'tides.md'
    """

    scope: Scope
    entry: Entry


class Archive:
    """The documents of one store, in SQLite. What a call wrote has reached the disk when it returns.

    A write of a document's points begins here, and ends here: what a crash interrupted is known.

    Args:
        file: Made if it does not exist.
        identity: What the store was made with, kept as a second copy.
        guard: Called before every change; what it raises keeps the change from being made.

    Raises:
        StoreDamagedError: It is no such file, or its rows are not as they were written.
        StoreError, StoreFullError: By any method: the disk fails, or is full.

    Example:
        >>> from discorag.store.disk.archive import Archive
        >>> from discorag.store.payload import Entry
        >>> piece = sample_of("tides.md", ["Tides rise."])
        >>> archive = Archive(tmp_path / "archive.sqlite", "minilm")
        >>> archive.begin(piece.scope, piece.doc_id)
        >>> archive.put(piece.scope, Entry(piece.manifest), piece.document.model_dump_json())
        >>> archive.document(piece.scope, piece.doc_id).text, len(archive.begun())
        ('Tides rise.', 1)
        >>> archive.close()
    """

    FILE = "archive.sqlite"

    def __init__(self, file: Path, identity: str, guard: Callable[[], None] = lambda: None) -> None:
        self._file = file
        self._guard = guard
        if not file.exists():
            guard()
        self._lock = RLock()
        self._entries = Recent[Entry](_REMEMBERED)
        with self._errors():
            self._rows = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
            # One process owns the folder: no memory is shared, which a full disk would make deadly.
            self._rows.executescript("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;" + _TABLES)
            if self._rows.execute("SELECT identity FROM about").fetchone() is None:
                self._rows.execute("INSERT INTO about VALUES (?)", (identity,))
            if self._rows.execute("SELECT 1 FROM sqlite_master WHERE name = 'uris'").fetchone() is None:
                guard()
                self._rows.execute(_INDEX)

    @property
    def identity(self) -> str:
        """As it was first told."""
        return str(self._all("SELECT identity FROM about")[0][0])

    def kept(self) -> Iterator[Kept]:
        """All documents. Raises `StoreDamagedError` at a row that is not as it was written."""
        for row in self._all("SELECT * FROM documents ORDER BY tenant, corpus, doc_id"):
            yield _kept(row, self._file)

    def entries(self, scope: Scope, doc_ids: Iterable[str] | None = None) -> list[Entry]:
        """All of the scope, or those of these documents that are in it; only what these need is read.

        Their texts are not, and so no checksum is compared: opening the store did that.
        """
        if doc_ids is None:
            rows = self._all(f"{_SELECT} WHERE tenant = ? AND corpus = ?", (scope.tenant, scope.corpus))
            return [_entry(row) for row in rows]
        found = (self._entry(scope, doc_id) for doc_id in dict.fromkeys(doc_ids))
        return [entry for entry in found if entry]

    def _entry(self, scope: Scope, doc_id: str) -> Entry | None:
        key = (scope.tenant, scope.corpus, doc_id)
        with self._lock:
            known = self._entries.get(name := "\0".join(key))
            if known is None and (rows := self._all(f"{_SELECT} {_KEY}", key)):
                known = self._entries.put(name, _entry(rows[0]))
            return known

    def under(self, scope: Scope, folder: str, limit: int = -1) -> list[Entry]:
        """Those of the scope whose uri begins with this, at most ``limit`` unless that is negative."""
        end = f"{folder}\U0010ffff"
        return [_entry(row) for row in self._all(_UNDER, (scope.tenant, scope.corpus, folder, end, limit))]

    def readable(self) -> Iterator[tuple[Kept, Document]]:
        """Documents whose rows are as they were written, with their texts; the others are passed over."""
        for row in self._all("SELECT * FROM documents"):
            try:
                yield _kept(row, self._file), _document(row[6])
            except (StoreDamagedError, ValueError, zlib.error):
                continue

    def document(self, scope: Scope, doc_id: str) -> Document:
        """The document, which there is. Raises `StoreDamagedError` if its row is not as it was written."""
        row = self._all(f"SELECT * FROM documents {_KEY}", (scope.tenant, scope.corpus, doc_id))[0]
        _kept(row, self._file)
        return _document(row[6])

    @contextmanager
    def transaction(self) -> Generator[None]:
        """What is written within reaches the disk at its end, or not at all if it raises."""
        with self._lock:
            self._do("BEGIN", ())
            try:
                yield
            except BaseException:
                self._rows.rollback()
                raise
            try:
                self._do("COMMIT", ())
            except StoreError:
                self._rows.rollback()
                raise

    def put(self, scope: Scope, entry: Entry, document: str | None) -> None:
        """Make this the live state of a document; ``document`` is its JSON, None if that stays as it is."""
        key, state = (scope.tenant, scope.corpus, entry.manifest.doc_id), _state(entry)
        with self._lock:
            self._entries.pop("\0".join(key), None)
            if document is None:
                packed = self._all(f"SELECT document FROM documents {_KEY}", key)[0][0]
            else:
                packed = zlib.compress(document.encode("utf-8", "surrogatepass"))
            row = (*key, *state, packed, _sum(*key, *state, packed))
            self._do("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def remove(self, scope: Scope, doc_id: str) -> None:
        """Make no state of the document live."""
        with self._lock:
            key = (scope.tenant, scope.corpus, doc_id)
            self._entries.pop("\0".join(key), None)
            self._do(f"DELETE FROM documents {_KEY}", key)

    def begin(self, scope: Scope, doc_id: str) -> None:
        """Points of this document will be written or deleted."""
        self._do("INSERT OR IGNORE INTO begun VALUES (?, ?, ?)", (scope.tenant, scope.corpus, doc_id))

    def end(self, scope: Scope, doc_id: str) -> None:
        """The points of this document are those of its live state, and no others."""
        self._do(f"DELETE FROM begun {_KEY}", (scope.tenant, scope.corpus, doc_id))

    def begun(self) -> list[tuple[Scope, str]]:
        """Documents of which a write began and did not end."""
        rows = self._all("SELECT tenant, corpus, doc_id FROM begun")
        return [(Scope(tenant=tenant, corpus=corpus), doc_id) for tenant, corpus, doc_id in rows]

    def _do(self, statement: str, values: tuple[object, ...]) -> None:
        self._guard()
        with self._lock, self._errors():
            self._rows.execute(statement, values)

    def _all(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[str, ...]]:
        with self._lock, self._errors():
            return self._rows.execute(statement, values).fetchall()

    def close(self) -> None:
        """Close the file; closing again does nothing."""
        with self._lock:
            self._rows.close()

    @contextmanager
    def _errors(self) -> Generator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            full = error.sqlite_errorcode == sqlite3.SQLITE_FULL
            kind, hint = (StoreFullError, "Make room.") if full else (StoreError, "Check the disk.")
            raise kind(f"{self._file} cannot be used: {error}.", hint=hint) from error
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise _damaged(self._file, str(error)) from error


def _state(entry: Entry) -> tuple[str, str, str]:
    return entry.manifest.model_dump_json(), entry.trees_json, entry.content


def _entry(row: tuple[str, ...]) -> Entry:
    return entry_from(dict(zip(ENTRY_FIELDS, row, strict=True)))


def _kept(row: tuple[str, ...], file: Path) -> Kept:
    tenant, corpus, doc_id, manifest, trees, content, _, found = row
    if _sum(*row[:-1]) != found:
        raise _damaged(file, f"the row of document {doc_id}")
    return Kept(Scope(tenant=tenant, corpus=corpus), _entry((manifest, trees, content)))


def _document(packed: str | bytes) -> Document:
    return Document.model_validate_json(zlib.decompress(packed if isinstance(packed, bytes) else packed.encode()))


def _sum(*parts: object) -> str:
    return xxh3_128_hexdigest(repr(parts).encode("utf-8", "surrogatepass"))


def _damaged(file: Path, what: str) -> StoreDamagedError:
    said = f"{file.name} is not as it was written: {what}"
    return StoreDamagedError(f"{said}.", hint="disco-rag repair makes it again.", differences=(said,))
