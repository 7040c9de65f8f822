"""Uploaded files and the jobs that ingest them: what was accepted is on disk, and survives a restart.

A job is a row of the store's database and a list of files. Some files are read at once; tenants take turns, and so do
the jobs of each.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path
from time import monotonic
from typing import BinaryIO
from uuid import uuid4

import structlog
from pydantic import BaseModel, ConfigDict

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
from discorag.schema.ledger import Failure
from discorag.schema.values import stable_id
from discorag.store.jobs import JobRow, JobTable
from discorag.store.sqlite import make_private_folder

KEPT = timedelta(days=7)
"""How long the record of a job that has ended is kept."""
AGAIN_S = 5.0
"""How long a job waits whose record cannot be written, in seconds."""
_LONGEST = 200  # bytes of a file's name
_PART = ".part"
_HINT = "Check the disk of the uploads."
_log = structlog.get_logger("disco_rag.api")


@dataclass(frozen=True)
class Staged:
    """Files that are on disk beside their places: ``parts`` has them by place."""

    parts: dict[Path, Path]

    def publish(self) -> None:
        """Put them in their places. Raises `StoreError`."""
        try:
            for target, part in self.parts.items():
                if part.exists() or not target.exists():  # else it was done before
                    part.replace(target)
            for folder in {target.parent for target in self.parts}:
                sync(folder)
        except OSError as error:
            raise StoreError(f"Files could not be kept: {error.strerror}.", hint=_HINT) from error

    def discard(self) -> None:
        """Remove those that were not published."""
        for part in self.parts.values():
            with suppress(OSError):
                part.unlink(missing_ok=True)


@dataclass(frozen=True)
class Uploads:
    """The uploaded files below ``folder``."""

    folder: Path

    def doc_id(self, scope: Scope, name: str) -> str:
        """Id of the document that the file of this name is, or becomes."""
        return stable_id(scope.tenant, scope.corpus, str(self.path(scope, name).resolve()))

    def path(self, scope: Scope, name: str) -> Path:
        """Where the file of this name lies. Raises `InputError` if that is no plain name."""
        return self._home(scope) / checked_name(name)

    def stage(self, scope: Scope, files: Mapping[str, BinaryIO]) -> Staged:
        """Write files, by name, to disk, all or none; not yet in the place of those of the same names.

        Raises:
            InputError: Not a plain name; `UnknownFormatError`: no loader reads it.
            StoreError: The disk is full or broken.
        """
        targets = [self.path(scope, name) for name in files]
        staged = Staged({target: target.with_name(f".{uuid4().hex}{_PART}") for target in targets})
        try:
            make_private_folder(self.folder)
            self._home(scope).mkdir(parents=True, exist_ok=True)
            for part, content in zip(staged.parts.values(), files.values(), strict=True):
                _write(part, content)
            for folder in (self._home(scope), self.folder / "files", self.folder):
                sync(folder)
        except OSError as error:
            staged.discard()
            raise StoreError(f"Files could not be kept: {error.strerror}.", hint=_HINT) from error
        return staged

    def sweep(self) -> None:
        """Remove what an earlier run of the server staged and did not publish, and what libraries left."""
        for part in self.folder.glob(f"files/*/.*{_PART}"):
            part.unlink(missing_ok=True)
        shutil.rmtree(self.spool, ignore_errors=True)
        self.make_spool()

    def make_spool(self) -> None:
        """Make the folder of what is being received."""
        make_private_folder(self.folder)
        self.spool.mkdir(exist_ok=True)

    @property
    def spool(self) -> Path:
        """Folder of what is being received."""
        return self.folder / "spool"

    def remove(self, scope: Scope, uri: str) -> bool:
        """Remove the file at ``uri`` if it is one of this scope's; whether it is."""
        path = Path(uri)
        if path.parent != self._home(scope).resolve():
            return False
        path.unlink(missing_ok=True)
        return True

    def _home(self, scope: Scope) -> Path:
        return self.folder / "files" / scope.folder


def checked_name(name: str) -> str:
    """The name, if it is a plain one of a known format.

    Raises:
        InputError: It is empty, hidden, too long, or holds a folder or what cannot be printed.
        UnknownFormatError: No loader reads files with its suffix.
    """
    plain = name and name == Path(name).name and not name.startswith(".") and name.isprintable() and "\\" not in name
    if not plain or len(name.encode("utf-8", "surrogatepass")) > _LONGEST:
        raise InputError(
            f"{name[:100]!r} is not a plain file name.", hint="Send a name without folders, such as a.pdf."
        )
    if Path(name).suffix.lower() not in SUFFIXES:
        raise UnknownFormatError(f"No loader reads {name[:100]!r}.", hint=f"Known are {', '.join(SUFFIXES)}.")
    return name


def _write(path: Path, content: BinaryIO) -> None:
    """Write a file; when this returns it is on disk."""
    with path.open("wb") as file:
        shutil.copyfileobj(content, file)
        file.flush()
        os.fsync(file.fileno())


