"""Values as bytes in the database. Each is compared with its checksum when it is read."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_digest

from discorag.schema.errors import StoreDamagedError
from discorag.schema.vectors import Vectors
from discorag.text.terms import SparseVector

_CHECKSUM = 8  # bytes
DAMAGED = "Restore a backup (disco-rag restore), or ingest again into a new place (DISCO_RAG_STORE__PATH)."


def pack(data: bytes) -> bytes:
    """The bytes behind their checksum."""
    return xxh3_64_digest(data) + data


def unpack(packed: bytes) -> memoryview:
    """What `pack` was given. Raises `StoreDamagedError` if it has changed."""
    data = memoryview(packed)[_CHECKSUM:]
    if xxh3_64_digest(data) != packed[:_CHECKSUM]:
        raise StoreDamagedError("A value in the database is not as it was written.", hint=DAMAGED)
    return data


def pack_text(text: str) -> bytes:
    """Text, compressed."""
    return pack(zlib.compress(text.encode("utf-8", "surrogatepass"), 1))


def unpack_text(packed: bytes) -> bytes:
    """The UTF-8 of what `pack_text` was given. Raises as `unpack`."""
    return zlib.decompress(unpack(packed))


def pack_vectors(vectors: Vectors) -> bytes:
    """Vectors, shape (n, d), as float16: half the room, and cosines that differ by less than 1e-4."""
    return pack(vectors.astype("<f2").tobytes())


def unpack_vectors(packed: bytes, dimension: int) -> Vectors:
    """Unit vectors, shape (n, d), as near to those that `pack_vectors` was given as float16 can be."""
    vectors = np.frombuffer(unpack(packed), "<f2").reshape(-1, dimension).astype(np.float32)
    vectors /= np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return vectors


def pack_places(places: Sequence[tuple[str, int, int]]) -> bytes:
    """Ids of chunks, each with the characters where it starts and ends."""
    return pack_text(json.dumps(places))


def unpack_places(packed: bytes) -> list[tuple[str, int, int]]:
    """What `pack_places` was given. Raises as `unpack`."""
    return json.loads(unpack_text(packed))


def pack_terms(terms: Sequence[SparseVector]) -> bytes:
    """The search terms of chunks: how many each has, then all ids, then all weights."""
    counts = np.array([len(ids) for ids, _ in terms], "<u4")
    ids = np.array([i for ids, _ in terms for i in ids], "<u4")
    weights = np.array([w for _, weights in terms for w in weights], "<f4")
    return pack(np.array([len(counts)], "<u4").tobytes() + counts.tobytes() + ids.tobytes() + weights.tobytes())


def unpack_terms(packed: bytes) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float32]]:
    """What `pack_terms` was given: counts, ids, weights. Raises as `unpack`."""
    numbers = np.frombuffer(unpack(packed), "<u4")
    counts = numbers[1 : 1 + int(numbers[0])]
    ids, weights = np.split(numbers[1 + len(counts) :], 2)
    return counts, ids, weights.view("<f4")
