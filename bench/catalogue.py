"""What it costs to open a catalogue of many documents, and to find what changed among a thousand files.

Synthetic documents without text; the code is the product's. `owned` is the catalogue of a store in a folder: its
archive (SQLite), filled with rows as the archive writes them. `shared` is the catalogue and the leases that processes
on one Qdrant server use, over Qdrant Edge in this process: the server's engine without its network.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any
from uuid import UUID

import numpy as np
import qdrant_edge as qe
from pydantic import BaseModel, ConfigDict

from discorag.store import payload as points
from discorag.store.catalogue import Catalogue, OwnedCatalogue
from discorag.store.disk.archive import Archive
from discorag.store.disk.points import EdgePoints
from discorag.store.payload import Entry
from discorag.store.protocol import Manifest
from discorag.store.server.leases import Leases
from discorag.store.server.shared import SharedCatalogue, latest
from discorag.store.shard import FENCE, URI, Payload, Point, Where
from discorag.types.document import Document, Scope

FILES, CHANGED = 1_000, 10
OWNED = (100_000, 1_000_000, 10_000_000)
SHARED = (10_000, 100_000, 500_000)
"""Ten million of these, which nothing makes faster than the engine takes them, were not measured."""
DIMENSION = 8
SCOPE = Scope(tenant="company", corpus="papers")
_VERSIONS = {"converter": "text-1", "splitter": "splitter-5/256", "parser": "fast-1", "encoder": "minilm-1"}
_TOGETHER = 500


class Found(BaseModel):
    """One catalogue.

    Args:
        documents: It has.
        open_ms: To open it.
        changed_ms: To read what is stored of `FILES` files by their ids, and what lies under their folder.
        changed_cpu_ms: Processor time of that.
        disk_mb: Of its files.
        fill_s: What making the documents took; not the product's code.
        lease_ms: To take a lease and to give it back, on average; None where there are none.
    """

    model_config = ConfigDict(frozen=True)

    documents: int
    open_ms: float
    changed_ms: float
    changed_cpu_ms: float
    disk_mb: float
    fill_s: float = 0.0
    lease_ms: float | None = None


def uri_of(number: int) -> str:
    """Place of a document: `FILES` to a folder."""
    return f"/data/{number // FILES:05}/{number % FILES:04}.md"


def manifest_of(number: int, *, edited: bool = False) -> Manifest:
    """What is stored of a document, or would be of an edited one."""
    uri = uri_of(number)
    content = f"{number:063x}{'e' if edited else '-'}"
    return Manifest(
        doc_id=SCOPE.id_of(uri),
        uri=uri,
        title=f"Paper {number}",
        content_hash=content,
        text_hash=content,
        fingerprint=content,
        versions=_VERSIONS,
        chunks=20,
    )


def changed(catalogue: Catalogue, folder: int) -> int:
    """How many of a folder's files are not as they are stored, or are stored and gone: what an ingest asks."""
    given = [manifest_of(folder * FILES + i, edited=i < CHANGED) for i in range(FILES)]
    stored = {e.manifest.doc_id: e.manifest.fingerprint for m in given for e in catalogue.entries(SCOPE, [m.doc_id])}
    under = catalogue.under(SCOPE, f"/data/{folder:05}/")
    gone = {e.manifest.doc_id for e in under} - {m.doc_id for m in given}
    return sum(stored.get(m.doc_id) != m.fingerprint for m in given) + len(gone)


def owned(folder: Path, count: int) -> Found:
    """That of a store in a folder."""
    started = perf_counter()
    _fill_archive(folder / Archive.FILE, count)
    took = perf_counter() - started
    return _apart(_asked_owned, folder, count).model_copy(update={"fill_s": round(took, 1)})


def _fill_archive(file: Path, count: int) -> None:
    """Rows as `Archive.put` writes them, but for texts and their checksums, which are not read here.

    They come in the order of the key, and the index after them: in any other it would take hours.
    """
    Archive(file, "bench").close()
    with closing(sqlite3.connect(file, isolation_level=None)) as rows:
        rows.executescript("DROP INDEX uris; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;")
        ids = np.array([UUID(SCOPE.id_of(uri_of(number))).bytes for number in range(count)])
        rows.executemany("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?)", map(_row, np.argsort(ids).tolist()))
        rows.execute("COMMIT")
    Archive(file, "bench").close()


def _row(number: int) -> tuple[object, ...]:
    manifest, checksum = manifest_of(number), f"{number:032x}"
    key = (SCOPE.tenant, SCOPE.corpus, manifest.doc_id)
    return (*key, manifest.model_dump_json(), "{}", checksum, b"", checksum)


def _asked_owned(folder: Path, count: int) -> Found:
    docs, nodes = (EdgePoints(folder / name, DIMENSION, sparse=name == "nodes", lock=-1) for name in ("docs", "nodes"))
    started = perf_counter()
    with closing(Archive(folder / Archive.FILE, "bench")) as archive:
        catalogue = OwnedCatalogue(docs, nodes, archive)
        assert catalogue.finish()
        return _found(catalogue, folder, count, 1000 * (perf_counter() - started))


