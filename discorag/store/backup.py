"""A store in one file, and back: every document with its chunks, trees and vectors, whatever kind of store it was."""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter
from pydantic_core import to_json
from xxhash import xxh3_128_hexdigest

from discorag.store.base import ShardStore, Stored
from discorag.store.identity import Identity
from discorag.store.protocol import Manifest
from discorag.store.trees import StoredTree
from discorag.types.chunk import Chunk
from discorag.types.document import Document, Scope
from discorag.types.errors import InputError, MissingPathError, StoreDamagedError, StoreError
from discorag.types.retrieval_tree import RetrievalTree
from discorag.types.vectors import Vectors

FORMAT = 1
_TABLES = """
CREATE TABLE about (identity TEXT, documents INTEGER);
CREATE TABLE documents (
    number INTEGER PRIMARY KEY, tenant TEXT, corpus TEXT, manifest TEXT, document BLOB, chunks BLOB, vectors BLOB,
    checksum TEXT
);
CREATE TABLE trees (number INTEGER, version TEXT, tree BLOB, vectors BLOB, checksum TEXT);
"""
_CHUNKS = TypeAdapter(tuple[Chunk, ...])
Progress = Callable[[str], None]


def backup(
    store: ShardStore,
    file: Path,
    identity: Identity,
    progress: Progress = lambda _: None,
    *,
    tenant: str | None = None,
) -> int:
    """Write all that is stored into a file; questions and ingests may go on meanwhile.

    Every document is in the file in one state, old or new; a file of this name is replaced when the new one is whole.

    Args:
        store: Whose documents.
        file: Made, beside it ``file.part`` until it is whole.
        identity: The store's encoder and dimension.
        progress: Told of each document.
        tenant: Only this one's documents.

    Returns:
        How many documents it holds.

    Raises:
        StoreError: The disk fails or is full.
    """
    part, count = file.with_name(f"{file.name}.part"), 0
    part.unlink(missing_ok=True)
    with _errors(part), closing(sqlite3.connect(part)) as rows:
        rows.executescript(_TABLES)
        for count, stored in enumerate(store.stored(tenant), start=1):
            _write(rows, count, stored)
            progress(stored.manifest.uri)
        said = identity.model_copy(update={"format": FORMAT}).model_dump_json()
        rows.execute("INSERT INTO about VALUES (?, ?)", (said, count))
        rows.commit()
    with part.open("rb") as written:
        os.fsync(written.fileno())
    part.replace(file)
    return count


def restore(store: ShardStore, file: Path, identity: Identity, progress: Progress = lambda _: None) -> int:
    """Put all that a file holds into a store that holds nothing else. One that was interrupted goes on.

    Args:
        store: Empty, or filled from this file before.
        file: As `backup` wrote it.
        identity: The store's encoder and dimension.
        progress: Told of each document.

    Returns:
        How many documents there are.

    Raises:
        MissingPathError: There is no such file.
        InputError: The store holds other documents.
        EncoderMismatchError: The file holds another encoder's vectors.
        StoreDamagedError: The file is not as it was written; what was put before stays.
        StoreError: The disk fails or is full.
    """
    if not file.is_file():
        raise MissingPathError(f"There is no file {file}.", hint="disco-rag backup FILE makes one.")
    with _errors(file), closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as rows:
        count = _check(rows, file, identity)
        there = {stored.manifest.doc_id: stored.manifest for stored in store.stored()}
        ours = {Manifest.model_validate_json(m).doc_id for (m,) in rows.execute("SELECT manifest FROM documents")}
        if others := there.keys() - ours:
            said = f"The store holds {len(others)} documents that are not in {file}."
            raise InputError(said, hint="Restore into a new place (DISCO_RAG_STORE__PATH).")
        for stored in _read(rows, file):
            if there.get(stored.manifest.doc_id) != stored.manifest:
                _put(store, stored)
            progress(stored.manifest.uri)
    return count


def _check(rows: sqlite3.Connection, file: Path, identity: Identity) -> int:
    """How many documents the file says that it holds."""
    found = rows.execute("SELECT identity, documents FROM about").fetchone()
    if found is None:
        raise StoreDamagedError(f"{file} was never finished.", hint="Make a new backup.")
    identity.model_copy(update={"format": FORMAT}).check(found[0], str(file))
    return int(found[1])


def _put(store: ShardStore, stored: Stored) -> None:
    store.put(stored.scope, stored.document, stored.manifest, stored.chunks, stored.vectors)
    for t in stored.trees:
        store.put_tree(stored.scope, stored.manifest.doc_id, t.tree, t.vectors, version=t.version)


def _write(rows: sqlite3.Connection, number: int, stored: Stored) -> None:
    document, chunks = stored.document.model_dump_json(), _dumped(stored.chunks)
    row = (
        *(number, stored.scope.tenant, stored.scope.corpus, stored.manifest.model_dump_json()),
        *(_packed(document.encode()), _packed(chunks), _bytes(stored.vectors)),
    )
    rows.execute("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*row, _sum(row)))
    for t in stored.trees:
        row = (number, t.version, _packed(t.tree.model_dump_json().encode()), _bytes(t.vectors))
        rows.execute("INSERT INTO trees VALUES (?, ?, ?, ?, ?)", (*row, _sum(row)))


def _read(rows: sqlite3.Connection, file: Path) -> Iterator[Stored]:
    for row in rows.execute("SELECT * FROM documents ORDER BY number"):
        number, tenant, corpus, manifest, document, packed, vectors = _whole(row, file)
        chunks = _CHUNKS.validate_json(zlib.decompress(packed))
        trees = rows.execute("SELECT * FROM trees WHERE number = ?", (number,)).fetchall()
        yield Stored(
            Scope(tenant=tenant, corpus=corpus),
            Document.model_validate_json(zlib.decompress(document)),
            Manifest.model_validate_json(manifest),
            chunks,
            _vectors(vectors, len(chunks)),
            tuple(_tree(*_whole(tree, file)[1:]) for tree in trees),
        )


def _dumped(chunks: Sequence[Chunk]) -> bytes:
    return to_json([c.model_dump(mode="json") | {"unit_vectors": c.unit_vectors} for c in chunks])


def _tree(version: str, packed: bytes, vectors: bytes) -> StoredTree:
    tree = RetrievalTree.model_validate_json(zlib.decompress(packed))
    return StoredTree(tree, _vectors(vectors, len(tree.nodes)), version)


def _whole(row: tuple[Any, ...], file: Path) -> tuple[Any, ...]:
    if _sum(row[:-1]) != row[-1]:
        raise StoreDamagedError(f"{file} is not as it was written.", hint="Use another backup.")
    return row[:-1]


def _packed(text: bytes) -> bytes:
    return zlib.compress(text)


def _bytes(vectors: Vectors) -> bytes:
    return vectors.astype("<f4").tobytes()


def _vectors(packed: bytes, rows: int) -> Vectors:
    return np.frombuffer(packed, "<f4").reshape(rows, -1).astype(np.float32)


def _sum(row: tuple[object, ...]) -> str:
    return xxh3_128_hexdigest(repr(row).encode("utf-8", "surrogatepass"))


@contextmanager
def _errors(file: Path) -> Generator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StoreError(f"{file} cannot be used: {error}.", hint="Check the place and its disk.") from error
    except sqlite3.DatabaseError as error:
        raise StoreDamagedError(f"{file} is no backup, or damaged: {error}.", hint="Use another one.") from error
