"""Uploaded files, the jobs that ingest them, and conversions that failed: rows of the store's database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import delete, func, insert, select, update

from discorag.schema.document import Scope
from discorag.schema.errors import RefusedFileError
from discorag.store import tables
from discorag.store.database import Database, is_in

TRIES = 2
"""How often a file is converted that runs into a limit or ends its process."""

J, U, V = tables.jobs, tables.uploads, tables.conversions


@dataclass(frozen=True)
class JobRow:
    """A job of a tenant; times are ISO 8601 in UTC, ``body`` is all that the server knows of it, as JSON."""

    id: str
    tenant: str
    created: str
    ended: str | None
    body: str


class JobTable:
    """Jobs and uploaded files. All methods block, and raise `StoreError` where the database fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, job: JobRow, scope: Scope, sizes: Mapping[str, int]) -> None:
        """Add a job, and the files that were sent with it with their sizes in bytes."""
        with self._database.write(f"uploads of {job.tenant}") as db:
            db.execute(insert(J), vars(job))
            for name, size in sizes.items():
                db.execute(delete(U).where(is_in(scope, U), U.c.name == name))
                db.execute(insert(U), scope.model_dump() | {"name": name, "size": size})

    def save(self, job: JobRow) -> None:
        """Update a job."""
        with self._database.write(job.id) as db:
            db.execute(update(J).where(J.c.id == job.id).values(ended=job.ended, body=job.body))

    def remove(self, job_id: str) -> None:
        """Forget a job."""
        with self._database.write(job_id) as db:
            db.execute(delete(J).where(J.c.id == job_id))

    def forget(self, before: str) -> None:
        """Forget the jobs that ended before this time."""
        with self._database.write() as db:
            db.execute(delete(J).where(J.c.ended < before))

    def body(self, job_id: str) -> str | None:
        """The JSON of a job; None if there is none."""
        with self._database.read() as db:
            return db.scalar(select(J.c.body).where(J.c.id == job_id))

    def unfinished(self) -> list[str]:
        """The JSON of all jobs that have not ended, in the order in which they were accepted."""
        with self._database.read() as db:
            return list(db.scalars(select(J.c.body).where(J.c.ended.is_(None)).order_by(J.c.created)))

    def under_way(self, tenant: str) -> int:
        """Jobs of a tenant that have not ended."""
        with self._database.read() as db:
            return db.scalar(select(func.count()).where(J.c.tenant == tenant, J.c.ended.is_(None))) or 0

    def upload_usage(self, tenant: str) -> tuple[int, int]:
        """How many uploaded files a tenant has in all corpora, and their bytes."""
        with self._database.read() as db:
            count, size = db.execute(select(func.count(), func.sum(U.c.size)).where(U.c.tenant == tenant)).one()
        return count, size or 0

    def known_uploads(self, scope: Scope) -> set[str]:
        """The names of the uploaded files of a scope."""
        with self._database.read() as db:
            return set(db.scalars(select(U.c.name).where(is_in(scope, U))))

    def remove_upload(self, scope: Scope, name: str) -> None:
        """Forget an uploaded file."""
        with self._database.write(f"uploads of {scope.tenant}") as db:
            db.execute(delete(U).where(is_in(scope, U), U.c.name == name))


class Conversions:
    """How often the conversion of each file failed, by its content."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def check(self, file: str) -> None:
        """Raises `RefusedFileError` for a file that failed too often.

        Args:
            file: Digest of its content and of what will convert it.
        """
        with self._database.read() as db:
            row = db.execute(select(V).where(V.c.file == file)).one_or_none()
        if row and row.failures >= TRIES:
            message = f"Refused after {row.failures} attempts: {row.reason}."
            raise RefusedFileError(message, hint="Ingest it with --refresh to try again.")

    def failed(self, file: str, reason: str) -> None:
        """Count a failure."""
        with self._database.write(file) as db:
            counted = update(V).where(V.c.file == file).values(failures=V.c.failures + 1, reason=reason)
            if not db.execute(counted).rowcount:
                db.execute(insert(V), {"file": file, "failures": 1, "reason": reason})

    def succeeded(self, file: str) -> None:
        """Forget what was counted."""
        with self._database.read() as db:
            known = db.scalar(select(V.c.file).where(V.c.file == file))
        if known:
            with self._database.write(file) as db:
                db.execute(delete(V).where(V.c.file == file))
