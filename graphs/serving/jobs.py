"""Ingest jobs: what was accepted is on disk, is worked off in turn, and survives a restart.

A job is a record in a SQLite-backed `diskcache.Cache` and a list of uploaded files. Some files are read at once, in the
order of `graphs.serving.turns`, so that neither a long job nor a slow file holds up the others.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TypeVar
from uuid import uuid4

import structlog
from diskcache import Cache, Timeout
from pydantic import BaseModel, ConfigDict

from discorag.ingest.survey import DocumentOutcome, Status
from discorag.models.cache import PlainDisk
from discorag.models.wanted import while_wanted
from discorag.types.document import Scope
from discorag.types.errors import DiscoRagError, NotFoundError, StoreError, StoreFullError
from discorag.types.ledger import Failure
from graphs.serving.turns import Turn, Turns

T = TypeVar("T")

_log = structlog.get_logger("disco_rag.api")
KEPT_S = 7 * 86_400
"""How long the record of a job that is done is kept, in seconds."""
AGAIN_S = 5.0
"""How long a job waits whose record cannot be written, in seconds."""
_SYNC_FULL = 2  # SQLite's synchronous=FULL: what was committed survives a power failure


class JobStatus(StrEnum):
    """Where a job is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  # done, but not with every file
    CANCELLED = "cancelled"


