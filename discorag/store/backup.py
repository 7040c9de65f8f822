"""A store in one file, and back: a database of its documents, followed by the file's checksum."""

import hashlib
import os
import shutil
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import Connection, delete, func, insert, select

from discorag.config import StoreSettings
from discorag.schema.errors import InputError, MissingPathError, StoreDamagedError, StoreError
from discorag.store import tables
from discorag.store.database import FILE, Database
from discorag.store.sqlite import SqliteFile
from discorag.store.store import open_store

Progress = Callable[[str], None]
D = tables.documents
S = tables.settled
_CHECKSUM = 32  # bytes at the end of the file: the SHA-256 of what comes before
_BATCH = 100


def backup(database: Database, file: Path, progress: Progress = lambda _: None) -> int:
    """Write all documents into a file; questions and ingests may run at the same time.

    The file is one state of the database. A file of this name is replaced when the new one, ``file.part``, is whole.
    ``progress`` is called with the uri of each document.

    Returns:
        How many documents it holds.

    Raises:
        InputError: The file is a folder, or one of the store's.
        StoreError: A disk fails or is full.
    """
    if file.is_dir() or (database.file and file.resolve().parent == database.file.resolve().parent):
        raise InputError(f"{file} is a folder, or part of the store.", hint="Name another file.")
    part = file.with_name(f"{file.name}.part")
    try:
        with TemporaryDirectory(prefix=f".{file.name}.", dir=file.parent) as folder:
            copy = Path(folder) / FILE
            target = Database(SqliteFile(copy, safe=False), (database.identity.encoder, database.identity.dimension))
            with closing(target), database.read() as read, target.write() as db:
                count = _copy(read, db, progress)
            _append_checksum(copy)
            copy.replace(part)
        part.replace(file)
    except OSError as error:
        raise StoreError(
            f"{file} cannot be written: {error.strerror}.", hint="Check the folder and its disk."
        ) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return count


def restore(settings: StoreSettings, file: Path, progress: Progress = lambda _: None) -> int:
    """Restore a backup into an empty or a new store, all of it or nothing; returns how many documents there are.

    Raises:
        MissingPathError: There is no such file.
        StoreDamagedError: The file is damaged, or not a backup.
        InputError: The store has documents.
        StoreError: The store is of another encoder, or the disk fails or is full.
    """
    with TemporaryDirectory(prefix="disco-rag-restore-") as folder, closing(_verified(file, Path(folder))) as source:
        encoder = (source.identity.encoder, source.identity.dimension)
        with open_store(settings, encoder) as store:
            with source.read() as read, store.database.write() as db:
                if db.scalar(select(func.count()).select_from(D)):
                    hint = "Restore into a new place (DISCO_RAG_STORE__PATH)."
                    raise InputError("The store has documents already.", hint=hint)
                count = _copy(read, db, progress)
                store.database.place.number_after(db, D)
                db.execute(insert(tables.outbox).from_select(["doc_id"], select(D.c.doc_id)))
            store.index.changed()
    return count


def _copy(source: Connection, target: Connection, progress: Progress) -> int:
    """Copy all documents and settled findings; how many documents."""
    documents = 0
    for table in (D, tables.contents, tables.chunks, tables.trees):
        query = select(table).order_by(*table.primary_key.columns)
        for rows in source.execute(query.execution_options(yield_per=_BATCH)).mappings().partitions():
            target.execute(insert(table), [dict(row) for row in rows])
            for row in rows if table is D else ():
                documents += 1
                progress(row["uri"])
    if rows := source.execute(select(S)).mappings().all():
        for row in rows:
            key = (column == row[column.name] for column in S.primary_key.columns)
            target.execute(delete(S).where(*key))
        target.execute(insert(S), [dict(row) for row in rows])
    return documents


def _append_checksum(file: Path) -> None:
    """Append the file's checksum to it, and wait until it is on disk."""
    with file.open("r+b") as content:
        content.write(hashlib.file_digest(content, "sha256").digest())
        content.flush()
        os.fsync(content.fileno())


def _verified(file: Path, folder: Path) -> Database:
    """A copy of a backup as a database. Raises as `restore` if the file is missing or not as it was written."""
    if not file.is_file():
        raise MissingPathError(f"There is no file {file}.", hint="disco-rag backup FILE makes one.")
    copy = folder / FILE
    shutil.copyfile(file, copy)
    with copy.open("r+b") as content:
        size = max(0, copy.stat().st_size - _CHECKSUM)
        content.seek(size)
        checksum = content.read()
        content.truncate(size)
        content.seek(0)
        if hashlib.file_digest(content, "sha256").digest() != checksum:
            raise StoreDamagedError(f"{file} is not a backup, or is damaged.", hint="Use another one.")
    return Database(SqliteFile(copy))
