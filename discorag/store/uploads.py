"""Uploaded files, and the jobs that ingest them: rows of the store's database."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, and_, delete, exists, func, insert, select, update

from discorag.schema.document import Scope, uri_of_upload
from discorag.store import tables
from discorag.store.database import Database, is_in
from discorag.store.postgres import RowHold
from discorag.store.records import Manifest
from discorag.store.sqlite import FileHold
from discorag.store.tables import pack, unpack

_ENDLESS = 2**31 - 1

Hold = FileHold | RowHold
"""The hold of a server on the file in the queue that it reads."""

D, J, Q, U, R = tables.documents, tables.jobs, tables.queue, tables.uploads, tables.removals


def uploads_of(tenant: str) -> str:
    """The name by which `Database.write` lets changes of a tenant's uploaded files wait for each other."""
    return f"uploads of {tenant}"


def begin_removal(db: Connection, scope: Scope, name: str) -> None:
    """Forget an uploaded file, and note that it is to be removed; not if it waits to be read: then it was sent again.

    Call it in a transaction that changes `uploads_of` the tenant.
    """
    if db.execute(select(Q.c.number).where(is_in(scope, Q), Q.c.name == name)).first() is None:
        db.execute(delete(U).where(is_in(scope, U), U.c.name == name))
        db.execute(delete(R).where(is_in(scope, R), R.c.name == name))
        db.execute(insert(R), scope.model_dump() | {"name": name})


@dataclass(frozen=True)
class JobRow:
    """A job of a tenant; times are ISO 8601 in UTC, ``body`` is all that the server knows of it, as JSON."""

    id: str
    tenant: str
    created: str
    ended: str | None
    body: str


@dataclass(frozen=True)
class QueuedFile:
    """The file of a job that waits at ``position`` in it; ``number`` counts all that were ever queued."""

    number: int
    job: str
    position: int
    scope: Scope
    name: str


@dataclass(frozen=True)
class QueueState:
    """How many files wait, and when the oldest of their jobs was created (ISO 8601); None if nothing waits."""

    files: int
    oldest: str | None


Edit = Callable[[str], JobRow | None]
"""The JSON of a job -> what the job becomes; None: nothing changes."""


