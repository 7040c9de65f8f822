"""Uploaded files and the jobs that ingest them: what was accepted is on disk, and survives a restart.

A job is a row of the store's database with a list of files. Tenants take turns, and so do the jobs of each.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from time import time
from typing import BinaryIO
from uuid import uuid4

import structlog
from pydantic import BaseModel

from discorag.ingest.loaders import SUFFIXES
from discorag.ingest.survey import DocumentOutcome, Status
from discorag.models.loops import cancel_scope
from discorag.schema.document import Scope
from discorag.schema.errors import (
    DiscoRagError,
    InputError,
    NotFoundError,
    StoreError,
    StoreFullError,
    UnknownFormatError,
)
from discorag.store.sqlite import make_private_folder
from discorag.store.uploads import Hold, JobRow, JobTable, QueuedFile
from interfaces.http.counters import FAILURES, FILES
from interfaces.http.turns import Turns

RETENTION = timedelta(days=7)
"""How long a job's record is stored after its end."""
OF_A_JOB = 16
"""The most files of one job that all servers together read at once."""
POLL_S = 1.0
"""Seconds after which a server looks for jobs that other servers accepted or cancelled."""
RETRY_S = 5.0
"""Seconds before a file is tried again, if its job's record could not be written or the store had no room."""
_MAX_NAME_BYTES = 200
_PART = ".part"
_HINT = "Check the disk of the uploads."
_log = structlog.get_logger("disco_rag.api")


@dataclass(frozen=True)
class StagedFiles:
    """Files that are on disk under temporary names: final path -> temporary path."""

    parts: dict[Path, Path]

    def publish(self) -> None:
        """Move them to their final paths. Raises `StoreFullError`."""
        try:
            for target, part in self.parts.items():
                if part.exists() or not target.exists():  # else an earlier call did it
                    part.replace(target)
            for folder in {target.parent for target in self.parts}:
                _sync(folder)
        except OSError as error:
            raise StoreFullError(f"Files could not be stored: {error.strerror}.", hint=_HINT) from error

    def discard(self) -> None:
        """Remove those that were not published."""
        for part in self.parts.values():
            with suppress(OSError):
                part.unlink(missing_ok=True)


@dataclass(frozen=True)
class Uploads:
    """The uploaded files below ``folder``."""

    folder: Path

    def path(self, scope: Scope, name: str) -> Path:
        """The path of a file. Raises as `checked_name`."""
        return self._home(scope) / checked_name(name)

    def stage(self, scope: Scope, files: Mapping[str, BinaryIO]) -> StagedFiles:
        """Write files, by name, to disk under temporary names, all or none; stored files of the same names stay.

        Raises:
            StoreFullError: The disk is full or broken; others as `checked_name`.
        """
        targets = [self.path(scope, name) for name in files]
        staged = StagedFiles({target: target.with_name(f".{uuid4().hex}{_PART}") for target in targets})
        try:
            make_private_folder(self.folder)
            self._home(scope).mkdir(parents=True, exist_ok=True)
            for part, content in zip(staged.parts.values(), files.values(), strict=True):
                _write(part, content)
            for folder in (self._home(scope), self.folder / "files", self.folder):
                _sync(folder)
        except OSError as error:
            staged.discard()
            raise StoreFullError(f"Files could not be stored: {error.strerror}.", hint=_HINT) from error
        return staged

    def sweep(self, older_s: float = 0.0) -> None:
        """Remove temporary files of an earlier run of the server that are at least this many seconds old."""
        self.make_spool()
        for part in (*self.folder.glob(f"files/*/.*{_PART}"), *self.spool.iterdir()):
            with suppress(OSError):
                if time() - part.stat().st_mtime >= older_s:
                    shutil.rmtree(part) if part.is_dir() else part.unlink()

    def make_spool(self) -> None:
        """Create the folder of temporary files."""
        make_private_folder(self.folder)
        self.spool.mkdir(exist_ok=True)

    @property
    def spool(self) -> Path:
        """The folder of temporary files: uploads that are being received."""
        return self.folder / "spool"

    def remove_deleted(self, table: JobTable) -> None:
        """Remove the files of deleted documents; what cannot be removed is left for the next call, and logged."""
        try:
            table.finish_removals(lambda scope, name: self.path(scope, name).unlink(missing_ok=True))
        except (OSError, StoreError) as error:
            _log.warning("files of deleted documents are still there", error=str(error))

    def _home(self, scope: Scope) -> Path:
        return self.folder / "files" / scope.folder


def checked_name(name: str) -> str:
    """Return the name if it is a plain file name of a known format.

    Raises:
        InputError: It is empty, hidden or too long, or holds a folder or unprintable characters.
        UnknownFormatError: No loader reads files with its suffix.
    """
    plain = name and name == Path(name).name and not name.startswith(".") and name.isprintable() and "\\" not in name
    if not plain or len(name.encode("utf-8", "surrogatepass")) > _MAX_NAME_BYTES:
        raise InputError(
            f"{name[:100]!r} is not a plain file name.", hint="Send a name without folders, such as a.pdf."
        )
    if Path(name).suffix.lower() not in SUFFIXES:
        raise UnknownFormatError(f"{name[:100]!r}: unknown format.", hint=f"Supported formats: {', '.join(SUFFIXES)}.")
    return name


