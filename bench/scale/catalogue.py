"""A catalogue of many documents: how long it takes to open it, and to find what changed in a folder of 1,000 files."""

import hashlib
import time
from pathlib import Path
from statistics import median
from typing import Any

from sqlalchemy import ColumnElement, Insert, Text, cast, insert, literal, select

from bench.promises import Figures, Trial
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
_PART = 1_000_000
_INDEXES = ("documents_by_uri", "documents_by_size")


def measure(trial: Trial, database: str | None = None) -> Figures:
    """``trial.count`` rows made by the database, next to those of a folder in which `CHANGED` files changed since.

    ``database`` is the URL of a PostgreSQL database; without it, the database is a SQLite file.
    """
    settings = StoreSettings.model_validate({"database_url": database, "path": trial.folder / "store"})
    folder = trial.folder / "files"
    folder.mkdir(parents=True)
    with open_store(settings, ENCODER) as store:
        unindexed = [index for index in tables.documents.indexes if index.name in _INDEXES]
        with store.database.write() as db:
            for index in unindexed:
                index.drop(db)
        for first in range(1, trial.count + 1, _PART):
            with store.database.write() as db:
                db.execute(_synthetic(first, min(first + _PART - 1, trial.count)))
            trial.tick()
        with store.database.write() as db:
            for index in unindexed:
                index.create(db)
            db.execute(insert(tables.documents), [_stored(folder, number) for number in range(FILES)])
        with store.database.place.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as db:
            db.exec_driver_sql("ANALYZE documents")
    for number in range(CHANGED):
        (folder / f"{number}.md").write_text(f"Changed note {number}.", encoding="utf-8")
    took = [_seconds(settings, folder) for _ in range(TIMES)]
    return {
        "rows": trial.count,
        "open_s": round(median(opened for opened, _, _ in took), 3),
        "changed_s": round(median(found for _, found, _ in took), 3),
        "open_and_changed_s": round(median(opened + found for opened, found, _ in took), 3),
        "wrong": sum(changed != CHANGED for _, _, changed in took),
    }


def _synthetic(first: int, last: int) -> Insert:
    """Rows with numbers from ``first`` to ``last``."""
    numbers = select(literal(first).label("i")).cte("numbers", recursive=True)
    numbers = numbers.union_all(select(numbers.c.i + 1).where(numbers.c.i < last))
    i = cast(numbers.c.i, Text)
    values: dict[str, ColumnElement[Any]] = {
        **{name: literal(value) for name, value in SCOPE.model_dump().items()},
        "doc_id": literal("synthetic-") + i,
        "uri": literal("/synthetic/") + i + literal(".md"),
        "fingerprint": i,
        "chunks": literal(12),
        "trees": literal(1),
        "written": literal("2026-01-01T00:00:00+00:00"),
        "filters": literal(b"-"),
        "manifest": literal(b"-"),
    }
    return insert(tables.documents).from_select([*values], select(*values.values()))


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
        stored = {m.uri: m.content_hash for m in store.under(SCOPE, below(str(folder)))}
        changed = sum(stored.get(file) != _hash(Path(file)) for file in survey(str(folder)).files)
        return opened - start, time.perf_counter() - opened, changed