class JobTable:
    """The tables of jobs, of the files that a job has still to read, and of all uploaded files. All methods block.

    With PostgreSQL, several servers may share them. Every method raises `StoreError` if the database fails.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.is_shared = database.place.is_shared

    def add(self, job: JobRow, scope: Scope, sizes: Mapping[str, int], publish: Callable[[], None]) -> None:
        """Add a job and the files that were sent with it, with their sizes in bytes, and queue them.

        ``publish`` is called before the transaction is committed; if it raises, nothing was added.
        """
        with self._database.write(uploads_of(job.tenant)) as db:
            db.execute(insert(J), vars(job))
            for name, size in sizes.items():
                for table in (U, R):
                    db.execute(delete(table).where(is_in(scope, table), table.c.name == name))
                db.execute(insert(U), scope.model_dump() | {"name": name, "size": size})
            own = scope.model_dump() | {"job": job.id}
            db.execute(insert(Q), [own | {"position": position, "name": name} for position, name in enumerate(sizes)])
            publish()

    def change(self, job_id: str, scope: Scope, edit: Edit) -> None:
        """Change a job in one transaction; if it has ended, no more of its files are read."""
        with self._database.write(job_id) as db:
            body = db.scalar(select(J.c.body).where(J.c.id == job_id, J.c.tenant == scope.tenant))
            if body is None or (row := edit(body)) is None:
                return
            db.execute(update(J).where(J.c.id == job_id).values(ended=row.ended, body=row.body))
            if row.ended:
                idle = select(Q.c.number).where(Q.c.job == job_id).with_for_update(skip_locked=True)
                db.execute(delete(Q).where(Q.c.number.in_(idle)))

    def next_files(self, most: int) -> list[QueuedFile]:
        """The first files of every job, ``most`` of each, also those that are held.

        A file does not appear while an earlier one of the same name waits or is held, even for a cancelled job.
        """
        job = select(func.min(Q.c.job).label("id")).cte("waiting", recursive=True)  # step by step along the index
        job = job.union_all(
            select(select(func.min(Q.c.job)).where(Q.c.job > job.c.id).scalar_subquery()).where(job.c.id.is_not(None))
        )
        other = Q.alias()
        beyond = select(other.c.number).where(other.c.job == job.c.id).order_by(other.c.number).offset(most).limit(1)
        earlier = exists().where(
            *(other.c[name] == Q.c[name] for name in ("tenant", "corpus", "name")), other.c.number < Q.c.number
        )
        last = func.coalesce(beyond.scalar_subquery(), _ENDLESS)
        query = select(Q).join(job, and_(Q.c.job == job.c.id, Q.c.number < last)).where(~earlier)
        with self._database.read() as db:
            rows = db.execute(query.order_by(Q.c.number)).all()
        return [
            QueuedFile(row.number, row.job, row.position, Scope(tenant=row.tenant, corpus=row.corpus), row.name)
            for row in rows
        ]

    def claim(self, file: QueuedFile) -> Hold | None:
        """Hold a file that is to be read, until `done` or its ``end``; None if another server has it."""
        return self._database.place.hold(select(Q).where(Q.c.number == file.number))

    def done(self, file: QueuedFile, hold: Hold) -> None:
        """Remove a file that was read from the queue."""
        hold.end(delete(Q).where(Q.c.number == file.number))

    def forget(self, before: str) -> None:
        """Forget the jobs that ended before this time."""
        with self._database.write("jobs") as db:
            db.execute(delete(J).where(J.c.ended < before))

    def body(self, tenant: str, job_id: str) -> str | None:
        """The JSON of a job; None if the tenant has none of this id."""
        with self._database.read() as db:
            return db.scalar(select(J.c.body).where(J.c.id == job_id, J.c.tenant == tenant))

    def ended(self, job_ids: Collection[str]) -> set[str]:
        """Which of these jobs have ended."""
        with self._database.read() as db:
            return set(db.scalars(select(J.c.id).where(J.c.id.in_(job_ids), J.c.ended.is_not(None))))

    def queue_state(self) -> QueueState:
        """What waits to be read, of all tenants."""
        with self._database.read() as db:
            return QueueState(*db.execute(select(func.count(), func.min(J.c.created)).select_from(Q.join(J))).one())

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

    def finish_removals(self, remove: Callable[[Scope, str], None]) -> None:
        """Remove the files of deleted documents. If this is interrupted, or ``remove`` raises, call it again."""
        with self._database.read() as db:
            left = [(Scope(tenant=row.tenant, corpus=row.corpus), row.name) for row in db.execute(select(R))]
        for scope, name in left:
            with self._database.write(uploads_of(scope.tenant)) as db:
                if db.execute(delete(R).where(is_in(scope, R), R.c.name == name)).rowcount:  # else it was sent again
                    remove(scope, name)

    def adopt(self) -> int:
        """Give the uploaded documents of an older store, whose uris are paths, the uris of uploads.

        They keep their ids, so that a file that is sent again replaces its document, wherever the folder is now.

        Returns:
            How many there were.
        """
        if self._database.read_only:
            return 0
        query = select(D.c.number, D.c.tenant, D.c.corpus, D.c.uri).where(D.c.uri.like("/%/files/%"))
        with self._database.write("uris of uploads") as db:
            found = [
                (row.number, name)
                for row in db.execute(query)
                if (name := _name_in_folder(row.uri, Scope(tenant=row.tenant, corpus=row.corpus)))
            ]
            for number, name in found:
                _rename(db, number, uri_of_upload(name))
        return len(found)


def _name_in_folder(path: str, scope: Scope) -> str:
    """The name of an uploaded file in the scope's own folder; empty for another path."""
    _, folder, name = path.rpartition(f"/files/{scope.folder}/")
    return name if folder else ""


def _rename(db: Connection, number: int, uri: str) -> None:
    """Give a document another uri."""
    stored = db.execute(select(D.c.manifest).where(D.c.number == number)).scalar_one()
    manifest = Manifest.model_validate_json(bytes(unpack(stored))).model_copy(update={"uri": uri})
    values = {"uri": uri, "manifest": pack(manifest.model_dump_json().encode())}
    db.execute(update(D).where(D.c.number == number).values(values))