def sync(folder: Path) -> None:
    """Returns when the names in a folder are on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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

    def open_files(self) -> list[int]:
        """Indexes of its files that are not settled."""
        return [index for index, file in enumerate(self.files) if file.status is None]

    @property
    def row(self) -> JobRow:
        """The job as it is stored."""
        ended = self.ended.isoformat() if self.ended else None
        return JobRow(self.id, self.tenant, self.created.isoformat(), ended, self.model_dump_json())

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


@dataclass(frozen=True)
class _File:
    """A file of a job that is to be read: the ``index``-th."""

    job: str
    scope: Scope
    index: int
    name: str


class Jobs:
    """The jobs of one server.

    Args:
        table: Where they are stored.
        ingest: Reads one file.
        settled: Called with every file that is settled.
        at_once: Files that are read at once.

    Raises:
        StoreError: By any method: the disk is full or broken. What was acknowledged stays as it was.
    """

    def __init__(self, table: JobTable, ingest: Ingest, settled: Callable[[JobFile], None], at_once: int = 1) -> None:
        self._table = table
        self._ingest = ingest
        self._settled = settled
        self._at_once = at_once
        self._waiting: dict[str, deque[_File]] = {}  # by job
        self._at_work: dict[_File, asyncio.Task[None]] = {}
        self._served: Counter[str] = Counter()  # tenant or job -> when a file of it was taken, counted up
        self._changes = asyncio.Lock()
        self._go = asyncio.Event()
        self._settlings = asyncio.Event()
        self._last = monotonic()

    async def resume(self) -> None:
        """Queue what an earlier run of the server left, and forget what ended long ago."""
        await asyncio.to_thread(self._table.forget, (datetime.now(UTC) - KEPT).isoformat())
        for body in await asyncio.to_thread(self._table.unfinished):
            job = Job.model_validate_json(body)
            self._queue(await self._save(job.model_copy(update={"status": JobStatus.WAITING})))

    async def waiting(self) -> int:
        """Jobs of which no file is at work."""
        return len(self._waiting.keys() - {file.job for file in self._at_work})

    def _queue(self, job: Job) -> None:
        if files := [_File(job.id, job.scope, i, job.files[i].name) for i in job.open_files()]:
            self._waiting[job.id] = deque(files)
        self._go.set()

    async def accept(self, scope: Scope, sizes: Mapping[str, int], publish: Callable[[], None]) -> Job:
        """A new job for files that were uploaded, by name with their bytes; when this returns it is on disk.

        ``publish`` puts the files where the job finds them; if it fails (`StoreError`) there is no job.
        """
        files = tuple(JobFile(name=name) for name in sizes)
        created = datetime.now(UTC)
        job = Job(id=uuid4().hex, tenant=scope.tenant, corpus=scope.corpus, files=files, created=created)
        await asyncio.to_thread(self._table.add, job.row, scope, sizes)
        try:
            await asyncio.to_thread(publish)
        except StoreError:
            await asyncio.to_thread(self._table.remove, job.id)
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
                self._waiting.pop(job_id, None)
                for task in [task for file, task in self._at_work.items() if file.job == job_id]:
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
                while file := self._next():
                    self._at_work[file] = asyncio.create_task(self._attempt(file))
                    self._at_work[file].add_done_callback(partial(self._over, file))
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

    def _next(self) -> _File | None:
        """Take the next file, if there is a place: of the tenant, then of its job, that was served least lately.

        The last place is kept for a tenant of which no file is at work: slow files hold up their own tenant only.
        """
        if len(self._at_work) >= self._at_once:
            return None
        busy = {(file.scope, file.name) for file in self._at_work}  # two runs over one file would replace each other
        taken = Counter(file.scope.tenant for file in self._at_work)
        is_last = len(self._at_work) == self._at_once - 1
        heads = [
            files[0]
            for files in self._waiting.values()
            if (files[0].scope, files[0].name) not in busy and not (is_last and taken[files[0].scope.tenant])
        ]
        if not heads:
            return None
        file = min(heads, key=lambda f: (taken[f.scope.tenant], self._served[f.scope.tenant], self._served[f.job]))
        self._served[file.scope.tenant] = self._served[file.job] = 1 + max(self._served.values(), default=0)
        self._waiting[file.job].popleft()
        if not self._waiting[file.job]:
            del self._waiting[file.job], self._served[file.job]
        return file

    async def _attempt(self, file: _File) -> None:
        try:
            await self._settle(file)
        except StoreError:  # its record cannot be read or written now, or the store has no room
            await asyncio.sleep(AGAIN_S)
            self._waiting.setdefault(file.job, deque()).append(file)

    def _over(self, file: _File, _: asyncio.Task[None]) -> None:
        """Also of a task that was cancelled before its first step."""
        del self._at_work[file]
        self._last = monotonic()
        self._settlings.set()
        self._go.set()

    async def _settle(self, at: _File) -> None:
        """Settle one file of a job, which may end it."""
        async with self._changes:
            job = await self._load(at.job)
            if job is None or job.ended is not None:
                return
            if job.status is JobStatus.WAITING:
                job = await self._save(job.model_copy(update={"status": JobStatus.RUNNING}))
        file = await self._read(job, job.files[at.index])
        async with self._changes:
            if (job := await self._load(at.job)) is None or job.ended is not None:  # cancelled meanwhile
                return
            await self._save(job.settled(at.index, file))
        self._settled(file)

    async def _read(self, job: Job, file: JobFile) -> JobFile:
        try:
            with cancel_scope():
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
        await asyncio.to_thread(self._table.save, job.row)
        return job

    async def _load(self, job_id: str) -> Job | None:
        found = await asyncio.to_thread(self._table.body, job_id)
        return Job.model_validate_json(found) if found else None
