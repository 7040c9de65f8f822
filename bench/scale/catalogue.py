"""A catalogue of many documents: how long it takes to open it, and to find what changed in a folder of 1,000 files."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from sqlalchemy import insert, select, text

from bench.trust.trial import Figures, Trial
from discorag.config import StoreSettings
from discorag.ingest.survey import below, survey
from discorag.schema.document import Scope
from discorag.store import tables
from discorag.store.records import Manifest
from discorag.store.store import open_store
from discorag.store.tables import pack

FILES, CHANGED, TIMES = 1_000, 10, 5
ENCODER = ("synthetic", 8)
SCOPE = Scope(tenant="bench", corpus="catalogue")
_INDEXES = ("documents_by_uri", "documents_by_size")
_ROWS = """
INSERT INTO documents (doc_id, tenant, corpus, uri, fingerprint, chunks, trees, written, filters, manifest)
SELECT md5(i::text)::uuid::text, 'bench', 'catalogue', '/synthetic/' || i / 1000 || '/' || i || '.md', md5(i::text),
    12, 1, '2026-01-01T00:00:00+00:00', '\\x00', '\\x00'
FROM generate_series({first}, {last}) AS i"""
_PART = 1_000_000
_UNIQUE = "documents_doc_id_key"


def run(trial: Trial, new_database: Callable[[], str]) -> Figures:
    """``trial.count`` rows made by the server, next to those of a folder in which `CHANGED` files changed since."""
    folder = trial.folder / "files"
    folder.mkdir(parents=True)
    settings = StoreSettings.model_validate({"database_url": new_database(), "path": trial.folder / "store"})
    with open_store(settings, ENCODER) as store:
        unindexed = [index for index in tables.documents.indexes if index.name in _INDEXES]
        with store.database.write() as db:
            db.exec_driver_sql(f"ALTER TABLE documents DROP CONSTRAINT {_UNIQUE}")
            for index in unindexed:
                index.drop(db)
        for first in range(0, trial.count, _PART):
            with store.database.write() as db:
                db.exec_driver_sql("SET LOCAL synchronous_commit = off")
                last = min(first + _PART, trial.count) - 1
                db.execute(text(_ROWS.format(first=first, last=last)))
            trial.tick()
        with store.database.write() as db:
            db.exec_driver_sql(f"ALTER TABLE documents ADD CONSTRAINT {_UNIQUE} UNIQUE (doc_id)")
            for index in unindexed:
                index.create(db)
            db.execute(insert(tables.documents), [_stored(folder, number) for number in range(FILES)])
        with store.database.place.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as db:
            db.exec_driver_sql("VACUUM ANALYZE documents")
            size = db.scalar(select(text("pg_total_relation_size('documents')"))) or 0
    for number in range(CHANGED):
        (folder / f"{number}.md").write_text(f"Changed note {number}.", encoding="utf-8")
    took = [_seconds(settings, folder) for _ in range(TIMES)]
    return {
        "rows": trial.count,
        "gigabytes": round(size / 1e9, 1),
        "open_s": round(median(opened for opened, _, _ in took), 3),
        "changed_s": round(median(found for _, found, _ in took), 3),
        "open_and_changed_s": round(median(opened + found for opened, found, _ in took), 3),
        "wrong": sum(changed != CHANGED for _, _, changed in took),
    }


def _stored(folder: Path, number: int) -> dict[str, Any]:
    """The row of a file as it is now."""
    file = folder / f"{number}.md"
    file.write_text(f"Note {number}.", encoding="utf-8")
    uri, content = file.resolve().as_posix(), _hash(file)
    own = {"doc_id": SCOPE.id_of(uri), "uri": uri, "fingerprint": content, "chunks": 1}
    manifest = Manifest.model_validate(own | {"title": file.name, "content_hash": content, "versions": {}})
    unread = {"trees": 0, "written": "", "filters": b""}
    return SCOPE.model_dump() | own | unread | {"manifest": pack(manifest.model_dump_json().encode())}


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _seconds(settings: StoreSettings, folder: Path) -> tuple[float, float, int]:
    """Seconds to open the store, and to find what changed in the folder; how many files did."""
    start = time.perf_counter()
    with open_store(settings, ENCODER) as store:
        opened = time.perf_counter()
        stored = {m.uri: m.content_hash for m in store.under(SCOPE, below(folder))}
        files = [source.path for source in survey(folder).sources]
        changed = sum(stored.get(file.resolve().as_posix()) != _hash(file) for file in files)
        return opened - start, time.perf_counter() - opened, changed
