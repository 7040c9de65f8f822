"""The tables of the database (SQLAlchemy Core), and values as bytes in them, each compared with its checksum when read.

What is SQLite's or PostgreSQL's own is in `discorag.store.sqlite` and `discorag.store.postgres`.
"""

import zlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Column, Float, ForeignKey, Index, Integer, LargeBinary, MetaData, Table
from sqlalchemy import Text as AnyText
from xxhash import xxh3_64_digest

from discorag.schema.errors import StoreDamagedError
from discorag.schema.values import Vectors
from discorag.text.terms import SparseVector

FORMAT: Final = 4
"""The format of these tables; a database of another one is refused."""

metadata = MetaData()
Text: Final = AnyText().with_variant(AnyText(collation="C"), "postgresql")
"""Text that is compared by code points, as SQLite does: `Documents.under` relies on it."""


def _document() -> Column[int]:
    """The document's number as the first column of a key."""
    return Column("document", Integer, ForeignKey("documents.number", ondelete="CASCADE"), primary_key=True)


def _scope_key() -> tuple[Column[str], Column[str]]:
    """The scope as the first columns of a key."""
    return Column("tenant", Text, primary_key=True), Column("corpus", Text, primary_key=True)


about = Table(
    "about",
    metadata,
    Column("id", Text, primary_key=True),
    Column("format", Integer, nullable=False),
    Column("encoder", Text, nullable=False),
    Column("dimension", Integer, nullable=False),
)
"""One row: a random id, to which indexes belong, and the encoder that made the vectors."""