def _found(catalogue: Catalogue, folder: Path, count: int, open_ms: float, **more: Any) -> Found:
    """What changed in a folder in the middle."""
    started, cpu = perf_counter(), process_time()
    assert changed(catalogue, count // FILES // 2) == CHANGED
    wall, spent = perf_counter() - started, process_time() - cpu
    return Found(
        documents=count,
        open_ms=round(open_ms, 1),
        changed_ms=round(1000 * wall, 1),
        changed_cpu_ms=round(1000 * spent, 1),
        disk_mb=round(sum(f.stat().st_blocks * 512 for f in folder.rglob("*") if f.is_file()) / 1e6, 1),
        **more,
    )


class _Shared(EdgePoints):
    """A shard of Qdrant Edge as a server's collection: changes with conditions, and an index of places."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, DIMENSION, sparse=False, lock=-1)
        if URI not in self._shard.info().payload_schema:
            self._shard.update(qe.UpdateOperation.create_field_index(URI, qe.KeywordIndexParams(prefix=True)))

    def upsert_where(self, points: Sequence[Point], where: Where | None, *, there: bool = False) -> None:
        """See `SharedShard.upsert_where`."""
        mode = qe.UpdateMode.UpdateOnly if there else qe.UpdateMode.Upsert
        made = [qe.Point(p.id, {"dense": p.dense.tolist()} if p.dense.size else {}, dict(p.payload)) for p in points]
        insert = qe.UpdateOperation.upsert_points(
            made, _filter(where) if where else None, mode if where else qe.UpdateMode.InsertOnly
        )
        self._shard.update(insert)

    def set_payload_where(self, payload: Payload, where: Where) -> None:
        """See `SharedShard.set_payload_where`."""
        self._shard.update(qe.UpdateOperation.set_payload_by_filter(_filter(where), dict(payload)))

    def delete(self, where: Where, space: Any = None) -> None:
        """See `Shard.delete`."""
        self._shard.update(qe.UpdateOperation.delete_points_by_filter(_filter(where)))

    def scroll(self, where: Where, fields: Sequence[str], limit: int | None = None) -> list[Payload]:
        """See `Shard.scroll`; in one page."""
        request = qe.ScrollRequest(limit=limit or 2 * FILES, filter=_filter(where), with_payload=list(fields))
        return [record.payload or {} for record in self._shard.scroll(request)[0]]

    def agreed(self, ids: Sequence[str], fields: Sequence[str]) -> dict[str, Payload]:
        """See `SharedShard.agreed`."""
        return self.retrieve(ids, fields)


def _filter(where: Where) -> qe.Filter:
    must: list[Any] = [qe.FieldCondition(field, match=qe.MatchAny(list(values))) for field, values in where.each]
    if where.below:
        must.append(qe.FieldCondition(URI, match=qe.MatchPrefix(where.below)))
    later: list[Any] = (
        [] if where.fence is None else [qe.FieldCondition(FENCE, range=qe.RangeFloat(gt=float(where.fence)))]
    )
    return qe.Filter(must=must, must_not=later)


def shared(folder: Path, count: int) -> Found:
    """That of processes on one server."""
    started = perf_counter()
    with closing(_Shared(folder / "docs")) as docs:
        for start in range(0, count, _TOGETHER):
            docs.upsert(list(_documents(range(start, min(count, start + _TOGETHER)))))
    took = perf_counter() - started
    return _apart(_asked_shared, folder, count).model_copy(update={"fill_s": round(took, 1)})


def _documents(numbers: Sequence[int]) -> Iterator[Point]:
    vectors = np.random.default_rng(numbers[0]).standard_normal((len(numbers), DIMENSION)).astype(np.float32)
    for number, vector in zip(numbers, vectors, strict=True):
        manifest = manifest_of(number)
        document = Document(uri=manifest.uri, title=manifest.title, text="-")
        point = points.document_point(SCOPE, document, Entry(manifest), vector[None])
        yield Point(point.id, point.dense, {**point.payload, FENCE: 1})


def _asked_shared(folder: Path, count: int) -> Found:
    taken = _Shared(folder / "leases")
    started = perf_counter()
    with closing(taken), closing(_Shared(folder / "docs")) as docs:
        open_ms = 1000 * (perf_counter() - started)
        with closing(Leases(taken, partial(latest, docs))) as leases:
            catalogue = SharedCatalogue(docs, docs, leases)  # pyright: ignore[reportArgumentType] - it has no chunks
            asked = perf_counter()
            for number in range(FILES):
                with leases.claim(SCOPE.id_of(uri_of(number))) as ours:
                    assert ours
            each = (perf_counter() - asked) / FILES
            return _found(catalogue, folder, count, open_ms, lease_ms=round(1000 * each, 3))


def measured(home: Path, told: Callable[[object], None]) -> dict[str, Any]:
    """Both kinds of catalogue, each size in a folder of its own that goes before the next one comes."""
    found: dict[str, list[dict[str, Any]]] = {}
    for kind, count in ((owned, OWNED), (shared, SHARED)):
        for documents in count:
            with TemporaryDirectory(dir=home) as folder:
                one = kind(Path(folder), documents)
            told(one)
            found.setdefault(kind.__name__, []).append(one.model_dump(mode="json", exclude_none=True))
    most = found["owned"][-1]
    return {
        "catalogue_ms_at_10m": round(most["open_ms"] + most["changed_ms"], 1),
        "catalogue": {"files": FILES, "changed": CHANGED, "load": round(os.getloadavg()[0], 1), **found},
    }


def _apart(asks: Any, folder: Path, count: int) -> Found:
    """In a fresh process."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(asks, (folder, count))