class JobFile(BaseModel):
    """One file of a job; ``status`` is None until it is settled, ``note`` says why a file failed.

    ``again``: somebody asked for it once more, so that it is tried even if it was refused for what it did before.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    status: Status | None = None
    chunks: int = 0
    note: str = ""
    failures: tuple[Failure, ...] = ()
    again: bool = False


class Job(BaseModel):
    """An ingest job."""

    model_config = ConfigDict(frozen=True)

    id: str
    tenant: str
    corpus: str
    status: JobStatus = JobStatus.WAITING
    files: tuple[JobFile, ...]
    created: datetime
    ended: datetime | None = None

    @property
    def scope(self) -> Scope:
        """Whose documents these become."""
        return Scope(tenant=self.tenant, corpus=self.corpus)

    def turns(self) -> list[Turn]:
        """Its files that are not settled."""
        return [Turn(self.id, self.scope, i, f.name) for i, f in enumerate(self.files) if f.status is None]

    def settled(self, index: int, file: JobFile) -> Job:
        """The job with this file settled, which ends it if it is the last."""
        files = (*self.files[:index], file, *self.files[index + 1 :])
        job = self.model_copy(update={"files": files, "status": JobStatus.RUNNING})
        if any(f.status is None for f in files):
            return job
        return job.closed(JobStatus.FAILED if any(f.status is Status.FAILED for f in files) else JobStatus.DONE)

    def closed(self, status: JobStatus) -> Job:
        """The job at its end."""
        return self.model_copy(update={"status": status, "ended": datetime.now(UTC)})


Ingest = Callable[[Scope, str, bool], Awaitable[tuple[DocumentOutcome, tuple[Failure, ...]]]]
"""Reads one uploaded file into the store of its scope: (scope, name, whether it was asked for again) -> its fate."""


class Jobs:
    """The jobs of one server.

    Args:
        folder: Where the records are.
        ingest: Reads one file.
        settled: Told of every file that is settled.
        at_once: Files that are read at once.

    Raises:
        StoreError: On opening, and by any method: the disk is full or broken. What was acknowledged stays as it was.
    """

    def __init__(self, folder: Path, ingest: Ingest, settled: Callable[[JobFile], None], at_once: int = 1) -> None:
        with _store_errors():
            self._records = Cache(str(folder), disk=PlainDisk, eviction_policy="none", sqlite_synchronous=_SYNC_FULL)
        self._ingest = ingest
        self._settled = settled
        self._turns = Turns(at_once)
        self._at_work: dict[Turn, asyncio.Task[None]] = {}
        self._changes = asyncio.Lock()
        self._go = asyncio.Event()
        self._settlings = asyncio.Event()
        self._last = monotonic()

    async def resume(self) -> None:
        """Queue what an earlier run of the server left."""
        for job in sorted(await self._all(), key=lambda j: j.created):
            if job.ended is None:
                self._queue(await self._save(job.model_copy(update={"status": JobStatus.WAITING})))

    async def waiting(self) -> int:
        """Jobs of which no file is at work."""
        return len(self._turns.jobs() - {turn.job for turn in self._at_work})

    def under_way(self, tenant: str) -> int:
        """Jobs of a tenant that have not ended."""
        return len(self._turns.jobs(tenant) | {t.job for t in self._at_work if t.scope.tenant == tenant})

    def _queue(self, job: Job) -> None:
        self._turns.add(job.turns())
        self._go.set()

    async def accept(
        self, scope: Scope, names: Sequence[str], publish: Callable[[], None], job_id: str | None = None
    ) -> Job:
        """A new job for files that were uploaded; when this returns it is on disk.

        ``publish`` puts the files where the job finds them; if it fails (`StoreError`) there is no job. With the same
        ``job_id`` it may be called again by one who does not know whether it came to an end.
        """
        files = tuple(JobFile(name=name) for name in names)
        created = datetime.now(UTC)
        job = Job(id=job_id or uuid4().hex, tenant=scope.tenant, corpus=scope.corpus, files=files, created=created)
        await self._save(job)
        try:
            await asyncio.to_thread(publish)
        except StoreError:
            await _on_disk(lambda: self._records.delete(job.id))
            raise
        self._queue(job)
        return job

    async def of(self, tenant: str, job_id: str) -> Job:
        """A job of this tenant. Raises `NotFoundError`."""
        job = await self._load(job_id)
        if job is None or job.tenant != tenant:
            raise NotFoundError(f"There is no job {job_id}.", hint="Finished jobs are forgotten after a week.")
        return job

    async def cancel(self, tenant: str, job_id: str) -> Job:
        """Stop a job: files that are stored stay, those at work and later ones are not read. Raises as `of`."""
        async with self._changes:
            job = await self.of(tenant, job_id)
            if job.ended is None:
                job = await self._save(job.closed(JobStatus.CANCELLED))
                self._turns.drop(tenant, job_id)
                for task in [task for turn, task in self._at_work.items() if turn.job == job_id]:
                    task.cancel()
        return job

    async def retry(self, tenant: str, job_id: str) -> Job:
        """Queue the files that failed, or were not read, once more. Raises as `of`."""
        async with self._changes:
            job = await self.of(tenant, job_id)
            wanted = (None, Status.FAILED)
            files = tuple(JobFile(name=f.name, again=True) if f.status in wanted else f for f in job.files)
            if job.ended is not None and any(f.status is None for f in files):
                update = {"files": files, "status": JobStatus.WAITING, "ended": None}
                job = await self._save(job.model_copy(update=update))
                self._queue(job)
        return job

    async def work(self) -> None:
        """Work off jobs until cancelled; files that are at work then are read again after the next `resume`."""
        try:
            while True:
                self._go.clear()
                while turn := self._turns.next(self._at_work):
                    self._at_work[turn] = asyncio.create_task(self._attempt(turn))
                    self._at_work[turn].add_done_callback(partial(self._over, turn))
                await self._go.wait()
        finally:
            for task in (left := [*self._at_work.values()]):
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def quiet(self, seconds: float, at_most: float) -> None:
        """Wait until files were read, and then until none has been at work for so long, or for ``at_most`` seconds."""
        await self._settlings.wait()
        self._settlings.clear()
        until = monotonic() + at_most
        while monotonic() < until and (self._at_work or monotonic() - self._last < seconds):
            await asyncio.sleep(seconds / 4)

    async def _attempt(self, turn: Turn) -> None:
        try:
            await self._turn(turn)
        except StoreError:  # its record cannot be read or written now, or the store has no room
            await asyncio.sleep(AGAIN_S)
            self._turns.add([turn])

    def _over(self, turn: Turn, _: asyncio.Task[None]) -> None:
        """Also of a task that was cancelled before its first step."""
        del self._at_work[turn]
        self._last = monotonic()
        self._settlings.set()
        self._go.set()

    async def _turn(self, turn: Turn) -> None:
        """Settle one file of a job, which may end it."""
        async with self._changes:
            job = await self._load(turn.job)
            if job is None or job.ended is not None:
                return
            if job.status is JobStatus.WAITING:
                job = await self._save(job.model_copy(update={"status": JobStatus.RUNNING}))
        file = await self._read(job, job.files[turn.index])
        async with self._changes:
            if (job := await self._load(turn.job)) is None or job.ended is not None:  # cancelled meanwhile
                return
            await self._save(job.settled(turn.index, file))
        self._settled(file)

    async def _read(self, job: Job, file: JobFile) -> JobFile:
        try:
            with while_wanted():
                outcome, failures = await self._ingest(job.scope, file.name, file.again)
        except StoreFullError:
            raise
        except DiscoRagError as error:
            failed = Failure.of("ingest", error)
            return file.model_copy(update={"status": Status.FAILED, "note": str(error), "failures": (failed,)})
        except Exception as error:  # noqa: BLE001 - whatever it is, the other files are read
            _log.error("failed", job=job.id, exc_info=error)
            note = "Something went wrong; the server's log has it under the job's id."
            return file.model_copy(update={"status": Status.FAILED, "note": note})
        update = {"status": outcome.status, "chunks": outcome.chunks, "note": outcome.note, "failures": failures}
        return file.model_copy(update=update)

    async def _save(self, job: Job) -> Job:
        kept = None if job.ended is None else KEPT_S
        await _on_disk(lambda: self._records.set(job.id, job.model_dump_json(), expire=kept))
        return job

    async def _load(self, job_id: str) -> Job | None:
        found = await _on_disk(lambda: self._records.get(job_id))
        return Job.model_validate_json(str(found)) if found else None

    async def _all(self) -> list[Job]:
        ids = await _on_disk(lambda: list(self._records.iterkeys()))
        return [job for job_id in ids if (job := await self._load(str(job_id)))]

    def close(self) -> None:
        """Close the records."""
        self._records.close()


async def _on_disk(call: Callable[[], T]) -> T:
    with _store_errors():
        return await asyncio.to_thread(call)


@contextmanager
def _store_errors() -> Generator[None]:
    """Raises `StoreError` where the disk fails."""
    try:
        yield
    except (OSError, sqlite3.Error, Timeout) as error:
        raise StoreError(f"Jobs cannot be written or read: {error}.", hint="Check the disk of the uploads.") from error