def _write(path: Path, content: BinaryIO) -> None:
    """Write a file and sync it to disk."""
    with path.open("wb") as file:
        shutil.copyfileobj(content, file)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Sync the names in a folder to disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class JobStatus(StrEnum):
    """The state of a job."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  # done, but not with every file
    CANCELLED = "cancelled"


class JobFile(BaseModel, frozen=True):
    """One file of a job; ``status`` is None until it was read, ``note`` says why it failed.

    ``unread`` counts by kind what the file holds that could not be read.
    """

    name: str
    status: Status | None = None
    chunks: int = 0
    note: str = ""
    unread: dict[str, int] = {}


class Job(BaseModel, frozen=True):
    """An ingest job."""

    id: str
    tenant: str
    corpus: str
    status: JobStatus = JobStatus.WAITING
    files: tuple[JobFile, ...]
    created: datetime
    ended: datetime | None = None

    @property
    def scope(self) -> Scope:
        """The scope of the documents that its files become."""
        return Scope(tenant=self.tenant, corpus=self.corpus)

    @property
    def row(self) -> JobRow:
        """The job as it is stored."""
        ended = self.ended.isoformat() if self.ended else None
        return JobRow(self.id, self.tenant, self.created.isoformat(), ended, self.model_dump_json())

    def with_file(self, index: int, file: JobFile) -> Job:
        """The job after a file was read, which ends it if it was the last."""
        files = (*self.files[:index], file, *self.files[index + 1 :])
        job = self.model_copy(update={"files": files, "status": JobStatus.RUNNING})
        if any(f.status is None for f in files):
            return job
        return job.end(JobStatus.FAILED if any(f.status is Status.FAILED for f in files) else JobStatus.DONE)

    def begin(self) -> Job | None:
        """The job after its first file was taken; None if it has begun or ended before."""
        return self.model_copy(update={"status": JobStatus.RUNNING}) if self.status is JobStatus.WAITING else None

    def end(self, status: JobStatus) -> Job:
        """The job, ended now with this status."""
        return self.model_copy(update={"status": status, "ended": datetime.now(UTC)})


Ingest = Callable[[Scope, str], Awaitable[DocumentOutcome]]
"""Reads an uploaded file into the store, by scope and name."""


class Jobs:
    """The jobs of one server.

    Args:
        table: Where they are stored.
        ingest: Reads one file.
        at_once: Files that are read at once, as the places of `Turns`.

    Raises:
        StoreError: From every method, if the disk is full or broken. Jobs that were acknowledged stay as they were.
    """

    def __init__(self, table: JobTable, ingest: Ingest, at_once: int = 1) -> None:
        self._table = table
        self._ingest = ingest
        self._at_once = at_once
        self._at_work: dict[QueuedFile, asyncio.Task[JobFile | None]] = {}
        self._turns = Turns(at_once)
        self._ending = set[asyncio.Task[None]]()
        self._go = asyncio.Event()

    async def forget_old(self) -> None:
        """Forget what ended long ago."""
        await asyncio.to_thread(self._table.forget, (datetime.now(UTC) - RETENTION).isoformat())

    async def accept(self, scope: Scope, sizes: Mapping[str, int], publish: Callable[[], None]) -> Job:
        """Store and queue a job for uploaded files, by name with their sizes in bytes.

        ``publish`` moves the files to their final paths; if it raises, there is no job.
        """
        files = tuple(JobFile(name=name) for name in sizes)
        created = datetime.now(UTC)
        job = Job(id=uuid4().hex, tenant=scope.tenant, corpus=scope.corpus, files=files, created=created)
        await asyncio.to_thread(self._table.add, job.row, scope, sizes, publish)
        self._go.set()
        return job

    async def get(self, tenant: str, job_id: str) -> Job:
        """Return a job of this tenant. Raises `NotFoundError`."""
        job = await self._load(tenant, job_id)
        if job is None:
            raise NotFoundError(f"There is no job {job_id}.", hint="Finished jobs are forgotten after a week.")
        return job

    async def cancel(self, tenant: str, job_id: str) -> Job:
        """Stop a job: documents that are stored stay, the other files are not read. Raises as `get`."""

        def end(job: Job) -> Job | None:
            return job.end(JobStatus.CANCELLED) if job.ended is None else None

        await self._change(job_id, (await self.get(tenant, job_id)).scope, end)
        self._stop({job_id})
        self._go.set()
        return await self.get(tenant, job_id)

    async def work(self) -> None:
        """Read files until cancelled; those at work then stay in the queue."""
        try:
            while True:
                self._go.clear()
                try:
                    while claimed := await self._next():
                        self._start(*claimed)
                    await self._wait()
                except StoreError as error:
                    _log.warning("the queue cannot be read", error=str(error))
                    await asyncio.sleep(RETRY_S)
        finally:
            self._stop({file.job for file in self._at_work})
            await asyncio.gather(*self._ending)

    async def _wait(self) -> None:
        """Wait until the queue may have changed; a queue that servers share is read every `POLL_S`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(POLL_S if self._table.is_shared else None):
                await self._go.wait()
        if self._table.is_shared and self._at_work:
            self._stop(await asyncio.to_thread(self._table.ended, {file.job for file in self._at_work}))

    def _stop(self, jobs: AbstractSet[str]) -> None:
        """Stop reading files of these jobs."""
        for task in [task for file, task in self._at_work.items() if file.job in jobs]:
            task.cancel()

    async def _next(self) -> tuple[QueuedFile, Hold] | None:
        """Take the next file, if there is a place: of the tenant whose turn it is, of its least advanced job."""
        if len(self._at_work) > self._at_once:
            return None
        waiting = await asyncio.to_thread(self._table.next_files, OF_A_JOB + self._at_once)
        names = {(file.scope, file.name) for file in self._at_work}  # a cancelled one may still be at work
        free = [f for f in waiting if (f.scope, f.name) not in names and self._turns.is_free(f.scope.tenant)]
        for file in sorted(free, key=lambda f: (self._turns.order(f.scope.tenant), f.position, f.number)):
            if hold := await self._claim(file):
                return file, hold
        return None

    async def _claim(self, file: QueuedFile) -> Hold | None:
        """Hold a file, unless another server has it. If this task is cancelled, the hold ends."""
        claim = asyncio.create_task(asyncio.to_thread(self._table.claim, file))
        try:
            return await asyncio.shield(claim)
        except asyncio.CancelledError:
            if hold := await claim:
                hold.end()
            raise

    def _start(self, file: QueuedFile, hold: Hold) -> None:
        """Read a file in one task, which `_stop` cancels, and record it in another, which then frees the place."""
        self._turns.begin(file.scope.tenant)
        self._at_work[file] = asyncio.create_task(self._read(file))
        ending = asyncio.create_task(self._end(file, hold))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    async def _end(self, file: QueuedFile, hold: Hold) -> None:
        try:
            await self._record(file, hold, await self._at_work[file])
        except asyncio.CancelledError:
            pass  # the file stays in the queue
        except StoreError:  # it stays there too: the job's record cannot be read or written, or the store has no room
            await asyncio.sleep(RETRY_S)
        finally:
            with suppress(StoreError):  # then the database has released the row
                await asyncio.to_thread(hold.end)
            del self._at_work[file]
            self._turns.end(file.scope.tenant)
            self._go.set()

    async def _read(self, at: QueuedFile) -> JobFile | None:
        """The file after it was read; None if it need not be read any more."""
        job = await self._load(at.scope.tenant, at.job)
        if job is None or job.ended is not None or job.files[at.position].status is not None:
            return None
        if job.status is JobStatus.WAITING:
            await self._change(job.id, job.scope, Job.begin)
        return await self._outcome(job, job.files[at.position])

    async def _record(self, at: QueuedFile, hold: Hold, file: JobFile | None) -> None:
        """Store in the job what was read, unless it was cancelled meanwhile, and remove the file from the queue."""

        def with_file(job: Job) -> Job | None:
            return job.with_file(at.position, file) if file and job.ended is None else None

        if file:
            await self._change(at.job, at.scope, with_file)
            FILES.labels(file.status).inc()
        await asyncio.to_thread(self._table.done, at, hold)

    async def _outcome(self, job: Job, file: JobFile) -> JobFile:
        """The file after its ingest."""
        try:
            with cancel_scope():
                outcome = await self._ingest(job.scope, file.name)
        except StoreFullError:
            raise
        except DiscoRagError as error:
            FAILURES.labels(error.kind).inc()
            return file.model_copy(update={"status": Status.FAILED, "note": str(error)})
        except Exception as error:  # noqa: BLE001 - whatever it is, the other files are read
            _log.error("failed", job=job.id, exc_info=error)
            FAILURES.labels("InternalError").inc()
            note = "Something went wrong; the server's log has it under the job's id."
            return file.model_copy(update={"status": Status.FAILED, "note": note})
        return file.model_copy(update=outcome.model_dump(include={"status", "chunks", "note", "unread"}))

    async def _change(self, job_id: str, scope: Scope, edit: Callable[[Job], Job | None]) -> None:
        """Change a stored job, unless ``edit`` returns None."""

        def changed(body: str) -> JobRow | None:
            after = edit(Job.model_validate_json(body))
            return after.row if after else None

        await asyncio.to_thread(self._table.change, job_id, scope, changed)

    async def _load(self, tenant: str, job_id: str) -> Job | None:
        found = await asyncio.to_thread(self._table.body, tenant, job_id)
        return Job.model_validate_json(found) if found else None
