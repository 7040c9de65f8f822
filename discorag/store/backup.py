"""A store in one file, and back: the rows of its database, with their counts and a checksum of the whole file."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import Connection, Table, func, insert, select

from discorag.config import StoreSettings
from discorag.schema.errors import InputError, MissingPathError, StoreDamagedError, StoreError
from discorag.store import tables
from discorag.store.database import FILE, Database
from discorag.store.store import open_store

Progress = Callable[[str], None]
D, K, C, T = tables.documents, tables.contents, tables.chunks, tables.trees
_TABLES = (D, K, C, T)
_TRAILER = 4096  # bytes at the end of the file: counts and checksum, as JSON and spaces
_BATCH = 100


def backup(database: Database, file: Path, progress: Progress = lambda _: None, *, tenant: str | None = None) -> int:
    """Write all documents into a file; questions and ingests may go on meanwhile.

    The file is one state of the database. A file of this name is replaced when the new one is whole.

    Args:
        database: The store's.
        file: Not one of the store's own folder. Until it is whole it is ``file.part``.
        progress: Called with the uri of each document.
        tenant: Only this one's documents.

    Returns:
        How many documents it holds.

    Raises:
        InputError: The file is a folder, or one of the store's.
        StoreError: A disk fails or is full.
    """
    if file.is_dir() or file.resolve().parent == database.file.resolve().parent:
        raise InputError(f"{file} is a folder, or part of the store.", hint="Name another file.")
    part = file.with_name(f"{file.name}.part")
    try:
        with TemporaryDirectory(prefix=f".{file.name}.", dir=file.parent) as folder:
            made = _copied(database, Path(folder) / FILE, progress, tenant)
            _append_trailer(Path(folder) / FILE, made)
            (Path(folder) / FILE).replace(part)
        part.replace(file)
    except OSError as error:
        raise StoreError(
            f"{file} cannot be written: {error.strerror}.", hint="Check the place and its disk."
        ) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return made[D.name]


def restore(settings: StoreSettings, file: Path, progress: Progress = lambda _: None) -> int:
    """Put all that a backup holds into an empty or a new store, all of it or nothing.

    Args:
        settings: Where the store is.
        file: As `backup` wrote it.
        progress: Called with the uri of each document.

    Returns:
        How many documents there are.

    Raises:
        MissingPathError: There is no such file.
        StoreDamagedError: The file is not as it was written.
        InputError: The store has documents.
        EncoderMismatchError: The store is of another encoder.
        StoreError: The disk fails or is full.
    """
    counts = _counts(file)
    with TemporaryDirectory(prefix="disco-rag-restore-") as folder, closing(_opened(file, Path(folder))) as source:
        encoder = (source.identity.encoder, source.identity.dimension)
        with open_store(settings, encoder) as store:
            with source.read() as read, store.database.write() as db:
                if db.scalar(select(func.count()).select_from(D)):
                    hint = "Restore into a new place (DISCO_RAG_STORE__PATH)."
                    raise InputError("The store has documents already.", hint=hint)
                found = {table.name: _copy(table, read, db, progress, None) for table in _TABLES}
                if found != counts:
                    raise _damaged(file)
                db.execute(insert(tables.outbox).from_select(["doc_id"], select(D.c.doc_id)))
            store.index.changed()
    return counts[D.name]


def _copied(database: Database, file: Path, progress: Progress, tenant: str | None) -> dict[str, int]:
    """A database of these documents; how many rows each table has."""
    identity = database.identity
    copy = Database(file, (identity.encoder, identity.dimension), safe=False)
    try:
        with database.read() as read, copy.write() as db:
            counts = {table.name: _copy(table, read, db, progress, tenant) for table in _TABLES}
    finally:
        copy.close()
    return counts


def _copy(table: Table, source: Connection, target: Connection, progress: Progress, tenant: str | None) -> int:
    """The rows of a table, all or those of a tenant's documents; how many."""
    query, count = select(table).order_by(*table.primary_key.columns), 0
    if tenant is not None:
        query = (query if table is D else query.join(D)).where(D.c.tenant == tenant)
    for rows in source.execute(query.execution_options(yield_per=_BATCH)).mappings().partitions():
        target.execute(insert(table), [dict(row) for row in rows])
        count += len(rows)
        for row in rows if table is D else ():
            progress(row["uri"])
    return count


def _append_trailer(file: Path, counts: dict[str, int]) -> None:
    """Put counts and checksum behind the database, and the file on disk."""
    with file.open("rb") as content:
        checksum = hashlib.file_digest(content, "sha256").hexdigest()
    with file.open("ab") as content:
        content.write(_trailer(counts, checksum))
        content.flush()
        os.fsync(content.fileno())


def _trailer(counts: dict[str, int], checksum: str) -> bytes:
    return json.dumps({"rows": counts, "sha256": checksum}).encode().ljust(_TRAILER)


def _counts(file: Path) -> dict[str, int]:
    """How many rows each table has, of a file that is as it was written. Raises as `restore`."""
    if not file.is_file():
        raise MissingPathError(f"There is no file {file}.", hint="disco-rag backup FILE makes one.")
    size = file.stat().st_size - _TRAILER
    found = hashlib.sha256()
    with file.open("rb") as content:
        while size > 0 and (part := content.read(min(size, 1 << 22))):
            found.update(part)
            size -= len(part)
        trailer = content.read()
    try:
        said = json.loads(trailer)
        counts = {table.name: int(said["rows"][table.name]) for table in _TABLES}
        if trailer == _trailer(counts, found.hexdigest()):
            return counts
    except (ValueError, KeyError, TypeError):
        pass
    raise _damaged(file)


def _opened(file: Path, folder: Path) -> Database:
    """A copy of a backup as a database."""
    copy = folder / FILE
    shutil.copyfile(file, copy)
    os.truncate(copy, copy.stat().st_size - _TRAILER)
    return Database(copy)


def _damaged(file: Path) -> StoreDamagedError:
    return StoreDamagedError(f"{file} is not a backup, or not as it was written.", hint="Use another one.")