documents = Table(
    "documents",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("doc_id", Text, nullable=False, unique=True),
    Column("tenant", Text, nullable=False),
    Column("corpus", Text, nullable=False),
    Column("uri", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("trees", Integer, nullable=False, default=0),
    Column("written", Text, nullable=False),
    Column("filters", LargeBinary, nullable=False),
    Column("manifest", LargeBinary, nullable=False),
    Index("documents_by_uri", "tenant", "corpus", "uri"),
    Index("documents_by_size", "tenant", "corpus", "number", "chunks", "written"),
    sqlite_autoincrement=True,  # a number is never given twice
)
"""``number`` names one version of a document: a changed document gets a new one. ``filters``: metadata as JSON.

``chunks`` and ``trees`` count its rows in these tables: `discorag.store.check` finds by them what is missing.
"""

contents = Table(
    "contents",
    metadata,
    _document(),
    Column("text", LargeBinary, nullable=False),
    Column("places", LargeBinary, nullable=False),
    Column("vectors", LargeBinary, nullable=False),
    Column("terms", LargeBinary, nullable=False),
)
"""The canonical form of each document, and in order of its chunks: ids with characters, vectors, search terms."""

chunks = Table(
    "chunks",
    metadata,
    _document(),
    Column("position", Integer, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("body", LargeBinary, nullable=False),
    Column("units", LargeBinary, nullable=False),
)
"""``body``: the chunk with its RST tree; ``units``: the vectors of its units."""

trees = Table(
    "trees",
    metadata,
    _document(),
    Column("builder", Text, primary_key=True),
    Column("version", Text, nullable=False),
    Column("key", Text, nullable=False, unique=True),
    Column("nodes", Integer, nullable=False),
    Column("outline", LargeBinary, nullable=False),
    Column("vectors", LargeBinary, nullable=False),
    Column("body", LargeBinary, nullable=False),
)
"""Retrieval trees. ``key`` names one state of a tree."""

outbox = Table(
    "outbox",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("doc_id", Text, nullable=False),
    sqlite_autoincrement=True,
)
"""Documents that changed since the index was last known to be safe on disk, in the order of their changes."""

jobs = Table(
    "jobs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column("ended", Text),
    Column("body", Text, nullable=False),
    Index("jobs_by_tenant", "tenant", "ended"),
)
"""Ingest jobs of the server; ``ended`` is empty while a job runs."""

queue = Table(
    "queue",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("job", Text, ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("corpus", Text, nullable=False),
    Column("name", Text, nullable=False),
    Index("queue_by_job", "job", "number"),
    Index("queue_by_file", "tenant", "corpus", "name"),
    sqlite_autoincrement=True,
)
"""Files of jobs that were not read yet, with their positions in the job. The server that reads one holds its row."""

uploads = Table(
    "uploads",
    metadata,
    *_scope_key(),
    Column("name", Text, primary_key=True),
    Column("size", Integer, nullable=False),
)
"""Files that the server was sent, with their bytes: what quotas count."""

removals = Table("removals", metadata, *_scope_key(), Column("name", Text, primary_key=True))
"""Uploaded files whose documents were deleted, until the files are: a server that is killed meanwhile removes them at
its next start.
"""

findings = Table(
    "findings",
    metadata,
    *_scope_key(),
    Column("id", Text, primary_key=True),
    Column("left_doc", Text, nullable=False),
    Column("right_doc", Text, nullable=False),
    Column("body", Text, nullable=False),
)
"""Where documents disagree, as the last audit found it."""

audited = Table(
    "audited",
    metadata,
    *_scope_key(),
    Column("doc_id", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("rules", Integer, nullable=False),
)
"""The documents that the last audit read, and by which rules: what has changed since is compared again."""

settled = Table(
    "settled",
    metadata,
    *_scope_key(),
    Column("id", Text, primary_key=True),
    Column("note", Text, nullable=False),
)
"""Findings that a reader has settled; they outlive the findings' rows."""


threads = Table(
    "threads",
    metadata,
    Column("id", Text, primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("touched", Float, nullable=False),
    Column("body", Text, nullable=False),
    Index("threads_by_tenant", "tenant", "touched"),
)
"""Conversations with the server. ``touched``: when one was last used, in seconds; ``body``: the rest, as JSON."""

turns = Table(
    "turns",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("thread", Text, ForeignKey("threads.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("question", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("reply", Text, nullable=False),
)
"""Questions that were answered in threads."""


_CHECKSUM = 8  # bytes
DAMAGED = "Restore a backup (disco-rag restore), or ingest again into a new place (DISCO_RAG_STORE__PATH)."


def pack(data: bytes) -> bytes:
    """The bytes behind their checksum."""
    return xxh3_64_digest(data) + data


def unpack(packed: bytes) -> memoryview:
    """The bytes that were packed. Raises `StoreDamagedError` if they have changed."""
    data = memoryview(packed)[_CHECKSUM:]
    if xxh3_64_digest(data) != packed[:_CHECKSUM]:
        raise StoreDamagedError("A value in the database is damaged.", hint=DAMAGED)
    return data


def pack_text(text: str | bytes) -> bytes:
    """Compress a text as UTF-8."""
    return pack(zlib.compress(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text, 1))


def unpack_text(packed: bytes) -> bytes:
    """The packed text as UTF-8. Raises as `unpack`."""
    return zlib.decompress(unpack(packed))


def pack_vectors(vectors: Vectors) -> bytes:
    """Vectors, shape (n, d), as float16: half the room, and cosines that differ by less than 1e-4."""
    return pack(vectors.astype("<f2").tobytes())


def unpack_vectors(packed: bytes, dimension: int) -> Vectors:
    """The packed vectors as unit vectors, shape (n, d), float32."""
    vectors = np.frombuffer(unpack(packed), "<f2").reshape(-1, dimension).astype(np.float32)
    vectors /= np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return vectors


def pack_arrays(arrays: Sequence[NDArray[Any]]) -> bytes:
    """Pack arrays of 4-byte numbers: the number of arrays, the length of each, then their numbers."""
    parts = [array.astype(array.dtype.newbyteorder("<"), copy=False).view("<u4") for array in arrays]
    return pack(np.concatenate([np.array([len(arrays), *map(len, arrays)], "<u4"), *parts]).tobytes())


def unpack_arrays(packed: bytes) -> list[NDArray[np.uint32]]:
    """The packed arrays, as unsigned integers. Raises as `unpack`."""
    numbers = np.frombuffer(unpack(packed), "<u4")
    count = int(numbers[0])
    return np.split(numbers[1 + count :], np.cumsum(numbers[1:count]))


def pack_terms(terms: Sequence[SparseVector]) -> bytes:
    """The search terms of chunks."""
    counts = np.array([len(ids) for ids, _ in terms], np.uint32)
    ids = np.array([i for ids, _ in terms for i in ids], np.uint32)
    weights = np.array([w for _, weights in terms for w in weights], np.float32)
    return pack_arrays([counts, ids, weights])


def unpack_terms(packed: bytes) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float32]]:
    """The packed terms: counts by chunk, then ids and weights of all chunks. Raises as `unpack`."""
    counts, ids, weights = unpack_arrays(packed)
    return counts, ids, weights.view("<f4")
